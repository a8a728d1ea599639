"""The text that says where a listing goes on: whole, its own, and without anything that it must not hold."""

import asyncio
import base64
import contextlib
import json
import os
import subprocess
import sys

import pytest
from hypothesis import given, strategies as st
from itwin_platform import UNSET, ITwinSubClass, PlatformClient, UsageError
from itwin_platform._listings.resume import Position, fingerprint, read_resume, write_resume

TEXTS = st.text(max_size=8)
POSITIONS = st.builds(
    Position,
    query=st.none() | st.lists(st.tuples(TEXTS, TEXTS), min_size=1, max_size=4).map(tuple),
    done=st.integers(0, 2000),
    items=st.integers(0, 2**70),
    last_modified=st.none() | TEXTS,
)


def encoded(value: object) -> str:
    """Writes any JSON as a resume text is written."""
    return base64.urlsafe_b64encode(json.dumps(value).encode()).decode().rstrip("=")


@given(POSITIONS, TEXTS)
def test_a_position_survives(position: Position, listing: str) -> None:
    """What is read is what was written, and the text can stand in an address, a file name, a cookie."""
    text = write_resume(position, listing=listing)
    assert read_resume(text, listing=listing) == position
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
        encoded([1, "listing"]),
        encoded([1, "listing", None, 0, 0]),
        encoded([1, "listing", None, 0, 0, None, None]),
        encoded([1, "listing", None, -1, 0, None]),
        encoded([1, "listing", None, 0, -1, None]),
        encoded([1, "listing", None, True, 0, None]),
        encoded([1, "listing", None, 1.5, 0, None]),
        encoded([1, "listing", None, 0, "0", None]),
        encoded([1, "listing", None, 0, 0, 5]),
        encoded([1, "listing", [], 0, 0, None]),
        encoded([1, "listing", "query", 0, 0, None]),
        encoded([1, "listing", {"$skip": "1"}, 0, 0, None]),
        encoded([1, "listing", [["$skip"]], 0, 0, None]),
        encoded([1, "listing", [["$skip", 1]], 0, 0, None]),
        encoded([1, "listing", [["$skip", "1", "2"]], 0, 0, None]),
        base64.urlsafe_b64encode(b'[1,"listing",null,1e400,0,null]').decode(),
        base64.urlsafe_b64encode(b"[" * 100_000).decode(),
        base64.urlsafe_b64encode(b"\xff\xfe").decode(),
        write_resume(Position(), listing="listing")[:-4],
        write_resume(Position(), listing="listing") + "!",
    ],
)
def test_texts_of_others_are_refused(text: object) -> None:
    """What this client did not write is refused with what to do, and nothing else is raised."""
    with pytest.raises(UsageError, match="not a text that this client wrote: pass it on unchanged"):
        read_resume(text, listing="listing")


@given(st.text(max_size=60) | st.recursive(st.none() | st.integers() | TEXTS, st.lists).map(encoded))
def test_no_text_breaks_the_reading(text: str) -> None:
    """Any text is a position or a UsageError."""
    with contextlib.suppress(UsageError):
        assert isinstance(read_resume(text, listing="listing"), Position)


def test_another_format_is_named() -> None:
    """A text of a later version says that it is one, whatever else it holds."""
    with pytest.raises(UsageError, match=r"another format \(2\): start the listing anew"):
        read_resume(encoded([2, "listing", "with", "fields", "of", "its", "own"]), listing="listing")


def test_another_listing_is_named() -> None:
    """A text of another operation says which."""
    text = write_resume(Position(), listing=fingerprint("list_scene_objects", {}))
    with pytest.raises(UsageError, match="belongs to another listing \\(list_scene_objects, or other keywords\\)"):
        read_resume(text, listing=fingerprint("list_itwins", {}))


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ({"a": "1", "b": "2"}, {"b": "2", "a": "1"}, True),
        ({"a": "1"}, {"a": "1", "b": UNSET}, True),
        ({"a": "Project"}, {"a": ITwinSubClass.PROJECT}, True),
        ({"a": ["Project"]}, {"a": [ITwinSubClass.PROJECT]}, True),
        ({"a": "UNSET"}, {"a": UNSET}, False),
        ({"a": "1"}, {"a": 1}, False),
        ({"a": "1"}, {"a": "2"}, False),
        ({"a": True}, {"a": False}, False),
        ({"a": ["1", "2"]}, {"a": ["2", "1"]}, False),
        ({"a": "\ud800"}, {"a": "\ud801"}, False),
    ],
)
def test_which_keywords_are_the_same_listing(one: dict[str, object], other: dict[str, object], *, same: bool) -> None:
    """A listing is known by the keywords that were given, in whatever form or order."""
    assert (fingerprint("list", one) == fingerprint("list", other)) is same


async def test_neither_host_nor_token_nor_keywords_stand_in_it() -> None:
    """A text can be stored where addresses and tokens must not be."""
    async with PlatformClient("https://host.example/prefix", vendor="vendor", token="planted-secret") as platform:
        resume = platform.itwins.list(number="confidential").resume
    text = base64.urlsafe_b64decode(resume + "===").decode()
    assert not [word for word in ("host.example", "prefix", "vendor", "planted-secret", "confidential") if word in text]


#: Sets are in another order with each seed.
SEEDED = os.environ | {"PYTHONHASHSEED": "1"}


async def test_another_process_knows_the_listing() -> None:
    """A listing has the same name in every process, given by sets too: nothing in it depends on the run of Python."""
    code = (
        "from itwin_platform import PlatformClient\n"
        "platform = PlatformClient('https://other.example', vendor='v', token='t')\n"
        "print(platform.itwins.list(sub_class={'Project', 'Asset', 'Road'}, select={'id', 'type', 'number'}).resume)"
    )
    command = [sys.executable, "-c", code]
    ended = await asyncio.to_thread(
        subprocess.run, command, env=SEEDED, capture_output=True, text=True, check=True, timeout=60
    )
    async with PlatformClient("https://host.example", vendor="vendor", token="t") as platform:
        values = {"sub_class": {ITwinSubClass.PROJECT, "Road", "Asset"}, "select": {"type", "number", "id"}}
        platform.itwins.list(**values, resume=ended.stdout.strip())  # type: ignore[arg-type]  # handed on as they are


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
    """Whatever changes what is listed, or the pages, makes the text another's; limit and concurrency do not."""
    async with PlatformClient("https://host.example", vendor="vendor", token="t") as platform:
        resume = platform.itwins.list(sub_class="Project").resume
        platform.itwins.list(sub_class="Project", limit=5, concurrency=4, on_page=print, resume=resume)
        with pytest.raises(UsageError, match="only limit, concurrency, on_page and correlation_id may differ"):
            platform.itwins.list(**{"sub_class": "Project", "resume": resume, **keywords})  # type: ignore[arg-type]  # one of many keywords
