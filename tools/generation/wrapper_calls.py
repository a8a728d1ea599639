"""Finds the calls of generated functions in the source of the wrapper, which need not be importable.

Each argument of a generated function is traced back to the keywords of the public method that supply it, through
assignments inside the method.
"""

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TypeGuard

from tools.generation.source import tree_of

WRAPPER = Path(__file__).resolve().parents[2] / "wrapper" / "itwin_platform"
PACKAGE = "itwin_platform_api"
CALLS = ("build_request",)


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """A call of a generated function; `arguments` and `built` have the keywords of the method that supply each name.

    The keys of `built` are model and attribute, or model and `[wire name]` for a property that is set by its wire name.
    """

    function: str
    method: str
    place: str
    positional: tuple[frozenset[str], ...]
    arguments: Mapping[str, frozenset[str]]
    built: Mapping[tuple[str, str], frozenset[str]]
    read: frozenset[str]


def calls(wrapper: Path = WRAPPER) -> list[Call]:
    """Return every call of a generated function from a public method of the wrapper."""
    trees = {path: tree_of(path) for path in sorted(wrapper.rglob("*.py"))}
    groups = {cls: group for tree in trees.values() for cls, group in _groups(tree)}
    return [
        call
        for path, tree in trees.items()
        for holder in tree.body
        if isinstance(holder, ast.ClassDef) and holder.name in groups
        for method in holder.body
        if isinstance(method, ast.FunctionDef | ast.AsyncFunctionDef)
        for call in _calls(
            method, f"platform.{groups[holder.name]}.{method.name}", path.relative_to(wrapper).as_posix()
        )
    ]


def imported_names(wrapper: Path = WRAPPER) -> list[tuple[str, str, int]]:
    """Return module, name and line of everything that `_api.py` imports from the generated package."""
    tree = tree_of(wrapper / "_api.py")
    return [
        (node.module, alias.name, alias.lineno)
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and node.module and node.module.partition(".")[0] == PACKAGE
        for alias in node.names
    ]


def tags(wrapper: Path = WRAPPER) -> list[tuple[str, str, int]]:
    """Return operation, folder and line of each entry of `_TAGS` in `_api.py`."""
    tree = tree_of(wrapper / "_api.py")
    tables = [
        node.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Dict) and ast.unparse(node.targets[0]) == "_TAGS"
    ]
    return [
        (str(key.value), str(value.value), key.lineno)
        for table in tables
        for key, value in zip(table.keys, table.values, strict=True)
        if isinstance(key, ast.Constant) and isinstance(value, ast.Constant)
    ]


def docstrings(tree: ast.Module) -> set[int]:
    """Return the ids of the nodes that are docstrings."""
    holders = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    first = [node.body[0] for node in ast.walk(tree) if isinstance(node, holders) and node.body]
    return {id(node.value) for node in first if isinstance(node, ast.Expr)}


def users(name: str, wrapper: Path = WRAPPER) -> list[str]:
    """Return the modules that import a name from `_api.py`."""
    return [
        path.relative_to(wrapper).as_posix()
        for path in sorted(wrapper.rglob("*.py"))
        if any(_imports(name, node) for node in ast.walk(tree_of(path)))
    ]


def _imports(name: str, node: ast.AST) -> bool:
    match node:
        case ast.ImportFrom(module="_api", names=names):
            return name in {alias.name for alias in names}
        case ast.Attribute(value=ast.Name(id="_api"), attr=attribute):
            return attribute == name
    return False


def _groups(tree: ast.Module) -> Iterator[tuple[str, str]]:
    """Yield class and attribute of each group of operations of PlatformClient."""
    for client in tree.body:
        if isinstance(client, ast.ClassDef) and client.name == "PlatformClient":
            for node in ast.walk(client):
                match node:
                    case ast.Assign(targets=[ast.Attribute(attr=group)], value=ast.Call(func=ast.Name(id=name))):
                        yield name, group
                    case ast.FunctionDef(name=group, body=[*_, ast.Return(value=ast.Call(func=ast.Name(id=name)))]):
                        yield name, group


