"""An OpenAPI document: parsed from a file or a git revision, its nodes, its references, and their lines."""

import contextlib
import re
import subprocess
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import yaml

PROJECT = Path(__file__).resolve().parents[2]
SPECIFICATION = PROJECT / "openapi.yaml"
TEMPLATES = PROJECT / "templates"
WRAPPER = PROJECT / "wrapper" / "itwin_platform"
#: The name of the generated package.
PACKAGE = "itwin_platform_api"

Node = Mapping[str, Any]
Keys = tuple[str | int, ...]

METHODS = ("get", "put", "post", "delete", "options", "head", "patch", "trace")
#: Keys whose values are data, in which `$ref` and `schema` are ordinary names.
_DATA = ("example", "examples", "enum", "const", "default", "x-default")
#: Keys whose values are schemas.
_SCHEMAS = ("schema", "items", "oneOf", "anyOf", "allOf", "not")

#: Keywords that describe a value and do not restrict it, as `x-` fields do.
_DESCRIBING = ("description", "summary", "title", "example", "examples", "deprecated", "default", "nullable", "$ref")

#: The parser in C, which is much faster, if PyYAML was built with it.
_BASE: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


class _Loader(_BASE):  # type: ignore[misc]
    """A loader of YAML with the types of JSON: keys are unique strings, `NO` is no boolean, and a date is a string."""

    yaml_implicit_resolvers: ClassVar[Any] = {}

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[str, Any]:  # noqa: FBT001, FBT002
        """Return a mapping whose keys are strings, as written."""
        found: dict[str, Any] = {}
        for key, value in node.value:
            if key.value in found:
                raise yaml.MarkedYAMLError(problem=f"the key {key.value!r} occurs twice", problem_mark=key.start_mark)
            found[key.value] = self.construct_object(value, deep=True)
        return found


for _tag, _form, _first in (
    ("bool", r"true|True|TRUE|false|False|FALSE", "tTfF"),
    ("null", r"null|~|", ["n", "~", ""]),
    ("int", r"[-+]?(0|[1-9][0-9]*)", "-+0123456789"),
    ("float", r"[-+]?(\.[0-9]+|(0|[1-9][0-9]*)(\.[0-9]*)?)([eE][-+]?[0-9]+)?", "-+.0123456789"),
):
    _Loader.add_implicit_resolver(f"tag:yaml.org,2002:{_tag}", re.compile(f"(?:{_form})\\Z"), [*_first])


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """A problem at one place of a document, with the remedy."""

    keys: Keys
    text: str

    @property
    def place(self) -> str:
        """The place in words: `paths /itwins/ get security 0`."""
        return " ".join(map(str, self.keys))


def load_document(source: str) -> dict[str, Any]:
    """Parse a file, or `openapi.yaml` as it was at a git revision.

    Raises:
        SystemExit: `source` is neither a file nor a git revision, or is no YAML.
    """
    return parse(text_of(source), name=source)


def text_of(source: str) -> str:
    """Return the text of a file, or of `openapi.yaml` as it was at a git revision.

    Raises:
        SystemExit: `source` is neither a file nor a git revision.
    """
    if Path(source).is_file():
        return Path(source).read_text(encoding="utf-8")
    command = ["git", "-C", str(PROJECT), "show", f"{source}:openapi.yaml"]
    shown = subprocess.run(command, capture_output=True, text=True, check=False)
    if shown.returncode != 0:
        raise SystemExit(f"{source} is neither a file nor a git revision with an openapi.yaml: {shown.stderr.strip()}")
    return shown.stdout


def parse(text: str, *, name: str) -> dict[str, Any]:
    """Parse the text of a document, and merge the schemas of each `allOf` into one.

    Raises:
        SystemExit: The text is no YAML, or no object.
    """
    try:
        document = yaml.load(text, _Loader)  # noqa: S506 - it is a safe loader
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        line = f":{mark.line + 1}" if mark else ""
        raise SystemExit(f"{name}{line}: no YAML: {getattr(error, 'problem', error)}") from None
    if not isinstance(document, dict):
        raise SystemExit(f"{name}:1: no OpenAPI document: an object with `openapi`, `info` and `paths`")
    try:
        return {key: _composed(document, node, key) for key, node in document.items()}
    except RecursionError:
        raise SystemExit(f"{name}:1: a schema is composed of itself by `allOf`") from None


def _composed(document: Node, node: Any, of: str = "") -> Any:
    """Return a part of a document with each `allOf` merged; `of` is the key of the part.

    The schema `true` becomes one without rules, and `false` becomes one that rejects every value.
    """
    if isinstance(node, list):
        return [_composed(document, item, of) for item in node]
    if isinstance(node, bool) and of in _SCHEMAS:
        return {} if node else {"not": {}}
    if not isinstance(node, Mapping):
        return node
    if isinstance(node.get("allOf"), list):
        with contextlib.suppress(KeyError):  # `invalid` reports a broken reference
            node = merged(document, node)
    is_named = of in ("properties", "schemas")
    return {
        key: inner if key in _DATA and not is_named else _composed(document, inner, "schema" if is_named else key)
        for key, inner in node.items()
    }


def merged(document: Node, schema: Node) -> Node:
    """Return a schema with its `allOf` merged; a reference in `allOf` stays one if only a description is beside it."""
    parts = [part for part in schema.get("allOf", ()) if part is not True]  # `true` has no rules
    own = {key: value for key, value in schema.items() if key != "allOf"}
    if len(parts) == 1 and "$ref" in parts[0] and not restrictions(document, {**own, **parts[0]}):
        return {**own, **parts[0]}
    found: Node = {}
    for part in (*(merged(document, resolve(document, part)) for part in parts), own):
        old, new = found.get("properties", {}), part.get("properties", {})
        # A later part can refine a property: it adds a description, say, and keeps the type and `x-secret`.
        refined = {name: merged(document, {"allOf": [old[name], new[name]]}) for name in new if name in old}
        required = [*found.get("required", ()), *part.get("required", ())]
        found = {**found, **part, "properties": {**old, **new, **refined}, "required": required}
    return {key: value for key, value in found.items() if value or key not in ("properties", "required")}


