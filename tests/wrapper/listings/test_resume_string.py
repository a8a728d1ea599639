"""The `resume` string: complete, for one listing, and never trusted."""

import base64
import contextlib
import json
from collections.abc import Iterator
from contextlib import aclosing
from typing import Any

import pytest
from hypothesis import given, strategies as st
from itwin_platform import UNSET, ITwinSubClass, PlatformClient, UsageError

from tests.support.calls import ITWINS_PER_PAGE
from tests.support.examples import strings
from tests.wrapper.listings.conftest import ITWIN, SCENE, linked

ITWINS = linked(None).platform.itwins


def encoded(value: object) -> str:
    """Serialize any JSON as a position is serialized."""
    return base64.urlsafe_b64encode(json.dumps(value).encode()).decode().rstrip("=")


def decoded(text: str) -> Any:
    """Deserialize a position."""
    return json.loads(base64.urlsafe_b64decode(text + "==="))


GENUINE = ITWINS.list(parent_id="tenantA").resume
LISTING, POSITION = decoded(GENUINE)


@pytest.mark.parametrize(
    "text",
    [
        *("", "not ours", "é", "\ud800", 7, b"W10", GENUINE[:-4], GENUINE + "!!!!"),
        *(encoded(value) for value in (None, {"version": 1}, [0], [LISTING], [1, POSITION], [LISTING, [0]])),
        encoded([LISTING, POSITION, POSITION]),
        *(base64.urlsafe_b64encode(text).decode() for text in (b'["a", [1e400]]', b"[" * 100_000, b"\xff\xfe")),
    ],
)
def test_strings_of_others_are_rejected(text: Any) -> None:
    """A string of another origin is a UsageError that says to pass the string unchanged."""
    with pytest.raises(UsageError, match="not a string that this client returned: pass it unchanged") as caught:
        ITWINS.list(parent_id="tenantA", resume=text)
    assert caught.value.argument == "resume"


@given(strings(max_size=60) | st.recursive(st.none() | st.integers() | strings(max_size=8), st.lists).map(encoded))
def test_no_string_breaks_the_reading(text: str) -> None:
    """Any string continues the listing, or is a UsageError."""
    with contextlib.suppress(UsageError):
        ITWINS.list(parent_id="tenantA", resume=text)


def forged(value: object, put: object) -> Iterator[object]:
    """The value with each of its scalars in turn replaced."""
    if not isinstance(value, list):
        yield put
        return
    for index, item in enumerate(value):
        yield from ([*value[:index], each, *value[index + 1 :]] for each in forged(item, put))


#: Cursors with a parameter of the operation, or with an offset beside their own, in any encoding.
CURSORS = [
    *(f"{name}=tenantB" for name in ("parentId", "PARENTID", "$parentid", "+parentId", "%70arentId", "a=b&parentId")),
    *("iTwinAccountId=x", "$filter=x", "filter=x", "$expand=x", "Select=x", "$orderBy=x", "$skip=", "%24top=1"),
    *("a=b;parentId=tenantB", "a=b#", "a=b c", 'a="', "a=\u00e9", "a=\n", "%ff=1", "a=\ud800", "&a=b"),
]
TIMES = ["now", "2026-01-01T00:00:00", "2026-01-01T00:00:00+14:00"]
#: A forged value, and the number of positions that accept it: a text as the last modification, and as a cursor.
FORGED: list[tuple[Any, int]] = [(-1, 0), (1.5, 0), ([], 0), ({}, 0)]
FORGED += [*((text, 1) for text in CURSORS), *((text, 2) for text in TIMES)]


@pytest.mark.parametrize(("put", "places"), FORGED, ids=ascii)
async def test_a_forged_string_changes_the_position_only(put: object, places: int) -> None:
    """No text of a forged string becomes a parameter of the operation or another time range."""
    service = linked("?$skip=7&$top=5&cursor=a", None)
    page = await service.platform.itwins.list(parent_id="tenantA").first_page()
    identity, position = decoded(page.resume or "")
    for each in forged(position, put):
        with contextlib.suppress(UsageError):
            await service.platform.itwins.list(parent_id="tenantA", resume=encoded([identity, each])).collect()
    queries = service.queries[1:]
    assert len(queries) <= places
    assert {*queries} <= {f"parentId=tenantA&$skip=7&$top=5&{cursor}" for cursor in ("cursor=a", *TIMES)}


async def test_a_cursor_of_any_characters_survives() -> None:
    """A cursor of any characters is kept in a string that is safe in a URL, a file name and a cookie."""
    service = linked('?cursor=a;b "ü" <c>~~~', "?cursor=z", None)
    async with aclosing(service.platform.itwins.list().pages()) as pages:
        resume = (await anext(pages)).resume
    assert resume is not None
    assert resume.replace("-", "").replace("_", "").isalnum()
    await service.platform.itwins.list(resume=resume).collect()
    assert service.queries[1] == f"$top={ITWINS_PER_PAGE}&cursor=a%3Bb%20%22%C3%BC%22%20%3Cc%3E~~~"


SAME: list[tuple[dict[str, Any], dict[str, Any]]] = [
    ({}, {"status": UNSET}),
    ({"sub_class": "Project"}, {"sub_class": [ITwinSubClass.PROJECT]}),
    ({"sub_class": ["Asset", "Project"]}, {"sub_class": frozenset({"Project", "Asset"})}),
    ({"type": "1"}, {"type": "1", "limit": 5, "concurrency": 4, "on_page": print}),
]
OTHER: list[tuple[dict[str, Any], dict[str, Any]]] = [
    ({"sub_class": ["Asset", "Project"]}, {"sub_class": ["Project", "Asset"]}),
    *(({"number": "1"}, {name: value}) for name, value in (("type", "1"), ("number", "2"), ("number", UNSET))),
    ({"include_inactive": True}, {"include_inactive": False}),
    *(({}, {name: 1}) for name in ("skip", "page_size", "max_return")),
    *(({}, {name: "full"}) for name in ("representation", "query_scope", "order_by")),
]


@pytest.mark.parametrize(("one", "other"), [*SAME, *OTHER])
def test_which_keywords_are_the_same_listing(one: dict[str, Any], other: dict[str, Any]) -> None:
    """A resume string belongs to the keywords that change the items or the pages."""
    resume, said = ITWINS.list(**one).resume, "belongs to another listing .*: pass the keywords"
    with pytest.raises(UsageError, match=said) if (one, other) in OTHER else contextlib.nullcontext():
        ITWINS.list(**other, resume=resume)


async def test_the_string_holds_no_host_token_or_keyword() -> None:
    """A resume string has no host, token or keyword."""
    async with PlatformClient("https://host.example/prefix", vendor="vendor", token="planted-secret") as platform:
        itwins, objects = platform.itwins, platform.scenes.list_objects(SCENE, ITWIN)
        pagers = itwins.list(number="confidential"), itwins.list_all(filter="confidential"), objects
    text = "".join(base64.urlsafe_b64decode(pager.resume + "===").decode() for pager in pagers)
    # Neither the words above nor another digest, with which the strings in use would be rejected.
    at = ",[null,0,0,0,null,[null,null,true,null,0]]]"
    first, second = '["list_itwins:5894e5effaef477b"', '["list_all_itwins:createdDateTime:b698323639c710b9"'
    assert text == first + at + second + at + '["list_scene_objects:c3e476f640e48ef8"' + at
