"""The packages generated from two documents: which modules differ, and what is gone, compared by griffe."""

import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import griffe

from tools.generation.generate import differences
from tools.generation.generator import write_package

PACKAGE = "itwin_platform_api"
#: What breaks code that uses a package; the comparison of the documents reports another default or type.
KINDS = {
    griffe.BreakageKind.OBJECT_REMOVED: "is no longer generated",
    griffe.BreakageKind.PARAMETER_REMOVED: "is no longer an argument",
    griffe.BreakageKind.PARAMETER_ADDED_REQUIRED: "is a required argument now",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Breakage:
    """A class, member or parameter that broke: the class or operation, the member or parameter, and how."""

    owner: str
    member: str
    text: str


def compared(before: Mapping[str, Any], after: Mapping[str, Any]) -> tuple[set[str], list[Breakage]]:
    """Generate from two documents, and return the modules that differ, and what is gone or required now.

    Raises:
        SystemExit: A document cannot be generated from.
    """
    with tempfile.TemporaryDirectory() as folder:
        old, new = Path(folder) / "old", Path(folder) / "new"
        for document, target in ((before, old), (after, new)):
            write_package(document, target / PACKAGE, name="the document", checked=False)
        modules = {Path(line).stem for line in differences(committed=old, made=new)}
        broken = set(_breakages(_loaded(old), _loaded(new)))
        return modules, sorted(broken, key=lambda each: (each.owner, each.member))


def _loaded(folder: Path) -> griffe.Module:
    loaded = griffe.load(PACKAGE, search_paths=[folder], allow_inspection=False)
    if not isinstance(loaded, griffe.Module):
        raise TypeError(f"{PACKAGE} is no package")
    return loaded


def _breakages(old: griffe.Module, new: griffe.Module) -> Iterator[Breakage]:
    for each in griffe.find_breaking_changes(old, new):
        text = KINDS.get(each.kind)
        match each.obj.path.split(".")[1:]:
            case ["models", name] if text and name[0].isupper():
                yield Breakage(owner=name, member="", text=text)
            case ["models", _, name, member] if text:
                yield Breakage(owner=name, member=member, text=text)
            case ["api", _, name] if text:
                yield Breakage(owner=name, member="", text=text)
            case ["api", _, name, "asyncio"] if text:
                parameter = each.new_value if each.old_value is None else each.old_value
                yield Breakage(owner=name, member=f"{parameter.name}=", text=text)
