"""Complete docstrings and signatures for the reference of the documentation site.

A docstring lists `AuthenticationError, NotFoundError (SceneNotFound), RateLimitError.`, but the parser of the site
accepts only `name: words` on each line. A signature names a constant as a default, but a reader needs its value.
"""

import ast
import re
from collections.abc import Callable, Iterator
from functools import cache
from importlib import import_module
from pathlib import Path

import yaml
from griffe import AliasResolutionError, Attribute, Extension, Function, GriffeLoader, NameResolutionError, Object

_PROJECT = Path(__file__).resolve().parents[2]
_ERRORS = _PROJECT / "wrapper" / "itwin_platform" / "_errors.py"
#: The first line of the docstring of each error, for operations that only name the error.
_MEANINGS = {
    node.name: (ast.get_docstring(node) or "").split("\n")[0].rstrip(".")
    for node in ast.parse(_ERRORS.read_text(encoding="utf-8")).body
    if isinstance(node, ast.ClassDef)
}

_SOURCE = re.compile(r"( *)Source: ([^\n]*\bsections? [^\n]*)$", re.MULTILINE)

#: The name of a constant, and the text of a number that it may stand for.
_CONSTANT = re.compile(r"(?!UNSET$)[A-Z][A-Z_]+")
_NUMBER = re.compile(r"[\d_.]+(?: \*{1,2} [\d_.]+)*(?:\*\*\d+)?")

_SECTION = re.compile(r"^( *)(Args|Raises)(?: \((.+)\))?:$")
_NAMES = re.compile(r"[\w*]+(?:, [\w*]+)+")
_ERROR = re.compile(r"([A-Z]\w*(?:Error|Warning))(?: \(([^)]+)\))?")


class ReferenceDocstrings(Extension):
    """The extension that mkdocstrings loads; it gets each object when the tree is complete."""

    def on_object(self, *, obj: Object, loader: GriffeLoader, **_: object) -> None:
        """Complete one docstring and the defaults of one signature, in place."""
        if obj.docstring is not None:
            obj.docstring.value = linked(completed(obj.docstring.value))
        if isinstance(obj, Function):
            show_defaults(obj, loader)
        if isinstance(obj, Attribute) and str(obj.value).startswith("_attrs_field("):
            obj.value = None  # the call of attrs means nothing to a reader


def show_defaults(function: Function, loader: GriffeLoader) -> None:
    """Replace constants in the defaults of a signature by their numbers."""
    for parameter in function.parameters:
        name = str(parameter.default)
        if parameter.default is None or not _CONSTANT.fullmatch(name):
            continue
        try:
            constant = loader.modules_collection[function.resolve(name)]
        except (KeyError, NameResolutionError, AliasResolutionError):
            continue  # of another package
        module = constant.parent.path if isinstance(constant, Attribute) and constant.parent is not None else ""
        value = str(getattr(import_module(module), constant.name, "")) if module else ""  # it may be computed
        if _NUMBER.fullmatch(value):
            parameter.default = value


def completed(docstring: str) -> str:
    """Return a docstring whose sections of arguments and errors have an entry for each name."""
    lines: list[str] = []
    unread = docstring.split("\n")
    while unread:
        line = unread.pop(0)
        section = _SECTION.match(line)
        if section is None:
            lines.append(line)
            continue
        indent, title, when = section[1], section[2], section[3]
        body: list[str] = []
        while unread and unread[0].startswith(f"{indent}    "):
            body.append(unread.pop(0).removeprefix(f"{indent}    "))
        entries = _arguments(body) if title == "Args" else _errors(body, when)
        lines += [f"{indent}{title}:", *(f"{indent}    {entry}" for entry in entries)]
    return "\n".join(lines)


@cache
def _operations() -> dict[str, str]:
    """Return each operation of the specification by the section of the service description that it transcribes."""
    document = yaml.safe_load((_PROJECT / "openapi.yaml").read_text(encoding="utf-8"))
    return {
        found[1]: operation["operationId"]
        for methods in document["paths"].values()
        for operation in methods.values()
        if (found := re.search(r"(4\.\d)", operation["description"]))
    }


def linked(docstring: str) -> str:
    """Replace the sections of the service description, which is not shipped, by links into the specification."""

    def link(source: re.Match[str]) -> str:
        sections = re.findall(r"4\.\d", source[2])
        named = [_operations()[section] for section in sections if section in _operations()]
        links = ", ".join(f"[{name}](specification.md#{name})" for name in named)
        return f"{source[1]}Specification: {links}." if links else ""

    return _SOURCE.sub(link, docstring)


def _arguments(body: list[str]) -> Iterator[str]:
    for entry in _joined(body, starts=lambda line: not line.startswith(" ")):
        names, _, words = entry.partition(": ")
        for name in names.split(", ") if _NAMES.fullmatch(names) else [names]:
            yield f"{name}: {words}"


def _errors(body: list[str], when: str | None) -> Iterator[str]:
    ended = iter([True, *(line.endswith(".") for line in body)])  # an entry ends with a full stop
    for entry in _joined(body, starts=lambda _: next(ended)):
        before, _, words = entry.partition(": ")
        iterating = before == "During iteration"
        condition = "during iteration" if iterating else when
        if iterating or not words:
            yield from _listed(words if iterating else entry, condition)
            continue
        for name in before.split(", "):
            yield f"{name}: {_with(condition, words)}"


def _listed(text: str, condition: str | None) -> Iterator[str]:
    """Read `AError, BError (Code), CError.`; a last name can be followed by words of its own."""
    rest = text
    while found := _ERROR.match(rest):
        rest = rest[found.end() :].removeprefix(",").strip()
        words = "" if _ERROR.match(rest) else rest.strip(".")
        meaning = words or _MEANINGS[found[1]]
        yield f"{found[1]}: {_with(condition, f'{meaning} (`{found[2]}`)' if found[2] else meaning)}"
        if words:
            return


def _with(condition: str | None, words: str) -> str:
    return ": ".join(filter(None, [condition, words]))


def _joined(lines: list[str], *, starts: Callable[[str], bool]) -> Iterator[str]:
    """Join the lines of each entry."""
    entry: list[str] = []
    for line in lines:
        if starts(line) and entry:
            yield " ".join(entry)
            entry = []
        entry.append(line.strip())
    if entry:
        yield " ".join(entry)
