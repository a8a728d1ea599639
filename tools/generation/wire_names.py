"""Compares the wire names in the source of the wrapper with a specification.

The wrapper passes most names to generated functions, where a missing name is an error. The other names are strings in
its source: in the rules, as the target or the code of an error, and as the properties of complete objects.
"""

import ast
import importlib
import re
from collections.abc import Iterable, Iterator
from difflib import get_close_matches
from functools import cache
from pathlib import Path

from tools.generation.source import tree_of
from tools.generation.wrapper_calls import WRAPPER, docstrings
from tools.spec.specification import Specification

PACKAGE = "wrapper/itwin_platform"
#: Folders of the wrapper with wire names.
FOLDERS = ("_operations", "_listings", "_requests")
#: The module whose names are those of the public documentation: the specification does not describe deliveries.
UNDESCRIBED = "deliveries.py"
#: Strings that can only be a wire name in Python source: `displayName`, `$top`, `X-Max-Return`, `return=minimal`.
_SHAPE = re.compile(r"[a-z]+[A-Z]\w*|\$\w+|[Xx]-[\w-]+|return=\w+")
#: Words in one container with such a name are wire names too.
_WORD = re.compile(r"[a-z]+")


def dead_names(specification: Specification, wrapper: Path = WRAPPER) -> list[str]:
    """Return a message for each wire name or error code in the wrapper that a specification does not have."""
    names, codes = names_of(specification), codes_of(specification)
    details = [detail for operation in specification.operations.values() for detail in operation.details]
    targets = names | {target.lower() for _, _, target in details if target}
    found: list[str] = []
    for path in (path for folder in FOLDERS for path in sorted((wrapper / folder).glob("*.py"))):
        if path.name == UNDESCRIBED:
            continue
        place = path.relative_to(wrapper).as_posix()
        tree = tree_of(path)
        found.extend(
            _gone(text, f"{place}:{line}", names) for text, line in wire_constants(tree) if text.lower() not in names
        )
        found.extend(
            _gone(text, f"{place}:{line}", codes)
            for text, line in _keyword_values(tree, "code")
            if text.lower() not in codes
        )
        if path.parent.name == "_operations":  # a listing's own keywords are no wire names
            values = _keyword_values(tree, "target")
            found.extend(
                _gone(text, f"{place}:{line}", targets) for text, line in values if text.lower() not in targets
            )
    return list(dict.fromkeys(found))


def dead_properties(specification: Specification) -> list[str]:
    """Return a message for each property of a complete object that a specification does not have."""
    public = importlib.import_module("itwin_platform")
    names = [name for name in public.__all__ if name.endswith("Authentication") and not name.startswith("Stored")]
    found: list[str] = []
    for kind in (getattr(public, name) for name in ("RepositoryOptions", *names)):
        model = specification.models.get(f"Stored{kind.__name__}")
        if model is None:
            found.append(_object(kind, f"no longer has Stored{kind.__name__}", ""))
            continue
        wanted = set(model.fields) - {"type"}
        for wire, name in kind.properties().items():
            if wire not in wanted:
                what = f"no longer gives {wire} of Stored{kind.__name__}"
                found += [f"{_object(kind, what, name)}{near(wire, wanted)}"]
        constant = model.fields["type"].limits.get("const") if "type" in model.fields else None
        if constant != getattr(kind, "TYPE", None):
            found.append(_object(kind, f"gives the type {constant!r} to Stored{kind.__name__}", "TYPE"))
    return found


def _object(kind: type, what: str, field: str) -> str:
    """Return the message about a complete object, with the line of the field or of the class."""
    file = "_operations/replacement.py"
    tree = tree_of(WRAPPER / file)
    classes = {node.name: node for node in tree.body if isinstance(node, ast.ClassDef)}
    lines = [
        node.lineno
        for base in kind.__mro__
        if base.__name__ in classes
        for node in classes[base.__name__].body
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name) and node.target.id == field
    ]
    line = lines[0] if lines else classes[kind.__name__].lineno
    return f"{PACKAGE}/{file}:{line}: openapi.yaml {what}, which {kind.__name__} is made for."


def names_of(specification: Specification) -> set[str]:
    """Return every name on the wire, in lower case: parameters, headers, properties, targets, values of enums."""
    operations = specification.operations.values()
    names = {part.partition(" ")[2] for operation in operations for part in operation.parameters}
    names |= {header for operation in operations for header in operation.response_headers}
    names |= {name for model in specification.models.values() for name in model.fields}
    names |= {value for model in specification.models.values() for value in model.values}
    names |= {value for operation in operations for field in operation.parameters.values() for value in field.values}
    return {name.lower() for name in names}


def codes_of(specification: Specification) -> set[str]:
    """Return every code of an error or a detail, in lower case."""
    operations = specification.operations.values()
    codes = {code for operation in operations for _, code in operation.errors}
    codes |= {code for operation in operations for _, code, _ in operation.details}
    return {code.lower() for code in codes}


@cache
def wire_constants(tree: ast.Module) -> list[tuple[str, int]]:
    """Return text and line of each wire name in a module."""
    return list(_wire_constants(tree))


def _wire_constants(tree: ast.Module) -> Iterator[tuple[str, int]]:
    targets = [node.value for node in ast.walk(tree) if isinstance(node, ast.keyword) and node.arg == "target"]
    ignored = docstrings(tree) | {id(inner) for target in targets for inner in ast.walk(target)}
    for node in ast.walk(tree):
        match node:
            case ast.Constant(value=str(text)) if id(node) not in ignored and _SHAPE.fullmatch(text):
                yield text, node.lineno
            case ast.Tuple(elts=members) | ast.List(elts=members) | ast.Dict(keys=members):
                constants = [item for item in members if isinstance(item, ast.Constant)]
                texts = [(item.value, item.lineno) for item in constants if isinstance(item.value, str)]
                if any(_SHAPE.fullmatch(text) for text, _ in texts):
                    yield from ((text, line) for text, line in texts if _WORD.fullmatch(text))


def _keyword_values(tree: ast.Module, keyword: str) -> Iterator[tuple[str, int]]:
    """Yield text and line of each string that a module passes to a keyword."""
    for node in ast.walk(tree):
        match node:
            case ast.keyword(arg=name, value=ast.Constant(value=str(text), lineno=line)) if name == keyword:
                yield text, line


def _gone(name: str, place: str, others: Iterable[str]) -> str:
    return f"{PACKAGE}/{place}: openapi.yaml has no {name}, which stands here.{near(name.lower(), others)}"


def near(name: str, others: Iterable[str]) -> str:
    """Return a sentence with the most similar names, or an empty string."""
    close = get_close_matches(name, list(others), n=3)
    return f" The nearest that there is: {', '.join(close)}." if close else ""
