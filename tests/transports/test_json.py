"""JSON is read and written the same with orjson and without it."""

import importlib.util
import json
import math
import sys
from datetime import UTC, datetime
from types import MappingProxyType
from typing import Any
from uuid import UUID

import pytest
from hypothesis import given, strategies as st
from itwin_platform import UNSET, ITwinStatus, SceneObjectCreate, UsageError, View3dData, _json
from itwin_platform_api.types import encode

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
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=6), inner, max_size=4),
    max_leaves=12,
)


@pytest.fixture
def without_orjson(monkeypatch: pytest.MonkeyPatch) -> None:
    """Reads and writes as where the extra is not installed."""
    monkeypatch.setattr(_json, "orjson", None)


def test_orjson_is_what_is_tested_here() -> None:
    """The comparisons below compare two readers, because orjson is installed."""
    assert _json.orjson is not None


def same(one: object, other: object) -> bool:
    """Tells whether two values are the same in type and value, NaN included."""
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
    assert same(_json.read_json(body), json.loads(body))


@given(st.binary(max_size=40))
def test_what_is_not_json_is_refused_alike(body: bytes) -> None:
    """Where the standard library refuses a body, so does the quick reader, and with a ValueError."""
    try:
        expected = json.loads(body)
    except ValueError:
        with pytest.raises(ValueError):  # noqa: PT011  # any ValueError is what callers catch
            _json.read_json(body)
    else:
        assert same(_json.read_json(body), expected)


@given(values)
def test_a_body_is_written_alike(value: object) -> None:
    """What is written reads back the same with and without orjson, and both refuse the same values."""
    outcomes: list[Any] = []
    quick = _json.orjson
    for reader in (quick, None):
        _json.orjson = reader
        try:
            outcomes.append(json.loads(_json.write_json(value)))
        except UsageError as error:
            outcomes.append(str(error))
        finally:
            _json.orjson = quick
    assert same(*outcomes)


REFUSED = [
    pytest.param({"a": math.nan}, id="nan"),
    pytest.param({"a": {1, 2}}, id="set"),
    pytest.param({"a": "\ud800"}, id="surrogate"),
    pytest.param({"a": object()}, id="object"),
    pytest.param({"a": None, "b": math.inf}, id="infinity"),
]


def holding_itself() -> dict[str, object]:
    """A mapping that cannot be written to its end."""
    value: dict[str, object] = {}
    value["a"] = [value]
    return value


@pytest.mark.parametrize("without", [False, True], ids=["with orjson", "without"])
def test_a_body_that_holds_itself_is_refused(without: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is a UsageError, and not the interpreter's own error of recursion."""
    if without:
        monkeypatch.setattr(_json, "orjson", None)
    with pytest.raises(UsageError, match="nested too deeply, or holds itself"):
        _json.write_json(holding_itself())


MODELS = [
    View3dData.from_dict({"position": {"x": 1, "new": [{"a": UNSET}]}, "far": None, "other": {"b": UNSET}}),
    {"a": [SceneObjectCreate(kind="View3d", version="1.0.0", data={"at": datetime(2026, 1, 1, tzinfo=UTC)})]},
    {"status": ITwinStatus.ACTIVE, ITwinStatus.TRIAL: ITwinStatus("Paused"), "id": UUID(int=7), "of": (1, [2])},
    MappingProxyType({"a": MappingProxyType({"b": UNSET, "c": 1})}),
]


@pytest.mark.parametrize("without", [False, True], ids=["with orjson", "without"])
@pytest.mark.parametrize("body", MODELS, ids=["absent", "model", "enums", "mapping"])
def test_models_are_written_as_their_wire_form(body: object, without: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Wherever a model, an enum or a time stands in a body, it is written as `encode` gives it, UNSET left out."""
    if without:
        monkeypatch.setattr(_json, "orjson", None)
    assert json.loads(_json.write_json(body)) == json.loads(json.dumps(encode(body)))


@pytest.mark.parametrize("value", REFUSED)
def test_what_json_does_not_have_is_refused(value: object) -> None:
    """A value that JSON does not have is a UsageError, with orjson installed."""
    with pytest.raises(UsageError, match="cannot be written as JSON"):
        _json.write_json(value)


@pytest.mark.usefixtures("without_orjson")
@pytest.mark.parametrize("value", REFUSED)
def test_what_json_does_not_have_is_refused_without_orjson(value: object) -> None:
    """A value that JSON does not have is a UsageError, without orjson."""
    with pytest.raises(UsageError, match="cannot be written as JSON"):
        _json.write_json(value)


@pytest.mark.usefixtures("without_orjson")
def test_a_body_is_read_without_orjson() -> None:
    """Without the extra the standard library reads."""
    assert _json.read_json(b'{"a": [1]}') == {"a": [1]}


def test_a_uuid_is_sent_as_its_text() -> None:
    """Ids may be given as UUIDs: both writers are handed their text."""
    from itwin_platform_api.types import encode

    assert encode({"id": UUID(int=1)}) == {"id": "00000000-0000-0000-0000-000000000001"}


def test_without_the_extra_nothing_is_missed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where orjson is not installed, the module is imported and reads and writes all the same."""
    monkeypatch.setitem(sys.modules, "orjson", None)
    spec = importlib.util.spec_from_file_location("itwin_platform._json_without_orjson", _json.__file__)
    assert spec is not None
    assert spec.loader is not None
    alone = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(alone)
    assert alone.orjson is None
    assert alone.read_json(alone.write_json({"a": [1]})) == {"a": [1]}
