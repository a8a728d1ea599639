"""A page that is read with its types checked gives the models that it gives when it is read as ever."""

import json
import random
import sys
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from itwin_platform._json import read_json
from itwin_platform._transports.decoding import typed_pages
from itwin_platform._transports.decoding.typed_pages import read_typed
from itwin_platform_api.models import ITwinsResponse

BODIES = 1_000

ITWIN: dict[str, Any] = {
    "id": "e97ad6bd-7e6d-4053-b317-18ec7d52a14f",
    "class": "Endeavor",
    "subClass": "Project",
    "type": None,
    "number": "PRO-000005",
    "displayName": 'Bâtiment n° 7, "as built" \\ null',
    "status": "Active",
    "geographicLocation": "Pune",
    "latitude": -8.390302607812188,
    "longitude": 177.34854565588665,
    "ianaTimeZone": None,
    "dataCenterLocation": "Central India",
    "parentId": "2094fbc3-1151-4350-aa62-429e1125bc6b",
    "iTwinAccountId": "cd6ccaaf-001b-4c40-ad52-0074f9c32de2",
    "imageName": "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b.png",
    "image": "https://images.example.com/a?sig=9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
    "createdDateTime": "2019-03-04T13:30:00.185Z",
    "createdBy": None,
    "lastModifiedDateTime": "2022-06-09T17:26:11.13",
    "lastModifiedBy": "ec1bc091-7bf5-4cf8-9b15-d1bb625ac677",
}
SUMMARY = ("id", "class", "subClass", "type", "number", "displayName", "status")
LINKS = {"self": {"href": "https://a.example/itwins/?$skip=0"}, "next": {"href": "https://a.example/itwins/?$skip=3"}}
#: JSON values that replace others.
VALUES = [
    *("null", "true", "false", "0", "-0", "7", "-0.0", "1.5", "48", "1e400", "1E2", "12345678901234567890", "NaN"),
    *("-9223372036854775809", "0.0012345678901234567", '""', '"x"', '"Paused"', '"active"', '"Account"', '"East US"'),
    *('"2015-11-05T19:10:42.9712696"', '"2025-05-04T04:14:08Z"', '"2025-05-04"', '"11/3/2023 8:07:01 PM"', '"24:00"'),
    *('"0001-01-01T00:00:00+14:00"', '"2025-05-04T04:14:08.1234567+05:30"', '"\\ud800"', '"\\u0041ctive"', '"\\u0000"'),
    *("[]", "{}", '["x"]', '{"href": "x"}', '{"a": {"b": [1]}}'),
]


def mutated(source: random.Random) -> bytes:
    """Return a page with some or many deviations from the description."""
    whole = ITWIN if source.random() < 0.7 else {name: ITWIN[name] for name in SUMMARY}
    items = [{name: json.dumps(value) for name, value in whole.items()} for _ in range(source.randrange(4))]
    page = {"iTwins": "", "_links": json.dumps(source.choice([LINKS, {}, {"self": LINKS["self"]}]))}
    for item in items:
        for _ in range(source.choice([0, 0, 1, 2])):
            name = source.choice([*ITWIN, "unknown", "\\u0069d", "Id"])
            if source.random() < 0.3:
                item.pop(name, None)
            else:
                item[name] = source.choice(VALUES)
    texts = [written(item, source) for item in items] + [source.choice(VALUES)] * (source.random() < 0.05)
    page["iTwins"] = source.choice(VALUES) if source.random() < 0.03 else f"[{', '.join(texts)}]"
    if source.random() < 0.2:
        page[source.choice(["_links", "more", "iTwins"])] = source.choice(VALUES)
    if source.random() < 0.05:
        page.pop(source.choice(list(page)))
    body = bytearray(written(page, source).encode("utf-8", "surrogatepass"))
    if source.random() < 0.1:
        at = source.randrange(len(body))
        body[at : at + source.randrange(3)] = source.choice(
            [b"", b"7", b"9" * 21, b".", b"e", b'"', b"-", b"\xff", b","]
        )
    return bytes(body)


def written(members: dict[str, str], source: random.Random) -> str:
    """Write an object, now and then with a member twice."""
    pairs = list(members.items())
    if pairs and source.random() < 0.05:
        pairs.append((source.choice(pairs)[0], source.choice(VALUES)))
    source.shuffle(pairs)
    return "{" + ", ".join(f'"{name}": {value}' for name, value in pairs) + "}"


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


def differences(count: int, seed: int) -> Iterator[tuple[bytes, bool]]:
    """Read bodies in both ways; give those that are read as something else, and whether each was read as typed."""
    source = random.Random(seed)  # noqa: S311  # the same bodies in each run
    for _ in range(count):
        body = mutated(source)
        typed = read_typed(body)
        if typed is None:
            yield b"", False
            continue
        try:
            value = read_json(body)
        except ValueError:
            value = None
        same = isinstance(value, dict) and shape(typed) == shape(ITwinsResponse.from_dict(value))
        yield (b"" if same else body), True


def test_a_typed_page_has_the_models_of_an_ordinary_one() -> None:
    """Typed decoding gives the same models as ordinary decoding, for pages with any deviation."""
    found = list(differences(BODIES, seed=15))
    assert [body for body, _ in found if body] == []
    typed = sum(is_typed for _, is_typed in found)
    assert BODIES / 5 < typed < BODIES * 4 / 5


@pytest.mark.parametrize("names", [tuple(ITWIN), SUMMARY], ids=["full", "minimal"])
def test_a_page_as_described_is_read_as_typed(names: tuple[str, ...]) -> None:
    """Pages of full and of minimal iTwins are decoded as typed pages."""
    items = [{name: ITWIN[name] for name in names}] * 3
    page = read_typed(json.dumps({"iTwins": items, "_links": LINKS}).encode())
    assert page is not None
    assert [itwin.number for itwin in page.itwins] == ["PRO-000005"] * 3


@pytest.fixture
def new_reader() -> Iterator[Callable[[], object]]:
    """Makes the reader anew, and again after the test."""
    typed_pages._reader.cache_clear()
    yield typed_pages._reader
    typed_pages._reader.cache_clear()


def test_without_msgspec_pages_go_the_ordinary_way(
    new_reader: Callable[[], object], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where the extra is not installed, no page is read as typed."""
    monkeypatch.setitem(sys.modules, "msgspec", None)
    assert new_reader() is None
    assert read_typed(b'{"iTwins": []}') is None


def test_a_field_of_a_new_kind_turns_the_quick_way_off(
    new_reader: Callable[[], object], monkeypatch: pytest.MonkeyPatch
) -> None:
    """After regenerating, a field of a kind that is not known here makes all pages go the ordinary way."""
    monkeypatch.delitem(typed_pages._KINDS, "float")
    assert new_reader() is None
