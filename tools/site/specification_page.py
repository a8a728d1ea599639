"""Write docs/reference/specification.md: openapi.yaml as a page, to which the operations of the reference link.

Run as `python -m tools.site.specification_page`; `make docs` does it before it builds. The page is not committed.
"""

from collections.abc import Iterator
from pathlib import Path

import yaml

from tools.generation.document import Node, resolve, without_source

PROJECT = Path(__file__).resolve().parents[2]
PAGE = PROJECT / "docs" / "reference" / "specification.md"
HEAD = """# Specification

Look up each operation of the service with its parameters, its body and its responses, and each schema. This page
renders `openapi.yaml`, from which the client is generated.
"""


def page(document: Node) -> str:
    """Return the page of a specification."""
    lines = [HEAD]
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            lines += _operation(document, path, method, operation)
    lines += ["## Schemas", ""]
    for name, schema in document["components"]["schemas"].items():
        lines += _schema(document, name, schema)
    return "\n".join(lines)


def _operation(document: Node, path: str, method: str, operation: Node) -> Iterator[str]:
    yield f"## {operation['summary']} {{ #{operation['operationId']} }}"
    yield f"\n`{method.upper()} {path}`\n"
    group = operation["tags"][0]
    yield f"In the client: [platform.{group}]({group}.md)\n"
    yield f"{without_source(operation.get('description', '')).strip()}\n"
    rows = [_parameter(resolve(document, parameter)) for parameter in operation.get("parameters", ())]
    if rows:
        yield from ["| Parameter | In | Type | Required | Description |", "|---|---|---|---|---|", *rows, ""]
    if "requestBody" in operation:
        body = resolve(document, operation["requestBody"])
        yield f"**Body:** {_body_type(body)}. {_one_line(body.get('description', ''))}\n"
    yield from ["| Status | Body | Description |", "|---|---|---|"]
    for status, response in operation["responses"].items():
        found = resolve(document, response)
        yield f"| {status} | {_body_type(found)} | {_one_line(found.get('description', ''))} |"
    yield ""


def _parameter(parameter: Node) -> str:
    required = "yes" if parameter.get("required") else "no"
    kind = _type_name(parameter.get("schema", {}))
    words = _one_line(parameter.get("description", ""))
    return f"| `{parameter['name']}` | {parameter['in']} | {kind} | {required} | {words} |"


def _schema(document: Node, name: str, schema: Node) -> Iterator[str]:
    yield f"### {name} {{ #schema-{name} }}\n"
    yield f"{without_source(schema.get('description', '')).strip()}\n"
    if "enum" in schema:
        yield ", ".join(f"`{value}`" for value in schema["enum"]) + "\n"
    elif "properties" not in schema:
        yield f"Type: {_type_name(schema)}\n"
    rows = [
        f"| `{field}` | {_type_name(kind)} | {'yes' if field in schema.get('required', ()) else 'no'} "
        f"| {_one_line(resolve(document, kind).get('description', '') if '$ref' not in kind else '')} |"
        for field, kind in schema.get("properties", {}).items()
    ]
    if rows:
        yield from ["| Property | Type | Required | Description |", "|---|---|---|---|", *rows, ""]


def _body_type(body: Node) -> str:
    kinds = {_type_name(media.get("schema", {})) for media in body.get("content", {}).values()}
    return " or ".join(sorted(kinds)) or "none"


def _type_name(schema: Node) -> str:
    if "$ref" in schema:
        name = schema["$ref"].rpartition("/")[2]
        return f"[{name}](#schema-{name})"
    for union in ("oneOf", "anyOf", "allOf"):
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
    document = yaml.safe_load((PROJECT / "openapi.yaml").read_text(encoding="utf-8"))
    PAGE.write_text(page(document), encoding="utf-8")


if __name__ == "__main__":
    main()
