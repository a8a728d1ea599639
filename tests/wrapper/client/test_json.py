"""JSON is read and written as by the standard library; a value without a form in JSON is rejected."""

import json
import math
import sys
from datetime import UTC, datetime
from decimal import Decimal
from functools import reduce
from types import MappingProxyType
from typing import Any
from uuid import UUID

import httpx
import pytest
from hypothesis import example, given, strategies as st
from itwin_platform import UNSET, ITwinStatus, ResponseDecodeError, SceneObjectCreate, UsageError, View3dData
from itwin_platform_api.types import encode

from tests.support.examples import strings
from tests.wrapper.client.conftest import answering

INTEGERS = st.integers() | st.integers(min_value=-(2**70), max_value=2**70)
values = st.recursive(
    st.none() | st.booleans() | INTEGERS | st.floats() | st.text(st.characters(codec=None), max_size=12),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(strings(max_size=6), inner, max_size=4),
    max_leaves=12,
)


async def sent(value: object) -> Any:
    """Send a value in a body, and return it as the request has it."""
    client, requests = answering(lambda _: httpx.Response(201, json={"detector": {}}))
    async with client:
        await client.with_options(extra_body={"new": value}).detectors.create(name="n", type="t")
    assert requests[0].content.startswith(b'{"name":"n","type":"t","new":'), "without blanks"
    return json.loads(requests[0].content)["new"]


async def received(body: bytes) -> Any:
    """The property of a response."""
    client, _ = answering(lambda _: httpx.Response(200, content=body))
    async with client:
        return (await client.itwins.get_primary_account())["new"]


NUMBERS = b"12345678901234567890 -9223372036854775809 0.0012345678901234567 1e400 -0 -0.0 4.9e-324".split()
NUMBERS += b"-0.00000000000000000001234567890123456789 1234567890123456789012e-5 12345678901234567890.5".split()


@given(values.map(lambda value: json.dumps(value).encode()) | st.binary(max_size=40) | st.sampled_from(NUMBERS))
async def test_json_is_read_as_the_standard_library_reads_it(text: bytes) -> None:
    """NaN, integers of any length, digits and lone surrogates are kept; invalid JSON is a decode error."""
    body = b'{"iTwin": {"new": %s}}' % text
    try:
        expected = json.loads(body)["iTwin"]["new"]
    except ValueError:
        with pytest.raises(ResponseDecodeError):
            await received(body)
    else:
        assert repr(await received(body)) == repr(expected)


@given(values)
@example('the "null", [null]:null')
@example([None, "null", 2**70])
async def test_json_is_written_as_the_standard_library_writes_it(value: object) -> None:
    """A value is sent unchanged; a value without a form in JSON is rejected."""
    try:
        json.dumps(value, ensure_ascii=False, allow_nan=False).encode()
    except ValueError:
        with pytest.raises(UsageError):
            await sent(value)
    else:
        assert repr(await sent(value)) == repr(value)


class Name(str):  # noqa: SLOT000  # as callers write it
    """A string of a caller's own class."""


#: Values of all kinds that can be written.
WRITTEN: dict[str, object] = {
    "absent": View3dData.from_dict({"position": {"x": 1, "new": [{"a": UNSET}]}, "other": {"b": UNSET}}),
    "model": [SceneObjectCreate(kind="K", version="1", data={"at": datetime(2026, 1, 1, tzinfo=UTC)})],
    "enums": {"a": ITwinStatus.ACTIVE, ITwinStatus.TRIAL: ITwinStatus("Paused")},
    "id, tuple and subclass": {"id": UUID(int=7), "of": (1, [2]), "a": Name("b")},
    "mapping": MappingProxyType({"a": MappingProxyType({"b": UNSET, "c": 1})}),
    "keys": {1: "a", None: "b", 2.5: "d"},
    "null": {"a": None, "b": [None, 2.5, datetime(2026, 1, 1, tzinfo=UTC)], "c": (None, {"d": 1})},
}


@pytest.mark.parametrize("value", WRITTEN.values(), ids=WRITTEN)
async def test_models_are_written_as_their_wire_form(value: object) -> None:
    """A model, an enum or a time in a body is written as `encode` returns it, without UNSET."""
    assert await sent(value) == json.loads(json.dumps(encode(value)))


CIRCLE: list[object] = []
CIRCLE.append(CIRCLE)
# From Python 3.14 on, the json module goes as deep as the stack of the thread allows.
DEEP = reduce(lambda inner, _: [inner], range(100_000 if sys.version_info >= (3, 14) else 20_000), CIRCLE[:0])
NUMPY_BOOL = type("bool", (), {"__module__": "numpy", "__index__": lambda _: "no integer"})()
NO_JSON, TOO_DEEP = "cannot be serialized as JSON: ", "it is nested too deeply, or holds itself"
REJECTED: dict[str, tuple[object, str]] = {
    **{repr(value): ([{"b": value}], NO_JSON) for value in (math.nan, math.inf, {1, 2}, "\ud800", b"x", Decimal(1))},
    "infinity between nulls": ([{"a": "null", "b": ["x", [1.5, -math.inf]], "c": "null"}], NO_JSON),
    "nan in a mapping": ({"a": "null", "b": MappingProxyType({"c": math.nan})}, NO_JSON),
    "nan in a model": (View3dData.from_dict({"far": None, "near": math.nan}), f"extra_body.new.near {NO_JSON}"),
    "key": ({("a", "b"): 1}, NO_JSON),
    "an integer of 5,001 digits": ([10**5000], NO_JSON),
    "a time without a zone": (datetime(2026, 3, 1, 12), f"{NO_JSON}a datetime must be aware"),
    "unset in a list": ([UNSET], NO_JSON),
    # With its module, because numpy has a class `bool` too, and with the fix.
    "class": ([True, NUMPY_BOOL], rf"^extra_body.new\[1\] {NO_JSON}JSON has no numpy.bool: convert it to a str"),
    "circle": (CIRCLE, NO_JSON + TOO_DEEP),
    "the place is cut": (json.loads("[" * 30 + "NaN" + "]" * 30), rf"new(\[0\]){{19}} {NO_JSON}"),
    "deep": (DEEP, NO_JSON + TOO_DEEP),
}


@pytest.mark.parametrize(("value", "said"), REJECTED.values(), ids=REJECTED)
async def test_a_value_without_a_form_in_json_is_rejected(value: object, said: str) -> None:
    """A value that JSON does not have, and one that holds itself, is a UsageError that says where and why."""
    with pytest.raises(UsageError, match=said):
        await sent(value)
