"""The string that continues a listing: complete, its own, and never trusted."""

import base64
import contextlib
import json
from contextlib import aclosing
from typing import Any

import pytest
from hypothesis import given, strategies as st
from itwin_platform import UNSET, ITwinSubClass, PlatformClient, UsageError

from tests.support.calls import ITWINS_PER_PAGE
from tests.support.examples import strings
from tests.wrapper.listings.conftest import linked

ITWINS = linked(None).platform.itwins


def resumed(text: Any) -> None:
    """Continue a listing of the children of tenantA."""
    ITWINS.list(parent_id="tenantA", resume=text)


def encoded(value: object) -> str:
    """Serialize any JSON as a position is serialized."""
    return base64.urlsafe_b64encode(json.dumps(value).encode()).decode().rstrip("=")


GENUINE = ITWINS.list(parent_id="tenantA").resume
LISTING, START = json.loads(base64.urlsafe_b64decode(GENUINE + "==="))
#: The values in a string, in their order.
POSITION: dict[str, Any] = dict(
    zip(("request", "done", "items", "received", "last_modified", "range"), START, strict=True)
)
REQUEST = {"skip": None, "top": None, "cursor": ""}
RANGE = {"since": None, "until": None, "timeless": True, "reached": None, "ties": 0}


def forged(**fields: Any) -> str:
    """A string of this listing with other fields."""
    inner: dict[str, dict[str, Any]] = {"request": REQUEST, "range": RANGE}
    values = {
        name: [*(inner[name] | value).values()] if isinstance(value, dict) else value for name, value in fields.items()
    }
    return encoded([LISTING, [*(POSITION | values).values()]])


#: Cursors with a parameter of the operation, or with an offset beside their own, in any encoding.
CURSORS = [
    *(f"{name}=tenantB" for name in ("parentId", "PARENTID", "$parentid", "+parentId", "%70arentId")),
    *("iTwinAccountId=x", "$filter=x", "filter=x", "$expand=x", "Select=x", "$orderBy=x", "a=b&parentId=tenantB"),
    *("$skip=1", "$top=1", "%24top=1", "$skip=", "a=b;parentId=tenantB", "a=b#", "a=b c"),
    *('a="', "a=\u00e9", "a=\n", "%ff=1", "a=\ud800", "&a=b"),
]


@pytest.mark.parametrize(
    "text",
    [
        *("", "x", "not ours", "é", "W10", "\ud800", 7, b"W10", GENUINE[:-4], GENUINE + "!"),
        *(encoded(value) for value in (None, 1, "text", {"version": 1}, [0], [1], [LISTING], [1, START])),
        *(encoded([LISTING, fields]) for fields in (None, 5, [0], "text")),
        encoded([LISTING, START, START]),
        *(forged(done=value) for value in (-1, True, 1.5, "0", None)),
        *(forged(**{name: -1}) for name in ("items", "received", "last_modified")),
        *(forged(request=value) for value in (5, {"skip": -1}, {"top": "1"}, {"cursor": 1})),
        *(forged(range=value) for value in (5, {"ties": -1}, {"timeless": 0}, {"since": 5}, {"since": "now"})),
        *(forged(range={"until": f"2026-01-01T00:00:00{zone}"}) for zone in ("", "+14:00")),
        base64.urlsafe_b64encode(f'["{LISTING}", [null, 1e400]]'.encode()).decode(),
        base64.urlsafe_b64encode(b"[" * 100_000).decode(),
        base64.urlsafe_b64encode(b"\xff\xfe").decode(),
        *(forged(request={"cursor": cursor}) for cursor in CURSORS),
    ],
)
def test_strings_of_others_are_rejected(text: object) -> None:
    """What this client did not return is rejected with what to do, and nothing else is raised."""
    with pytest.raises(UsageError, match="not a string that this client returned: pass it on unchanged") as caught:
        resumed(text)
    assert caught.value.argument == "resume"


async def test_a_forged_string_changes_the_position_only() -> None:
    """Only the position comes from the string; the keywords are those of the call."""
    service = linked(None)
    text = forged(request={"skip": 5, "top": 7, "cursor": "cursor=x"})
    await service.platform.itwins.list(parent_id="tenantA", resume=text).collect()
    assert service.queries == ["parentId=tenantA&$skip=5&$top=7&cursor=x"]


async def test_a_cursor_of_any_characters_survives() -> None:
    """A cursor survives the string, which is safe in a URL, a file name and a cookie; some characters are escaped."""
    service = linked('?cursor=a;b "ü" c', "?cursor=z", None)
    async with aclosing(service.platform.itwins.list().pages()) as pages:
        resume = (await anext(pages)).resume
    assert resume is not None
    assert resume.replace("-", "").replace("_", "").isalnum()
    await service.platform.itwins.list(resume=resume).collect()
    assert service.queries[1] == f"$top={ITWINS_PER_PAGE}&cursor=a%3Bb%20%22%C3%BC%22%20c"


@given(strings(max_size=60) | st.recursive(st.none() | st.integers() | strings(max_size=8), st.lists).map(encoded))
def test_no_string_breaks_the_reading(text: str) -> None:
    """Any string continues the listing, or is a UsageError."""
    with contextlib.suppress(UsageError):
        resumed(text)


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ({}, {"status": UNSET}, True),
        ({"sub_class": "Project"}, {"sub_class": ITwinSubClass.PROJECT}, True),
        ({"sub_class": "Project"}, {"sub_class": [ITwinSubClass.PROJECT]}, True),
        ({"sub_class": ["Asset", "Project"]}, {"sub_class": frozenset({"Project", "Asset"})}, True),
        ({"type": "1"}, {"type": "1", "limit": 5, "concurrency": 4, "on_page": print}, True),
        ({"sub_class": ["Asset", "Project"]}, {"sub_class": ["Project", "Asset"]}, False),
        ({"number": "UNSET"}, {"number": UNSET}, False),
        ({"number": "1"}, {"type": "1"}, False),
        ({"number": "1"}, {"number": "2"}, False),
        ({"include_inactive": True}, {"include_inactive": False}, False),
        ({}, {"skip": 1}, False),
        ({}, {"page_size": 10}, False),
        ({}, {"max_return": 10}, False),
        ({}, {"representation": "full"}, False),
        ({}, {"query_scope": "OrganizationAdmin"}, False),
        ({}, {"order_by": "number"}, False),
    ],
)
def test_which_keywords_are_the_same_listing(one: dict[str, Any], other: dict[str, Any], *, same: bool) -> None:
    """A listing is identified by its keywords in any form: by whatever changes what is listed, or the pages."""
    resume, said = ITWINS.list(**one).resume, "belongs to another listing .*: pass the keywords"
    with contextlib.nullcontext() if same else pytest.raises(UsageError, match=said):
        ITWINS.list(**other, resume=resume)


async def test_the_string_holds_no_host_token_or_keyword() -> None:
    """A string can be stored where addresses and tokens must not be."""
    async with PlatformClient("https://host.example/prefix", vendor="vendor", token="planted-secret") as platform:
        resume = platform.itwins.list(number="confidential").resume
    text = base64.urlsafe_b64decode(resume + "===").decode()
    assert not [word for word in ("host.example", "prefix", "vendor", "planted-secret", "confidential") if word in text]
