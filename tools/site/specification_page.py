"""Write docs/reference/specification.md: openapi.yaml as a page, to which the operations of the reference link.

Run as `python -m tools.site.specification_page`; `make docs` does it before it builds. The page is not committed.
"""

from collections.abc import Iterable, Iterator, Sequence

from tools.generation.document import PROJECT, SPECIFICATION, Node, load_document, operations, resolve, without_source

PAGE = PROJECT / "docs" / "reference" / "specification.md"
HEAD = """# Specification

Look up each operation of the service with its parameters, its body and its responses, and each schema. This page
renders `openapi.yaml`, from which the client is generated.
"""


def page(document: Node) -> str:
    """Return the page of a specification."""
    lines = [HEAD]
    for path, method, operation, parameters in operations(document):
        lines += _operation(document, f"{method.upper()} {path}", operation, parameters)
    lines += ["## Schemas", ""]
    for name, schema in document["components"]["schemas"].items():
        lines += _schema(name, schema)
    return "\n".join(lines)


def _operation(document: Node, request: str, operation: Node, parameters: Iterable[Node]) -> Iterator[str]:
    yield f"## {operation['summary']} {{ #{operation['operationId']} }}"
    yield f"\n`{request}`\n"
    group = operation["tags"][0]
    yield f"In the client: [platform.{group}]({group}.md)\n"
    yield f"{without_source(operation.get('description', '')).strip()}\n"
    rows = [_row(each["name"], each["schema"], each.get("required"), each) for each in parameters]
    yield from _table("Parameter | Type | Required | Description", rows)
    if "requestBody" in operation:
        body = resolve(document, operation["requestBody"])
        yield f"**Body:** {_body_type(body)}. {_one_line(body.get('description', ''))}\n"
    responses = [(status, resolve(document, response)) for status, response in operation["responses"].items()]
    rows = [[status, _body_type(response), response.get("description", "")] for status, response in responses]
    yield from _table("Status | Body | Description", rows)


def _schema(name: str, schema: Node) -> Iterator[str]:
    yield f"### {name} {{ #schema-{name} }}\n"
    yield f"{without_source(schema.get('description', '')).strip()}\n"
    if "properties" not in schema:
        values = ", ".join(f"`{value}`" for value in schema.get("enum", ()))
        yield f"Type: {values or _type_name(schema)}\n"
    required, properties = schema.get("required", ()), schema.get("properties", {}).items()
    rows = [_row(name, inner, name in required, inner) for name, inner in properties]
    yield from _table("Property | Type | Required | Description", rows)


def _row(name: str, schema: Node, required: object, described: Node) -> list[str]:
    return [f"`{name}`", _type_name(schema), "yes" if required else "no", described.get("description", "")]


def _table(head: str, rows: Iterable[Sequence[str]]) -> Iterator[str]:
    """Yield the lines of a table with a description in the last column; no lines without rows."""
    lines = [f"| {' | '.join(cells)} | {_one_line(description)} |" for *cells, description in rows]
    if lines:
        yield from [f"| {head} |", "|---" * (head.count("|") + 1) + "|", *lines, ""]


def _body_type(body: Node) -> str:
    kinds = {_type_name(media.get("schema", {})) for media in body.get("content", {}).values()}
    return " or ".join(sorted(kinds)) or "none"


def _type_name(schema: Node) -> str:
    if "$ref" in schema:
        name = schema["$ref"].rpartition("/")[2]
        return f"[{name}](#schema-{name})"
    for union in ("oneOf", "anyOf"):
        if union in schema:
            return " or ".join(_type_name(part) for part in schema[union])
    if "const" in schema:
        return f"`{schema['const']}`"
    kind = schema.get("type", "any")
    if kind == "array":
        return f"list of {_type_name(schema.get('items', {}))}"
    return " or ".join(kind) if isinstance(kind, list) else str(kind)


def _one_line(text: str) -> str:
    return " ".join(without_source(text).split()).replace("|", "\\|")


def main() -> None:
    """Write the page."""
    PAGE.write_text(page(load_document(str(SPECIFICATION))), encoding="utf-8")


if __name__ == "__main__":
    main()