@cache  # by the identity of a tree, which is shared and never changed
def _calls(method: ast.FunctionDef | ast.AsyncFunctionDef, name: str, file: str) -> tuple[Call, ...]:
    sources = _sources(method)
    built, read = _built(method, sources), frozenset(_read(method))
    found: list[Call] = []
    for node in ast.walk(method):
        match node:
            case ast.Call(func=ast.Attribute(value=ast.Name(id=function), attr=attribute)) if attribute in CALLS:
                call = Call(
                    function=function,
                    method=name,
                    place=f"{file}:{node.lineno}",
                    positional=tuple(frozenset(_keywords_in(argument, sources)) for argument in node.args),
                    arguments={
                        keyword.arg: frozenset(_keywords_in(keyword.value, sources))
                        for keyword in node.keywords
                        if keyword.arg
                    },
                    built=built,
                    read=read,
                )
                found.append(call)
    return tuple(found)


def _sources(method: ast.FunctionDef | ast.AsyncFunctionDef) -> dict[str, set[str]]:
    """Return the method's keywords behind each local name."""
    keywords = [argument.arg for argument in (*method.args.args[1:], *method.args.kwonlyargs)]
    sources = {keyword: {keyword} for keyword in keywords}
    for _ in range(3):  # assignments depend on each other up to three levels deep
        for node in ast.walk(method):
            for target, value in _assigned(node):
                if target not in keywords:
                    sources.setdefault(target, set()).update(_keywords_in(value, sources))
    return sources


def _assigned(node: ast.AST) -> Iterator[tuple[str, ast.expr]]:
    match node:
        case ast.Assign(targets=[ast.Tuple(elts=targets)], value=ast.Tuple(elts=values)):
            yield from ((target.id, value) for target, value in zip(targets, values, strict=False) if _is_name(target))
        case ast.Assign(targets=targets, value=value):
            yield from ((target.id, value) for target in targets if _is_name(target))
        case ast.NamedExpr(target=ast.Name(id=name), value=value):
            yield name, value


def _is_name(target: ast.expr) -> TypeGuard[ast.Name]:
    return isinstance(target, ast.Name)


def _keywords_in(expression: ast.expr, sources: Mapping[str, set[str]]) -> set[str]:
    names = [node.id for node in ast.walk(expression) if isinstance(node, ast.Name)]
    return {keyword for name in names for keyword in sources.get(name, ())}


def _built(
    method: ast.FunctionDef | ast.AsyncFunctionDef, sources: Mapping[str, set[str]]
) -> dict[tuple[str, str], frozenset[str]]:
    """Return the keywords that supply each attribute that the method constructs a model with or sets by wire name."""
    built: dict[tuple[str, str], frozenset[str]] = {}
    classes: dict[str, str] = {}
    for node in ast.walk(method):
        match node:
            case ast.Call(func=ast.Name(id=name), keywords=keywords):
                built |= {
                    (name, keyword.arg): frozenset(_keywords_in(keyword.value, sources))
                    for keyword in keywords
                    if keyword.arg
                }
        match node:
            case ast.Assign(targets=[ast.Name(id=variable)], value=ast.Call(func=ast.Name(id=name))):
                classes[variable] = name
            case ast.Assign(
                targets=[ast.Subscript(value=ast.Name(id=variable), slice=ast.Constant(value=str(key))), *_]
            ):
                built[classes.get(variable, variable), f"[{key}]"] = frozenset(_keywords_in(node.value, sources))
    return built


def _read(method: ast.FunctionDef | ast.AsyncFunctionDef) -> Iterator[str]:
    """Yield the attributes that are read from the result of `parse_response` or from a variable `parsed`."""
    for node in ast.walk(method):
        match node:
            case ast.Attribute(value=ast.Name(id="parsed"), attr=attribute):
                yield attribute
            case ast.Attribute(value=ast.Call(func=ast.Attribute(attr="parse_response")), attr=attribute):
                yield attribute
