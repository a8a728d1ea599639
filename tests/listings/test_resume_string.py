"""The string that continues a listing: complete, its own, and never trusted."""

import base64
import contextlib
import json
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given, strategies as st
from itwin_platform import UNSET, ITwinSubClass, PlatformClient, UsageError
from itwin_platform._listings.links import keyword_names
from itwin_platform._listings.resume import Position, TimeRange, read_resume, write_resume
from pytest_httpx import HTTPXMock

from tests.support.examples import strings

TEXTS = strings(max_size=8)
NAMES = st.sampled_from(["cursor", "$skiptoken", "a b", "é", "x"])
VALUES = st.text(st.characters(min_codepoint=33, max_codepoint=126, exclude_characters='"#&;'), max_size=8)
PLACES = st.dictionaries(st.sampled_from(["$skip", "$top"]), st.integers(0, 10**9).map(str))
TIMES = st.none() | st.datetimes(
    min_value=datetime(1, 1, 2),
    max_value=datetime(9999, 12, 30),
    timezones=st.just(UTC),
)
KEYWORDS = keyword_names("parentId", "iTwinAccountId", "$filter", "$orderby")
POSITIONS = st.builds(
    Position,
    query=st.none()
    | st.builds(lambda *parts: {**parts[0], **parts[1]}, PLACES, st.dictionaries(NAMES, VALUES))
    .filter(bool)
    .map(lambda pairs: tuple(pairs.items())),
    done=st.integers(0, 2000),
    items=st.integers(0, 2**70),
    last_modified=st.none() | TEXTS,
    range=st.none()
    | st.builds(TimeRange, since=TIMES, until=TIMES, timeless=st.booleans(), reached=TIMES, ties=st.integers(0, 2**40)),
    earlier=st.integers(0, 2**40),
)


def read(text: object, *, listing: str = "listing") -> Position:
    """Deserialize a position of the listing."""
    return read_resume(text, listing=listing, keywords=KEYWORDS)


def encoded(value: object) -> str:
    """Serialize any JSON as a position is serialized."""
    return base64.urlsafe_b64encode(json.dumps(value).encode()).decode().rstrip("=")


@given(POSITIONS, TEXTS)
def test_a_position_survives(position: Position, listing: str) -> None:
    """A position survives its string, which is safe in a URL, a file name and a cookie."""
    text = write_resume(position, listing=listing)
    assert read(text, listing=listing) == position
    assert text.replace("-", "").replace("_", "").isalnum()


@pytest.mark.parametrize(
    "text",
    [
        "",
        "x",
        "not ours",
        "é",
        "W10",
        "\ud800",
        None,
        7,
        b"W10",
        encoded(None),
        encoded(1),
        encoded("text"),
        encoded({"version": 1}),
        encoded([1]),
        encoded([2, "listing"]),
        encoded([2, "listing", None, 0, 0, None, None]),
        encoded([2, "listing", None, 0, 0, None, None, 0, None]),
        *(
            encoded([2, "listing", *fields])
            for fields in (
                (None, -1, 0, None, None, 0),
                (None, 0, -1, None, None, 0),
                (None, 0, 0, None, None, -1),
                (None, True, 0, None, None, 0),
                (None, 1.5, 0, None, None, 0),
                (None, 0, "0", None, None, 0),
                (None, 0, 0, 5, None, 0),
                *((query, 0, 0, None, None, 0) for query in ([], "query", {"$skip": "1"}, [["$skip"]], [["x", 1]])),
                *((query, 0, 0, None, None, 0) for query in ([[1, "x"]], [["x", "1", "2"]], [["\ud800", "x"]])),
                *((None, 0, 0, None, part, 0) for part in (5, [], [None, None], [None, None, 0, None, 0])),
                *((None, 0, 0, None, part, 0) for part in ([5, None, False, None, 0], [None, None, False, None, -1])),
                *((None, 0, 0, None, [time, None, False, None, 0], 0) for time in ("now", "2026-01-01T00:00:00")),
                (None, 0, 0, None, ["0001-01-01T00:00:00+14:00", None, False, None, 0], 0),
            )
        ),
        base64.urlsafe_b64encode(b'[2,"listing",null,1e400,0,null,null,0]').decode(),
        base64.urlsafe_b64encode(b"[" * 100_000).decode(),
        base64.urlsafe_b64encode(b"\xff\xfe").decode(),
        write_resume(Position(), listing="listing")[:-4],
        write_resume(Position(), listing="listing") + "!",
    ],
)
def test_strings_of_others_are_rejected(text: object) -> None:
    """What this client did not return is rejected with what to do, and nothing else is raised."""
    with pytest.raises(UsageError, match="not a string that this client returned: pass it on unchanged"):
        read(text)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        *(
            (name, "tenantB")
            for name in ("parentId", "PARENTID", "$parentid", " parentId", "iTwinAccountId", "$filter")
        ),
        *((name, "x") for name in ("filter", "$expand", "Select", "$orderBy")),
        *(("$skip", value) for value in ("", "-1", "many", "1&parentId=tenantB", "9" * 30)),
        *(("$top", value) for value in ("", "1;parentId=tenantB")),
        *(
            ("cursor", value)
            for value in ("x&parentId=tenantB", "x;parentId=tenantB", "x#", "x y", 'x"', "\u00e9", "\n")
        ),
    ],
)
def test_a_forged_string_carries_no_keyword(name: str, value: str) -> None:
    """A string with a parameter of the operation is rejected, however it is encoded."""
    with pytest.raises(UsageError, match="not a string that this client returned"):
        read(encoded([2, "listing", [[name, value]], 0, 0, None, None, 0]))


