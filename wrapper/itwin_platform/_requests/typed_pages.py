"""Pages read with msgspec, which checks the types while it parses: much faster where they are as described.

A page that differs in anything - an unknown field, a value that an enum does not list, another type - is not read here,
and nothing of it is lost: it goes the ordinary way.
"""

from collections.abc import Callable, Iterable
from functools import cache
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any

from .. import _api
from .._api import UNSET
from .data_types import DATA_TYPES
from .structures import Structure, model_maker, structure_of, wire_names

if TYPE_CHECKING:
    # A model costs about a millisecond of import, so each is imported when it is needed.
    from .._api import ITwinsResponse, SceneObjectsResponse

#: How many kinds of scene objects are learned, and how long the name of one may be: a service may send any.
MOST_KINDS, LONGEST_KIND = 32, 100


def read_typed_itwins(body: bytes) -> "ITwinsResponse | None":
    """Decode a page of iTwins that is as described; None for any other, and where msgspec is not installed."""
    read = _itwin_reader()
    page: ITwinsResponse | None = None if read is None else read(body)
    return page


def read_typed_objects(body: bytes) -> "SceneObjectsResponse | None":
    """Decode a page of scene objects that is as described, their data too; None as for a page of iTwins."""
    reader = _object_reader()
    page: SceneObjectsResponse | None = None if reader is None else reader.read(body)
    return page


def learn_kinds(items: object) -> None:
    """Let later pages hold the kinds of these scene objects, whose data then stays a dict."""
    reader = _object_reader()
    if reader is not None and isinstance(items, list):
        kinds = {item.kind for item in items if isinstance(item, _api.SceneObject) and isinstance(item.kind, str)}
        reader.learn(kinds)


@cache
def _itwin_reader() -> Callable[[bytes], Any] | None:
    try:
        msgspec = import_module("msgspec")
        structure = structure_of(msgspec, _api.ITwin)
    except (ImportError, KeyError):
        return None
    return _page_reader(msgspec, _api.ITwinsResponse, "itwins", [structure])


@cache
def _object_reader() -> "ObjectReader | None":
    try:
        return ObjectReader(import_module("msgspec"))
    except (ImportError, KeyError):
        return None


class ObjectReader:
    """Reads pages of scene objects, whose `kind` tells what `data` holds.

    msgspec has to know the kinds beforehand. Those that the description does not show are learned from pages that were
    read in the ordinary way.

    Raises:
        KeyError: a field has a type that is not known.
    """

    def __init__(self, msgspec: ModuleType) -> None:
        self._msgspec = msgspec
        self._structures = {
            kind: self._structure(kind, structure_of(msgspec, getattr(_api, name))) for kind, name in DATA_TYPES.items()
        }
        self.read = self._reader()

    def learn(self, kinds: Iterable[str]) -> None:
        """Read pages with these kinds from now on."""
        new = [kind for kind in kinds if kind not in self._structures and kind.isascii() and len(kind) <= LONGEST_KIND][
            : MOST_KINDS - len(self._structures)
        ]
        if new:
            self._structures.update((kind, self._structure(kind, Any)) for kind in new)
            self.read = self._reader()

    def _structure(self, kind: str, data: Any) -> Structure:
        return structure_of(self._msgspec, _api.SceneObject, given={"data": data}, tag=("kind", kind))

    def _reader(self) -> Callable[[bytes], Any]:
        return _page_reader(self._msgspec, _api.SceneObjectsResponse, "objects", [*self._structures.values()])


def _page_reader(
    msgspec: ModuleType, response: type[Any], items: str, structures: list[Structure]
) -> Callable[[bytes], Any]:
    """Return what reads a page whose items have these structures; it returns None for any other page."""
    union: Any = structures[0].struct
    for structure in structures[1:]:
        union |= structure.struct
    names = wire_names(response)
    others = {wire: name for name, wire in names.items() if name != items}
    page = msgspec.defstruct(
        response.__name__,
        [(items, list.__class_getitem__(union)), *((name, Any, UNSET) for name in others.values())],
        rename=names,
        forbid_unknown_fields=True,
    )
    decode = msgspec.json.Decoder(page).decode
    makers = {structure.struct: model_maker(structure) for structure in structures}

    def read(body: bytes) -> Any:
        try:
            found = decode(body)
        except (ValueError, RecursionError):
            return None
        parsed = response.from_dict({names[items]: [], **{wire: getattr(found, others[wire]) for wire in others}})
        setattr(parsed, items, [makers[values.__class__](values) for values in getattr(found, items)])
        return parsed

    return read