def restrictions(document: Node, reference: Node) -> list[str]:
    """Return the keywords beside a `$ref` that restrict the value, and are not the same in the target."""
    found = resolve(document, reference)
    others = (key for key in reference if key not in _DESCRIBING and not key.startswith("x-"))
    return [key for key in others if reference[key] != found.get(key)]


def with_lines(problems: Iterable[Problem], *, text: str, name: str) -> list[str]:
    """Return a message for each problem, which begins with the file and the line."""
    root = yaml.compose(text, Loader=_Loader)
    return [f"{name}:{_line(root, problem.keys)}: {problem.place}: {problem.text}" for problem in problems]


def _line(node: Any, keys: Keys) -> int:
    """Return the line of a place, or of the innermost existing place around it."""
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
    """Yield every object of a document with its place, without examples and other data."""
    if isinstance(node, Mapping):
        yield keys, node
        for name, value in node.items():
            if name not in _DATA or keys[-1:] == ("properties",):
                yield from nodes(value, (*keys, name))
    elif isinstance(node, list):
        for number, value in enumerate(node):
            yield from nodes(value, (*keys, number))


def rebuilt(node: Any, change: Callable[[dict[str, Any]], Node]) -> Any:
    """Return a part of a document with `change` applied to each object, outer objects first."""
    if isinstance(node, list):
        return [rebuilt(item, change) for item in node]
    if not isinstance(node, dict):
        return node
    return {key: rebuilt(value, change) for key, value in change(node).items()}


def operations(document: Node) -> Iterator[tuple[str, str, Node, list[Node]]]:
    """Yield the path, the method, the object and the resolved parameters of each operation."""
    for path, item in document.get("paths", {}).items():
        for method, operation in item.items():
            if method in METHODS:
                declared = (*item.get("parameters", ()), *operation.get("parameters", ()))
                yield path, method, operation, [resolve(document, parameter) for parameter in declared]


def parameter_places(document: Node, path: str, method: str) -> Iterator[tuple[Keys, Node]]:
    """Yield each parameter of an operation with its place; the place of a reference is that of its component."""
    item = document["paths"][path]
    for keys, declared in ((("parameters",), item), ((method, "parameters"), item[method])):
        for number, parameter in enumerate(declared.get("parameters", ())):
            keys_of_component = str(parameter.get("$ref", "")).removeprefix("#/").split("/")
            place: Keys = tuple(keys_of_component) if "$ref" in parameter else ("paths", path, *keys, number)
            yield place, resolve(document, parameter)


def operation_called(document: Node, name: str) -> tuple[Node, list[Node]]:
    """Return an operation and its parameters by `operationId`."""
    return next((node, parameters) for _, _, node, parameters in operations(document) if node["operationId"] == name)


def alternatives(schema: Node) -> tuple[list[Node], bool]:
    """Return the alternative schemas of a value without null, and whether null is one of them."""
    branches: list[Node] = [*schema.get("oneOf", ()), *schema.get("anyOf", ())]
    kinds = schema.get("type")
    if isinstance(kinds, list):
        branches = [{**schema, "type": kind} for kind in kinds]
    others = [branch for branch in branches if branch.get("type") != "null"]
    return others if branches else [schema], len(others) < len(branches)


def constants(document: Node, schema: Node) -> dict[str, Any]:
    """Return the constants of an object by property, which distinguish it from other objects."""
    properties = resolve(document, schema).get("properties", {}).items()
    return {name: found["const"] for name, inner in properties if "const" in (found := resolve(document, inner))}


def resolve(document: Node, node: Node) -> Node:
    """Return the target of a reference, or the node itself.

    Raises:
        KeyError: The reference leads out of the document, has no target, or leads back to itself.
    """
    seen: set[str] = set()
    while "$ref" in node:
        reference = str(node["$ref"])
        if reference in seen:
            raise KeyError(reference)
        seen.add(reference)
        node = target(document, reference)
    return node


def target(document: Node, reference: str) -> Any:
    """Return the target of a reference within the document.

    Raises:
        KeyError: The reference leads out of the document, or has no target.
    """
    start, _, path = reference.partition("#/")
    found: Any = document
    for step in path.split("/"):
        if start or not isinstance(found, Mapping):
            raise KeyError(reference)
        found = found[step.replace("~1", "/").replace("~0", "~")]
    return found


def without_source(words: str) -> str:
    """Return a description without its references to the service description, which readers do not have."""
    return re.sub(r"\s*\bSource: (?:introduction and )?sections? [\d., ]*\d", "", words)


def reached(document: Node, part: object) -> set[str]:
    """Return the direct and indirect references of a part, those of `x-kinds` and `x-values` included.

    Raises:
        KeyError: A reference is broken.
    """
    found, waiting = set[str](), [part]
    while waiting:
        for _, node in nodes(waiting.pop()):
            names = [*node.get("x-kinds", {}).values(), *(node[key] for key in ("x-values",) if key in node)]
            references = {f"#/components/schemas/{name}" for name in names}
            references |= {node[key] for key in ("$ref",) if isinstance(node.get(key), str)}
            waiting += [target(document, reference) for reference in references - found]
            found |= references
    return found
