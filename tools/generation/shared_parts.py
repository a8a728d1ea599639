"""The parts of a response that the wrapper reads for every operation, by strings that no type checker follows.

These are the error body, the headers of a rate limit, and the links of a page.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from tools.generation.document import operations, resolve

WRAPPER = Path(__file__).resolve().parents[2] / "wrapper" / "itwin_platform"

Node = Mapping[str, Any]
#: The properties of an error and of its details, all of them strings.
ERROR = ("code", "message", "target")


def missing_parts(document: Node) -> list[str]:
    """Return a line for each part that a document no longer has, with where the wrapper reads it."""
    missing: dict[tuple[str, str], list[str]] = defaultdict(list)
    source = "".join(path.read_text(encoding="utf-8") for path in WRAPPER.rglob("*.py"))
    for path, method, operation, _ in operations(document):
        is_listed = f"{operation.get('operationId')}.QUERY_PARAMETERS" in source
        for status, listed in operation["responses"].items():
            for text, part in _missing(document, str(status), resolve(document, listed), is_listed=is_listed):
                missing[text, part].append(f"response {status} of {method.upper()} {path}")
    return [
        f"{_reader(text)}: there is no {part}, which the wrapper reads here, in {places[0]}"
        + (f" and {len(places) - 1} more" if places[1:] else "")
        for (text, part), places in missing.items()
    ]


def _missing(document: Node, status: str, response: Node, *, is_listed: bool) -> Iterator[tuple[str, str]]:
    """Yield the words by which the wrapper reads a part, and the part."""
    succeeded = status.startswith("2")
    for schema in (media["schema"] for media in response.get("content", {}).values() if "schema" in media):
        for part in _links(document, schema, is_listed=is_listed) if succeeded else _error(document, schema):
            yield "def next_query" if succeeded else '"error"', part
    if status == "429" and "retry-after" not in {name.lower() for name in response.get("headers", {})}:
        yield '"retry-after"', "header retry-after"


def _error(document: Node, schema: Node) -> Iterator[str]:
    error = _property(document, schema, "error")
    detail = resolve(document, _property(document, error, "details").get("items", {}))
    for place, holder in (("error", error), ("error.details[]", detail)):
        for name in ERROR:
            if not _is_string(_property(document, holder, name)):
                yield f"string {place}.{name}"


def _links(document: Node, schema: Node, *, is_listed: bool) -> Iterator[str]:
    links = _property(document, schema, "_links")
    if (links or is_listed) and not _is_string(_property(document, _property(document, links, "next"), "href")):
        yield "string _links.next.href"


def _property(document: Node, schema: Node, name: str) -> Node:
    """Return a property of a schema; of one that may be null, that of the other branch."""
    plain = resolve(document, schema)
    choices = [plain, *(resolve(document, branch) for branch in (*plain.get("oneOf", ()), *plain.get("anyOf", ())))]
    found = [choice["properties"][name] for choice in choices if name in choice.get("properties", {})]
    return resolve(document, found[0]) if found else {}


def _is_string(schema: Node) -> bool:
    kinds = schema.get("type")
    return "string" in (kinds if isinstance(kinds, list) else [kinds])


def _reader(text: str) -> str:
    """Return file and line of the first place of the wrapper with a string."""
    for path in sorted(WRAPPER.rglob("*.py")):
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
            if text in line:
                return f"wrapper/itwin_platform/{path.relative_to(WRAPPER).as_posix()}:{number}"
    return "wrapper/itwin_platform"
