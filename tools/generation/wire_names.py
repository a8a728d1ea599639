"""Finds what the wrapper and the sandbox read by strings and a document does not have.

The wrapper passes most names to generated functions, where mypy finds one that is gone. A few are strings: the
parameters that a page changes, the properties that a listing selects, a header, a code. So are the parts of a response
that the wrapper reads for every operation: the error body, the headers of a rate limit, and the links of a page.
"""

import ast
import re
from collections import defaultdict
from collections.abc import Iterator
from difflib import get_close_matches

from tools.generation.document import PROJECT, WRAPPER, Node, alternatives, nodes, operations, resolve

#: The folders with such strings, and the modules with names that the document does not describe.
FOLDERS = (
    *(WRAPPER / name for name in ("_operations", "_listings", "_requests")),
    PROJECT / "sandbox" / "itwin_platform_sandbox" / "_service",
)
UNDESCRIBED = ("deliveries.py", "document.py", "schema_checks.py")
#: Names in the data that the sandbox makes up.
MADE_UP = ("X-Key", "apiVersion", "iModelVisibility")
#: Strings that can only be a name on the wire: `displayName`, `$top`, `X-Max-Return`, `return=minimal`.
_SHAPE = re.compile(r"[a-z]+[A-Z]\w*|\$\w+|[Xx]-[\w-]+|return=\w+")


def dead_names(document: Node) -> list[str]:
    """Return a line for each name in the wrapper and the sandbox that a document does not have."""
    known = {name.lower() for name in MADE_UP} | {name.lower() for _, node in nodes(document) for name in _names(node)}
    return [
        f"{path.relative_to(PROJECT).as_posix()}:{line}: openapi.yaml has no {name}.{_near(name, known)}"
        for folder in FOLDERS
        for path in sorted(folder.glob("*.py"))
        if path.name not in UNDESCRIBED
        for name, line in _strings(ast.parse(path.read_text(encoding="utf-8")))
        if name.lower() not in known
    ]


def _names(node: Node) -> Iterator[str]:
    """Yield the names in an object of a document: of a parameter, of properties and headers, and of values."""
    if "in" in node:
        yield str(node["name"])
    for key in ("properties", "headers", "enum"):
        yield from map(str, node.get(key, ()))


def _strings(tree: ast.Module) -> Iterator[tuple[str, int]]:
    """Yield the strings that are names, and the codes of errors, with their lines."""
    for node in ast.walk(tree):
        match node:
            case ast.keyword(arg="code", value=ast.Constant(value=str(text), lineno=line)):
                yield text, line
            case ast.Constant(value=str(text), lineno=line) if _SHAPE.fullmatch(text):
                yield text, line


def _near(name: str, known: set[str]) -> str:
    close = get_close_matches(name.lower(), known, n=3)
    return f" The nearest that there is: {', '.join(close)}." if close else ""


#: The strings in the body of an error, and the one in a page that has links.
ERROR = tuple(f"{place}.{name}" for place in ("error", "error.details[]") for name in ("code", "message", "target"))
LINK = "_links.next.href"


def missing_parts(document: Node) -> list[str]:
    """Return a line for each part that a document no longer has, with where the wrapper reads it."""
    missing: dict[tuple[str, str], list[str]] = defaultdict(list)
    source = "".join(path.read_text(encoding="utf-8") for path in WRAPPER.rglob("*.py"))
    for path, method, operation, _ in operations(document):
        is_listed = f"{operation.get('operationId')}.QUERY_PARAMETERS" in source
        for status, response in operation["responses"].items():
            for text, part in _missing(document, str(status), resolve(document, response), is_listed=is_listed):
                missing[text, part].append(f"response {status} of {method.upper()} {path}")
    return [
        f"{_reader(text)}: there is no {part}, which the wrapper reads here, in {places[0]}"
        + (f" and {len(places) - 1} more" if places[1:] else "")
        for (text, part), places in missing.items()
    ]


def _missing(document: Node, status: str, response: Node, *, is_listed: bool) -> Iterator[tuple[str, str]]:
    """Yield the words by which the wrapper reads a part, and the part."""
    for schema in (media["schema"] for media in response.get("content", {}).values() if "schema" in media):
        links = (LINK,) if is_listed or _at(document, schema, "_links") else ()
        for part in links if status.startswith("2") else ERROR:
            kinds = _at(document, schema, part).get("type")
            if "string" not in (kinds if isinstance(kinds, list) else [kinds]):
                yield "def next_request" if part == LINK else '"error"', f"string {part}"
    if status == "429" and "retry-after" not in {name.lower() for name in response.get("headers", {})}:
        yield '"retry-after"', "header retry-after"


def _at(document: Node, schema: Node, place: str) -> Node:
    """Return the schema of a property within a schema, of whose forms one has it; an empty one if there is none."""
    for name in place.split("."):
        plain = resolve(document, schema)
        forms = [plain, *(resolve(document, branch) for branch in alternatives(plain)[0])]
        wire = name.removesuffix("[]")
        schema = next((form["properties"][wire] for form in forms if wire in form.get("properties", {})), {})
        if name != wire:
            schema = resolve(document, schema).get("items", {})
    return resolve(document, schema)


def _reader(text: str) -> str:
    """Return file and line of the first place of the wrapper with a string."""
    for path in sorted(WRAPPER.rglob("*.py")):
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
            if text in line:
                return f"wrapper/itwin_platform/{path.relative_to(WRAPPER).as_posix()}:{number}"
    return "wrapper/itwin_platform"
