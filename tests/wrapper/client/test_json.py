"""JSON is read and written as the standard library reads and writes it; what has no form in it is rejected."""

import json
import math
import sys
from datetime import UTC, datetime
from decimal import Decimal
from functools import reduce
from types import MappingProxyType
from uuid import UUID

import pytest
from hypothesis import given, strategies as st
from itwin_platform import UNSET, ITwinStatus, SceneObjectCreate, UsageError, View3dData
from itwin_platform._requests.request import write_json
from itwin_platform._requests.sender import read_json
from itwin_platform_api.types import encode

from tests.support.examples import strings

scalars = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.integers(min_value=-(2**70), max_value=2**70)
    | st.floats()
    | st.text(st.characters(codec=None), max_size=12)
)
values = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(strings(max_size=6), inner, max_size=4),
    max_leaves=12,
)


@given(values)
def test_a_body_is_read_and_written_as_the_standard_library_does(value: object) -> None:
    """NaN, long integers and lone surrogates are read alike; what has no form in JSON is not written."""
    body = json.dumps(value).encode()
    assert repr(read_json(body)) == repr(json.loads(body))
    try:
        json.dumps(value, ensure_ascii=False, allow_nan=False).encode()
    except ValueError:
        with pytest.raises(UsageError):
            write_json(value)
    else:
        assert repr(json.loads(write_json(value))) == repr(value)


NUMBERS = [
    *("12345678901234567890", "-9223372036854775809", "18446744073709551616", "123456789012345678901234567890"),
    *("0.0012345678901234567", "-0.00000000000000000001234567890123456789", "12345678901234567890.5"),
    *("1234567890123456789012e-5", "1e400", "-0", "-0.0", "9007199254740993.0", "4.9e-324"),
]


@pytest.mark.parametrize("number", NUMBERS)
def test_a_number_keeps_its_type_and_its_digits(number: str) -> None:
    """Integers of any length stay integers, and floats are rounded as the standard library rounds them."""
    body = f'{{"a": [{number}], "b": {number}}}'.encode()
    assert repr(read_json(body)) == repr(json.loads(body))


@given(st.binary(max_size=40))
def test_what_is_not_json_is_rejected_alike(body: bytes) -> None:
    """Where the standard library rejects a body, so does the quick reader, and with a ValueError."""
    try:
        expected = json.loads(body)
    except ValueError:
        with pytest.raises(ValueError):  # noqa: PT011  # any ValueError is what callers catch
            read_json(body)
    else:
        assert repr(read_json(body)) == repr(expected)


class Name(str):  # noqa: SLOT000  # as callers write it
    """A string of a caller's own class."""


#: Bodies of all that can be written.
BODIES: dict[str, object] = {
    "absent": View3dData.from_dict({"position": {"x": 1, "new": [{"a": UNSET}]}, "other": {"b": UNSET}}),
    "model": [SceneObjectCreate(kind="K", version="1", data={"at": datetime(2026, 1, 1, tzinfo=UTC)})],
    "enums": {"a": ITwinStatus.ACTIVE, ITwinStatus.TRIAL: ITwinStatus("Paused")},
    "id and tuple": {"id": UUID(int=7), "of": (1, [2])},
    "mapping": MappingProxyType({"a": MappingProxyType({"b": UNSET, "c": 1})}),
    "keys": {1: "a", None: "b", 2.5: "d"},
    "subclass": {"a": Name("b"), "c": 2**70},
    "null in a name": {"displayName": 'the "null", [null]:null', "far": 1.5},
    "null": {"a": None, "b": [None, 2.5, datetime(2026, 1, 1, tzinfo=UTC)], "c": (None, {"d": 1})},
    "null in a model": View3dData.from_dict({"position": {"x": 1.25}, "far": None}),
    "null alone": None,
}


@pytest.mark.parametrize("body", BODIES.values(), ids=BODIES)
def test_models_are_written_as_their_wire_form(body: object) -> None:
    """Wherever a model, an enum or a time stands in a body, it is written as `encode` gives it, UNSET omitted."""
    assert json.loads(write_json(body)) == json.loads(json.dumps(encode(body)))


CIRCLE: list[object] = []
CIRCLE.append(CIRCLE)
# From Python 3.14 on, the json module goes as deep as the stack of the thread allows.
DEEP = reduce(lambda inner, _: [inner], range(100_000 if sys.version_info >= (3, 14) else 20_000), CIRCLE[:0])
REJECTED: dict[str, object] = {
    **{repr(value): {"a": [{"b": value}]} for value in (math.nan, math.inf, {1, 2}, "\ud800", b"x", Decimal(1))},
    "nan alone": math.nan,
    "infinity alone": -math.inf,
    "nan behind a string": {"a": "null", "b": math.nan},
    "nan in a list": [1.5, math.nan],
    "infinity beside null": [{"a": None, "b": ("x", [1.5, -math.inf])}],
    "nan in a mapping": {"a": None, "b": MappingProxyType({"c": math.nan})},
    "nan in a model": View3dData.from_dict({"far": None, "near": math.nan}),
    "key": {("a", "b"): 1},
    "object": {"a": object()},
    "unset in a list": {"a": [UNSET]},
}


@pytest.mark.parametrize("value", REJECTED.values(), ids=REJECTED)
def test_what_json_does_not_have_is_rejected(value: object) -> None:
    """A value that JSON does not have is a UsageError."""
    with pytest.raises(UsageError, match="cannot be serialized as JSON"):
        write_json(value)


def test_an_error_names_the_class_of_what_json_does_not_have() -> None:
    """With its module, because numpy has a class `bool` too; and what to do."""
    found = type("bool", (), {"__module__": "numpy", "__index__": lambda _: "no integer"})()
    with pytest.raises(UsageError, match=r"^json.a\[1\] cannot .*: JSON has no numpy.bool: convert it to a str"):
        write_json({"a": [True, found]}, name="json")


@pytest.mark.parametrize("value", [CIRCLE, DEEP], ids=["circle", "deep"])
def test_a_body_that_holds_itself_is_rejected(value: object) -> None:
    """So is one that is nested without end: a UsageError, and not the interpreter's own error of recursion."""
    with pytest.raises(UsageError, match="nested too deeply, or holds itself"):
        write_json(value)


def test_a_fault_is_named_up_to_twenty_levels_inside() -> None:
    """A longer name would help nobody."""
    value: object = object()
    for _ in range(25):
        value = [value]
    with pytest.raises(UsageError, match="cannot be serialized as JSON") as raised:
        write_json(value, name="extra_body")
    assert raised.value.argument == "extra_body" + "[0]" * 20