@pytest.mark.parametrize("query", [[["$skip", "1"], ["$skip", "2"]], [["$top", "1"], ["$top", "2"]]])
def test_a_forged_string_places_a_page_once(query: object) -> None:
    """Two offsets, of which the service might take either, are rejected."""
    with pytest.raises(UsageError, match="not a string that this client returned"):
        read(encoded([2, "listing", query, 0, 0, None, None, 0]))


def test_a_cursor_of_any_characters_survives() -> None:
    """A cursor of any characters survives the string; unescaped characters come back escaped."""
    position = Position(query=(("cursor", 'a;b "ü" c'),))
    assert read(write_resume(position, listing="listing")).query == (("cursor", "a%3Bb%20%22%C3%BC%22%20c"),)


async def test_a_forged_string_cannot_change_the_request(httpx_mock: HTTPXMock) -> None:
    """Only the position comes from the string; the keywords are those of the call."""
    httpx_mock.add_response(json={"iTwins": []}, is_reusable=True)
    async with PlatformClient("https://host.example", vendor="vendor", token="t") as platform:
        genuine = platform.itwins.list(parent_id="tenantA").resume
        version, name, *_ = json.loads(base64.urlsafe_b64decode(genuine + "==="))
        for forged in (["parentId", "tenantB"], ["parentid", "tenantB"], ["$filter", "x"], ["a", "b&parentId=tenantB"]):
            with pytest.raises(UsageError, match="not a string that this client returned"):
                platform.itwins.list(
                    parent_id="tenantA", resume=encoded([version, name, [forged], 0, 0, None, None, 0])
                )
        place = [["$skip", "5"], ["$top", "7"], ["cursor", "x"]]
        listing = platform.itwins.list(parent_id="tenantA", resume=encoded([version, name, place, 0, 0, None, None, 0]))
        await listing.collect()
    (request,) = httpx_mock.get_requests()
    assert request.url.params.multi_items() == [("parentId", "tenantA"), ("$skip", "5"), ("$top", "7"), ("cursor", "x")]


@given(strings(max_size=60) | st.recursive(st.none() | st.integers() | TEXTS, st.lists).map(encoded))
def test_no_string_breaks_the_reading(text: str) -> None:
    """Any string is a position or a UsageError."""
    with contextlib.suppress(UsageError):
        assert isinstance(read(text), Position)


def test_another_format_is_named() -> None:
    """A string of another version raises an error that says so."""
    with pytest.raises(UsageError, match=r"another format \(3\): start the listing anew"):
        read(encoded([3, "listing", "with", "fields", "of", "its", "own"]))


def test_another_listing_is_named() -> None:
    """A string of another operation says which."""
    text = write_resume(Position(), listing="list_scene_objects:0123456789abcdef")
    with pytest.raises(UsageError, match="belongs to another listing \\(list_scene_objects, or other keywords\\)"):
        read(text, listing="list_itwins:0123456789abcdef")


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ({}, {"status": UNSET}, True),
        ({"sub_class": "Project"}, {"sub_class": ITwinSubClass.PROJECT}, True),
        ({"sub_class": "Project"}, {"sub_class": [ITwinSubClass.PROJECT]}, True),
        ({"sub_class": ["Asset", "Project"]}, {"sub_class": frozenset({"Project", "Asset"})}, True),
        ({"sub_class": ["Asset", "Project"]}, {"sub_class": ["Project", "Asset"]}, False),
        ({"number": "UNSET"}, {"number": UNSET}, False),
        ({"number": "1"}, {"type": "1"}, False),
        ({"number": "1"}, {"number": "2"}, False),
        ({"number": "\ud800"}, {"number": "\ud801"}, False),
        ({"include_inactive": True}, {"include_inactive": False}, False),
    ],
)
async def test_which_keywords_are_the_same_listing(one: dict[str, Any], other: dict[str, Any], *, same: bool) -> None:
    """A listing is identified by its keywords, in any form."""
    async with PlatformClient("https://host.example", vendor="vendor", token="t") as platform:
        resume = platform.itwins.list(**one).resume
        with contextlib.nullcontext() if same else pytest.raises(UsageError, match="belongs to another listing"):
            platform.itwins.list(**other, resume=resume)


async def test_the_string_holds_no_host_token_or_keyword() -> None:
    """A string can be stored where addresses and tokens must not be."""
    async with PlatformClient("https://host.example/prefix", vendor="vendor", token="planted-secret") as platform:
        resume = platform.itwins.list(number="confidential").resume
    text = base64.urlsafe_b64decode(resume + "===").decode()
    assert not [word for word in ("host.example", "prefix", "vendor", "planted-secret", "confidential") if word in text]


@pytest.mark.parametrize(
    "keywords",
    [
        {"sub_class": "Asset"},
        {"skip": 1},
        {"page_size": 10},
        {"max_return": 10},
        {"representation": "full"},
        {"query_scope": "OrganizationAdmin"},
        {"order_by": "number"},
    ],
)
async def test_other_keywords_are_another_listing(keywords: dict[str, object]) -> None:
    """Whatever changes what is listed, or the pages, is another listing; limit and concurrency are not."""
    async with PlatformClient("https://host.example", vendor="vendor", token="t") as platform:
        resume = platform.itwins.list(sub_class="Project").resume
        platform.itwins.list(sub_class="Project", limit=5, concurrency=4, on_page=print, resume=resume)
        with pytest.raises(UsageError, match="only limit, concurrency, on_page and correlation_id may differ"):
            platform.itwins.list(**{"sub_class": "Project", "resume": resume, **keywords})  # type: ignore[arg-type]  # one of many keywords
