"""An OpenAPI document: parsed from a file or a git revision, its nodes, its references, and their lines."""

import contextlib
import subprocess
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

PROJECT = Path(__file__).resolve().parents[2]
SPECIFICATION = PROJECT / "openapi.yaml"

Node = Mapping[str, Any]
Keys = tuple[str | int, ...]

METHODS = ("get", "put", "post", "delete", "options", "head", "patch", "trace")
#: Keys whose values are data, in which `$ref` or `schema` would be a name like any other.
_DATA = ("example", "examples", "enum", "const", "default", "x-default")
#: The parser in C, which wheels of PyYAML have, is ten times as fast.
_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """What is wrong at one place of a document, and what to write instead."""

    keys: Keys
    text: str

    @property
    def place(self) -> str:
        """The place as people read it: `paths /itwins/ get security 0`."""
        return " ".join(map(str, self.keys))


def load_document(source: str) -> dict[str, Any]:
    """Parse a file, or `openapi.yaml` as it was at a git revision.

    Raises:
        SystemExit: `source` is neither of them, or no YAML.
    """
    return parse(text_of(source), name=source)


def text_of(source: str) -> str:
    """Return the text of a file, or of `openapi.yaml` as it was at a git revision.

    Raises:
        SystemExit: `source` is neither of them.
    """
    if Path(source).is_file():
        return Path(source).read_text(encoding="utf-8")
    command = ["git", "-C", str(PROJECT), "show", f"{source}:openapi.yaml"]
    shown = subprocess.run(command, capture_output=True, text=True, check=False)
    if shown.returncode != 0:
        raise SystemExit(f"{source} is neither a file nor a git revision with an openapi.yaml: {shown.stderr.strip()}")
    return shown.stdout


def parse(text: str, *, name: str) -> dict[str, Any]:
    """Parse the text of a document; what `allOf` composes is one schema, as if it were written so.

    Raises:
        SystemExit: It is no YAML, or no object.
    """
    try:
        document = yaml.load(text, _LOADER)  # noqa: S506 - both loaders are safe
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        line = f":{mark.line + 1}" if mark else ""
        raise SystemExit(f"{name}{line}: no YAML: {getattr(error, 'problem', error)}") from None
    if not isinstance(document, dict):
        raise SystemExit(f"{name}:1: no OpenAPI document: an object with `openapi`, `info` and `paths`")
    return {key: _composed(document, node) for key, node in document.items()}


def _composed(document: Node, node: Any) -> Any:
    """Return a part of a document with the schemas that `allOf` composes."""
    if isinstance(node, list):
        return [_composed(document, item) for item in node]
    if not isinstance(node, Mapping):
        return node
    if isinstance(node.get("allOf"), list):
        with contextlib.suppress(KeyError):  # a reference leads nowhere, which `invalid` reports
            node = whole(document, node)
    return {key: _composed(document, inner) for key, inner in node.items()}


def whole(document: Node, schema: Node) -> Node:
    """Return a schema with what its `allOf` composes; a single one that only has a description stays a reference."""
    parts, own = schema.get("allOf", ()), {key: value for key, value in schema.items() if key != "allOf"}
    if len(parts) < 2 and "properties" not in own:
        return {**own, **dict(*parts)}
    found: Node = {}
    for part in (*(whole(document, resolve(document, part)) for part in parts), own):
        properties = {**found.get("properties", {}), **part.get("properties", {})}
        required = [*found.get("required", ()), *part.get("required", ())]
        found = {**found, **part, "properties": properties, "required": required}
    return found


def with_lines(problems: Iterable[Problem], *, text: str, name: str) -> list[str]:
    """Return each problem as a line that begins with file and line."""
    root = yaml.compose(text, Loader=_LOADER)
    return [f"{name}:{_line(root, problem.keys)}: {problem.place}: {problem.text}" for problem in problems]


def _line(node: Any, keys: Keys) -> int:
    """Return the line of a place, or of the innermost place around it that has one."""
    line = 1
    for key in keys:
        if isinstance(node, yaml.MappingNode):
            found = [(name, value) for name, value in node.value if name.value == str(key)]
        elif isinstance(node, yaml.SequenceNode) and isinstance(key, int) and key < len(node.value):
            found = [(node.value[key], node.value[key])]
        else:
            break
        if not found:
            break
        name, node = found[0]
        line = name.start_mark.line + 1
    return line


def nodes(node: object, keys: Keys = ()) -> Iterator[tuple[Keys, Node]]:
    """Yield every object of a document with its place. Examples and other data are skipped."""
    if isinstance(node, Mapping):
        yield keys, node
        for name, value in node.items():
            if name not in _DATA or keys[-1:] == ("properties",):
                yield from nodes(value, (*keys, name))
    elif isinstance(node, list):
        for number, value in enumerate(node):
            yield from nodes(value, (*keys, number))


def operations(document: Node) -> Iterator[tuple[str, str, Node, list[Node]]]:
    """Yield path, method, operation and parameters of each operation; references to parameters are resolved."""
    for path, item in document.get("paths", {}).items():
        for method, operation in item.items():
            if method in METHODS:
                declared = (*item.get("parameters", ()), *operation.get("parameters", ()))
                yield path, method, operation, [resolve(document, parameter) for parameter in declared]


def operation_called(document: Node, name: str) -> tuple[Node, list[Node]]:
    """Return an operation and its parameters by `operationId`."""
    return next((node, parameters) for _, _, node, parameters in operations(document) if node["operationId"] == name)


def alternatives(schema: Node) -> tuple[list[Node], bool]:
    """Return the schemas of which a value has one, without null, and whether it may be null."""
    branches: list[Node] = [*schema.get("oneOf", ()), *schema.get("anyOf", ())]
    kinds = schema.get("type")
    if isinstance(kinds, list):
        branches = [{**schema, "type": kind} for kind in kinds]
    others = [branch for branch in branches if branch.get("type") != "null"]
    return others if branches else [schema], len(others) < len(branches)


def resolve(document: Node, node: Node) -> Node:
    """Return the target of a reference, or the node itself."""
    while "$ref" in node:
        node = target(document, str(node["$ref"]))
    return node


def target(document: Node, reference: str) -> Any:
    """Return what a reference within the document names.

    Raises:
        KeyError: It leads out of the document, or nowhere.
    """
    start, _, path = reference.partition("#/")
    found: Any = document
    for step in path.split("/"):
        if start or not isinstance(found, Mapping):
            raise KeyError(reference)
        found = found[step.replace("~1", "/").replace("~0", "~")]
    return found
