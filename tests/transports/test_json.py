"""JSON is read and written as the standard library reads and writes it."""

import json
import math

import pytest
from hypothesis import given, strategies as st
from itwin_platform import UsageError

from tests.support.examples import strings
from tests.support.faces import read_json, write_json

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


def same(one: object, other: object) -> bool:
    """Tell whether two values are the same in type and value, NaN included."""
    if isinstance(one, float) and isinstance(other, float):
        return one == other or (math.isnan(one) and math.isnan(other))
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(same, one, other))
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(same(one[key], other[key]) for key in one)
    return type(one) is type(other) and one == other


@given(values)
def test_a_body_is_read_as_the_standard_library_reads_it(value: object) -> None:
    """Whatever JSON can hold, NaN, long integers and lone surrogates included, is read alike."""
    body = json.dumps(value).encode()
    assert same(read_json(body), json.loads(body))


NUMBERS = [
    "12345678901234567890",
    "-9223372036854775809",
    "18446744073709551616",
    "123456789012345678901234567890",
    "0.0012345678901234567",
    "-0.00000000000000000001234567890123456789",
    "12345678901234567890.5",
    "1234567890123456789012e-5",
    "1e400",
    "-0",
    "-0.0",
    "9007199254740993.0",
    "4.9e-324",
]


@pytest.mark.parametrize("number", NUMBERS)
def test_a_number_keeps_its_type_and_its_digits(number: str) -> None:
    """Integers of any length stay integers, and floats are rounded as the standard library rounds them."""
    body = f'{{"a": [{number}], "b": {number}}}'.encode()
    assert same(read_json(body), json.loads(body))


@given(st.binary(max_size=40))
def test_what_is_not_json_is_rejected_alike(body: bytes) -> None:
    """Where the standard library rejects a body, so does the quick reader, and with a ValueError."""
    try:
        expected = json.loads(body)
    except ValueError:
        with pytest.raises(ValueError):  # noqa: PT011  # any ValueError is what callers catch
            read_json(body)
    else:
        assert same(read_json(body), expected)


def accepted(value: object) -> bool:
    """Tell whether the standard library writes a value as JSON that it reads."""
    try:
        json.dumps(value, ensure_ascii=False, allow_nan=False).encode()
    except ValueError:
        return False
    return True


@given(values)
def test_a_body_is_written_as_the_standard_library_writes_it(value: object) -> None:
    """What is written reads back the same, and what has no form in JSON is rejected."""
    if accepted(value):
        assert same(json.loads(write_json(value)), value)
    else:
        with pytest.raises(UsageError):
            write_json(value)
