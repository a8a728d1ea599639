"""Reads the changes of the drill from `drill_changes.yaml`, and makes each on a copy of the specification."""

import copy
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tools.generation.document import SPECIFICATION, load_document, nodes
from tools.generation.unchecked import KEYWORDS, PLACES

FILE = Path(__file__).with_suffix(".yaml")
COMPONENTS = ("schemas", "parameters", "headers", "responses")

Document = dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """A change in words, what `make generate` must say about it, and its steps."""

    words: str
    says: str
    steps: Mapping[str, Any]


def changes_of() -> dict[str, list[Change]]:
    """Return the changes by the title of their table; the last one is that of what no check knows."""
    tables = copy.deepcopy(load_document(str(FILE)))
    tables["What no check knows"] = [
        {"words": words, "says": "rejected", "set": {f"schemas DetectorCreate properties {place}": value}}
        for words, place, value in (
            *((f"A request has `{name}`", f"description {name}", value) for name, value in KEYWORDS.items()),
            *((f"A request has a limit {name}", "added", value) for name, value in PLACES.items()),
        )
    ]
    return {
        title: [Change(words=row.pop("words"), says=row.pop("says"), steps=row) for row in rows]
        for title, rows in tables.items()
    }


def made(change: Change) -> Document:
    """Return the specification with a change.

    Raises:
        SystemExit: The specification no longer has a place of the change.
    """
    document = copy.deepcopy(load_document(str(SPECIFICATION)))
    try:
        for step, places in copy.deepcopy(change.steps).items():
            for place in places:
                _STEPS[step](document, place, places[place] if isinstance(places, dict) else None)
    except (KeyError, IndexError, ValueError) as missing:
        raise SystemExit(f"openapi.yaml no longer has {missing}: adapt {change.words!r} in {FILE.name}") from None
    return document


def _set(document: Document, place: str, value: Any) -> None:
    holder, key = _holder(document, place)
    if key == "-":
        holder.append(value)
    else:
        holder[key] = value


def _remove(document: Document, place: str, _: None) -> None:
    holder, key = _holder(document, place)
    del holder[key]


def _rename(document: Document, place: str, name: str) -> None:
    holder, key = _holder(document, place)
    if key not in holder:
        raise KeyError(place)
    for each in list(holder):  # in its place
        holder[name if each == key else each] = holder.pop(each)


def _rename_schema(document: Document, old: str, new: str) -> None:
    document["components"]["schemas"][new] = document["components"]["schemas"].pop(old)
    for node in _writable(document):
        if node.get("$ref") == f"#/components/schemas/{old}":
            node["$ref"] = f"#/components/schemas/{new}"


def _remove_everywhere(document: Document, name: str, _: None) -> None:
    for node in _writable(document):
        node.pop(name, None)


_STEPS: Mapping[str, Callable[[Document, str, Any], None]] = {
    "set": _set,
    "remove": _remove,
    "rename": _rename,
    "rename schema": _rename_schema,
    "remove everywhere": _remove_everywhere,
}


def _holder(document: Document, place: str) -> tuple[Any, Any]:
    """Return what holds a place, and its key there."""
    keys = place.split()
    found: Any = document["components"] if keys[0] in COMPONENTS else document
    for key in keys[:-1]:
        found = found[int(key) if isinstance(found, list) else key]
    return found, int(keys[-1]) if isinstance(found, list) and keys[-1] != "-" else keys[-1]


def _writable(document: Document) -> Iterator[dict[str, Any]]:
    yield from (node for _, node in nodes(document) if isinstance(node, dict))
