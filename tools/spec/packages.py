"""Compare the packages generated from two documents, with griffe."""

import tempfile
from collections.abc import Iterator
from pathlib import Path

import griffe

from tools.generation.document import PACKAGE, Node
from tools.generation.generate import differences
from tools.generation.generator import write_package

#: Breakages that only the packages show; the comparison of the documents reports defaults and types.
KINDS = {
    griffe.BreakageKind.OBJECT_REMOVED: "is no longer generated",
    griffe.BreakageKind.PARAMETER_REMOVED: "is no longer an argument",
    griffe.BreakageKind.PARAMETER_ADDED_REQUIRED: "is a required argument now",
}


#: The class or operation, its member or parameter, and the breakage in words.
Breakage = tuple[str, str, str]


def compared(before: Node, after: Node) -> tuple[set[str], list[Breakage]]:
    """Generate a package from each document, and return the modules that differ, and the breakages.

    Raises:
        SystemExit: The generator rejects a document.
    """
    with tempfile.TemporaryDirectory() as folder:
        old, new = Path(folder) / "old", Path(folder) / "new"
        for document, target in ((before, old), (after, new)):
            write_package(document, target / PACKAGE, name="the document", checked=False)
        modules = {Path(line).stem for line in differences(committed=old, made=new)}
        return modules, sorted({*_breakages(old, new)})


def _breakages(*folders: Path) -> Iterator[Breakage]:
    loaded = [griffe.load(PACKAGE, search_paths=[folder], allow_inspection=False) for folder in folders]
    for each in griffe.find_breaking_changes(*loaded):
        text = KINDS.get(each.kind)
        match each.obj.path.split(".")[1:]:
            case ["models", name] if text and name[0].isupper():
                yield name, "", text
            case ["models", _, name, member] if text:
                yield name, member, text
            case ["api", _, name] if text:
                yield name, "", text
            case ["api", _, name, "asyncio"] if text:
                parameter = each.new_value if each.old_value is None else each.old_value
                yield name, f"{parameter.name}=", text
