"""A page that is read with its types checked gives the models that it gives when it is read as ever."""

import json
import random
import sys
from collections.abc import Iterator
from uuid import UUID

import pytest
from itwin_platform._json import read_json
from itwin_platform._requests import structures, typed_pages
from itwin_platform._requests.data_types import type_data
from itwin_platform._requests.typed_pages import learn_kinds, read_typed_itwins, read_typed_objects
from itwin_platform_api.models import ITwinsResponse, SceneObjectsResponse, View3dData, itwin

from tests.support.deviating_pages import CONTEXT, DATA, ITWIN, LINKS, OBJECT, SUMMARY, mutated

BODIES = 1_000


def shape(value: object) -> object:
    """Everything of a value that a caller can see: the types too, and of a model each field."""
    if hasattr(value, "__slots__") and hasattr(value, "wire_fields"):
        slots: tuple[str, ...] = vars(type(value))["__slots__"]
        fields = [name for name in slots if name != "__weakref__"]
        return type(value), [(name, shape(getattr(value, name))) for name in fields]
    if isinstance(value, dict):
        return dict, [(name, shape(item)) for name, item in value.items()]
    if isinstance(value, list):
        return list, [shape(item) for item in value]
    return type(value), repr(value)


def as_typed(name: str, body: bytes) -> object:
    """Read a page as typed; None where it cannot be."""
    return read_typed_itwins(body) if name == "iTwins" else read_typed_objects(body)


def as_ever(name: str, body: bytes) -> object:
    """Read a page in the ordinary way; None where it is not a JSON object."""
    try:
        value = read_json(body)
    except ValueError:
        return None
    if not isinstance(value, dict) or name == "iTwins":
        return ITwinsResponse.from_dict(value) if isinstance(value, dict) else None
    page = SceneObjectsResponse.from_dict(value)
    type_data(page.objects)
    learn_kinds(page.objects)
    return page


def differences(name: str, count: int, seed: int) -> Iterator[tuple[bytes, bool]]:
    """Read bodies in both ways; give those that are read as something else, and whether each was read as typed."""
    source = random.Random(seed)  # noqa: S311  # the same bodies in each run
    for _ in range(count):
        body = mutated(name, source)
        typed, ordinary = as_typed(name, body), as_ever(name, body)
        same = typed is None or shape(typed) == shape(ordinary)
        yield (b"" if same else body), typed is not None


@pytest.mark.usefixtures("new_readers")
@pytest.mark.parametrize("name", ["iTwins", "objects"])
def test_a_typed_page_has_the_models_of_an_ordinary_one(name: str) -> None:
    """Typed decoding gives the same models as ordinary decoding, for pages with any deviation."""
    found = list(differences(name, BODIES, seed=15))
    assert [body for body, _ in found if body] == []
    typed = sum(is_typed for _, is_typed in found)
    assert BODIES / 5 < typed < BODIES * 4 / 5


@pytest.mark.parametrize("names", [tuple(ITWIN), SUMMARY], ids=["full", "minimal"])
def test_a_page_as_described_is_read_as_typed(names: tuple[str, ...]) -> None:
    """Pages of full and of minimal iTwins are decoded as typed pages."""
    items = [{name: ITWIN[name] for name in names}] * 3
    page = read_typed_itwins(json.dumps({"iTwins": items, "_links": LINKS}).encode())
    assert page is not None
    assert [itwin.number for itwin in page.itwins] == ["PRO-000005"] * 3


def objects_page(*kinds: str) -> bytes:
    """Return a page of scene objects, and for a kind that is not known here the data of a layer."""
    items = [OBJECT | {"kind": kind, "data": DATA.get(kind, DATA["Layer"])} for kind in kinds]
    return json.dumps({"objects": items, "sceneContext": CONTEXT, "_links": LINKS}).encode()


@pytest.fixture
def new_readers() -> Iterator[None]:
    """Make the readers anew, and again after the test."""
    typed_pages._itwin_reader.cache_clear()
    typed_pages._object_reader.cache_clear()
    yield
    typed_pages._itwin_reader.cache_clear()
    typed_pages._object_reader.cache_clear()


@pytest.mark.usefixtures("new_readers")
def test_a_kind_is_learned_from_a_page_that_has_it() -> None:
    """A page of shown kinds is read as typed at once, and one of other kinds after another with them."""
    page = read_typed_objects(objects_page("View3d", "RepositoryResource"))
    assert page is not None
    assert type(page.objects[0].data) is View3dData
    mixed = objects_page("Layer", "View3d")
    assert read_typed_objects(mixed) is None
    as_ever("objects", mixed)
    learned = read_typed_objects(mixed)
    assert learned is not None
    assert [(type(each.data), each.kind) for each in learned.objects] == [(dict, "Layer"), (View3dData, "View3d")]


@pytest.mark.usefixtures("new_readers")
def test_the_kinds_that_are_learned_are_limited() -> None:
    """A service cannot fill the memory with kinds, however many and however long they are, nor with odd ones."""
    for kind in ("K" * 101, "\ud800", "Évo", *(f"Kind{number}" for number in range(40))):
        as_ever("objects", objects_page(kind))
    typed = [read_typed_objects(objects_page(f"Kind{number}")) is not None for number in range(40)]
    assert typed == [True] * 30 + [False] * 10
    assert read_typed_objects(objects_page("K" * 101)) is None


@pytest.mark.usefixtures("new_readers")
def test_without_msgspec_pages_go_the_ordinary_way(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the extra is not installed, no page is read as typed."""
    monkeypatch.setitem(sys.modules, "msgspec", None)
    assert read_typed_itwins(b'{"iTwins": []}') is None
    assert read_typed_objects(objects_page("View3d")) is None
    assert as_ever("objects", objects_page("View3d")) is not None


@pytest.mark.usefixtures("new_readers")
@pytest.mark.parametrize("kind", ["float", "datetime.datetime", "bool"])
def test_a_field_of_a_new_kind_turns_the_quick_way_off(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """After regenerating, a field of a kind that is not known here makes all pages go the ordinary way."""
    monkeypatch.delitem(structures.KINDS, kind)
    assert (read_typed_itwins(b'{"iTwins": []}') is None) == (kind != "bool")
    assert read_typed_objects(objects_page("View3d")) is None


@pytest.mark.usefixtures("new_readers")
def test_a_class_that_msgspec_may_read_otherwise_turns_the_quick_way_off(monkeypatch: pytest.MonkeyPatch) -> None:
    """A class is read as it is where it is an enum or a model: msgspec reads fewer forms of a UUID than the models."""
    monkeypatch.setitem(vars(itwin), "ITwinStatus", UUID)
    assert read_typed_itwins(b'{"iTwins": []}') is None
