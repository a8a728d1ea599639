"""Entries of the reference as Markdown: signature, docstring, and the public members of a class or an enum."""

import inspect
import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import is_dataclass
from enum import Enum
from importlib import import_module
from types import UnionType

from .specification_links import linked

#: Members that the site does not show either: `filters` in zensical.toml.
_HIDDEN = frozenset({"TYPE", "properties", "wire_fields", "CONSTANTS", "additional_keys"})
#: A default that has no literal, such as a function: its text would contain an address in memory.
_NO_LITERAL = re.compile(r"<[^<>]*>|\bNOTHING\b")
_MODULE = re.compile(r"\b(?:itwin_platform\w*|collections\.abc)(?:\.\w+)*\.(?=\w)")
_QUOTED_ANNOTATION = re.compile(r"(?<=: |> )'([^']*)'")


def entry(path: str, *, members: Collection[str] | None = None) -> str:
    """Return the entry of the object that a directive of the reference names, with all its members or with some."""
    name = path.rpartition(".")[2]
    found = _object(path)
    if isinstance(found, type):
        return "\n".join(
            [_section("###", name, _head(name, found), _docstring(found)), *_members(name, found, members)]
        )
    if inspect.isroutine(found):
        return _section("###", name, _head(name, found), _docstring(found))
    return _section("###", name, _value(name, found), _docstring(type(found)))


def _section(marks: str, name: str, code: str, docstring: str) -> str:
    return "\n".join([f"{marks} {name}", "", "```python", code, "```", "", *([docstring, ""] if docstring else [])])


def _members(name: str, found: type, chosen: Collection[str] | None) -> Iterator[str]:
    for member, value in _own_members(found).items():
        if chosen is not None and member not in chosen:
            continue
        target = value.__func__ if isinstance(value, classmethod | staticmethod) else value
        if isinstance(target, property) or inspect.isfunction(target):
            code = member if isinstance(target, property) else _head(member, target)
            yield _section("####", f"{name}.{member}", code, _docstring(target))


def _own_members(found: type) -> dict[str, object]:
    """Return the public members of a class and of its private bases; an exported base has an entry of its own."""
    exported = import_module("itwin_platform").__all__
    bases = [base for base in found.__mro__ if base is found or base.__name__ not in exported]
    return {
        member: value
        for base in reversed(bases)
        if base.__module__.startswith("itwin_platform")
        for member, value in vars(base).items()
        if not member.startswith("_") and member not in _HIDDEN and getattr(value, "__doc__", None)
    }


def _head(name: str, found: object) -> str:
    if isinstance(found, type) and issubclass(found, Enum):
        return "\n".join([f"class {name}(str):", *(f"    {each.name} = {each.value!r}" for each in found)])
    keyword = "async def " if inspect.iscoroutinefunction(found) else "def " if inspect.isroutine(found) else ""
    return f"{keyword}{name}{_signature(found)}"


def _signature(found: object) -> str:
    if isinstance(found, type) and not _is_constructed(found):
        return ""
    try:
        text = str(inspect.signature(found)) if callable(found) else ""
    except (ValueError, TypeError):
        return ""  # a class that is written in C has no signature
    text = _QUOTED_ANNOTATION.sub(r"\1", _NO_LITERAL.sub("...", _MODULE.sub("", text)))
    return re.sub(r"^\((?:self|cls)(?:, )?", "(", text)


def _is_constructed(found: type) -> bool:
    """Tell whether users call a class: its docstring has its arguments, or its fields are its arguments."""
    return is_dataclass(found) or hasattr(found, "__attrs_attrs__") or "Args:" in (found.__doc__ or "")


def _value(name: str, found: object) -> str:
    if isinstance(found, UnionType):
        return f"{name} = {_MODULE.sub('', str(found))}"
    if isinstance(found, Mapping):
        return "\n".join([f"{name} = {{", *(f"    {key!r}: ...," for key in found), "}"])
    return f"{name}: {type(found).__name__}" if repr(found) == name else f"{name} = {found!r}"


def _docstring(found: object) -> str:
    """Return the docstring of an object itself, not one that it inherits or that Python gives it."""
    words = getattr(found, "__doc__", None)
    own = not isinstance(found, type) or (found.__module__ or "").startswith("itwin_platform")
    return linked(inspect.cleandoc(words)) if words and own else ""


def _object(path: str) -> object:
    parts = path.split(".")
    for end in range(len(parts), 0, -1):
        try:
            found: object = import_module(".".join(parts[:end]))
        except ModuleNotFoundError:
            continue
        for part in parts[end:]:
            found = getattr(found, part)
        return found
    raise SystemExit(f"the reference names {path}, which cannot be imported")
