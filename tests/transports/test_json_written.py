"""Bodies that a caller may hand in are written as JSON, or rejected."""

import json
import math
from datetime import UTC, datetime
from decimal import Decimal
from types import MappingProxyType
from uuid import UUID

import pytest
from itwin_platform import UNSET, ITwinStatus, SceneObjectCreate, UsageError, View3dData
from itwin_platform_api.types import encode

from tests.support.faces import write_json

REFUSED = [
    pytest.param({"a": math.nan}, id="nan"),
    pytest.param({"a": {1, 2}}, id="set"),
    pytest.param({"a": "\ud800"}, id="surrogate"),
    pytest.param({"a": object()}, id="object"),
    pytest.param({"a": None, "b": math.inf}, id="infinity"),
    pytest.param(math.nan, id="nan alone"),
    pytest.param([{"a": None, "b": ("x", [1.5, -math.inf])}], id="infinity within"),
    pytest.param({"a": None, "b": MappingProxyType({"c": math.nan})}, id="nan in a mapping"),
    pytest.param(View3dData.from_dict({"far": None, "near": math.nan}), id="nan in a model"),
    pytest.param({"a": b"x"}, id="bytes"),
    pytest.param({"a": [{"b": frozenset({1})}]}, id="set within"),
    pytest.param({"a": Decimal(1)}, id="decimal"),
    pytest.param({"a": [UNSET]}, id="unset in a list"),
    pytest.param({("a", "b"): 1}, id="key"),
]


def test_a_body_that_holds_itself_is_rejected() -> None:
    """So is one that is nested without end: a UsageError, and not the interpreter's own error of recursion."""
    circle: list[object] = []
    circle.append(circle)
    deep: list[object] = []
    for _ in range(10_000):
        deep = [deep]
    for value in (circle, deep):
        with pytest.raises(UsageError, match="nested too deeply, or holds itself"):
            write_json(value)


class Name(str):  # noqa: SLOT000  # as callers write it
    """A string of a caller's own class."""


MODELS = [
    View3dData.from_dict({"position": {"x": 1, "new": [{"a": UNSET}]}, "far": None, "other": {"b": UNSET}}),
    {"a": [SceneObjectCreate(kind="View3d", version="1.0.0", data={"at": datetime(2026, 1, 1, tzinfo=UTC)})]},
    {"status": ITwinStatus.ACTIVE, ITwinStatus.TRIAL: ITwinStatus("Paused"), "id": UUID(int=7), "of": (1, [2])},
    MappingProxyType({"a": MappingProxyType({"b": UNSET, "c": 1})}),
    {1: "a", None: "b", 2.5: "d"},
    {"a": Name("b"), "c": 2**70},
]


@pytest.mark.parametrize("body", MODELS, ids=["absent", "model", "enums", "mapping", "keys", "subclass"])
def test_models_are_written_as_their_wire_form(body: object) -> None:
    """Wherever a model, an enum or a time stands in a body, it is written as `encode` gives it, UNSET omitted."""
    assert json.loads(write_json(body)) == json.loads(json.dumps(encode(body)))


NULLS = [
    {"displayName": "null"},
    {"displayName": 'the "null", [null]:null', "far": 1.5},
    {"a": None, "b": [None, 2.5, True, ITwinStatus.ACTIVE, datetime(2026, 1, 1, tzinfo=UTC)], "c": (None, {"d": 1})},
    View3dData.from_dict({"position": {"x": 1.25}, "far": None}),
    None,
]


@pytest.mark.parametrize("body", NULLS, ids=["name", "quoted", "values", "model", "alone"])
def test_null_does_not_keep_a_body_from_the_quick_writer(body: object, monkeypatch: pytest.MonkeyPatch) -> None:
    """A body with null in it, as a value or within a string, is written without the standard library."""
    expected = json.loads(json.dumps(encode(body)))
    monkeypatch.setattr(json, "dumps", None)
    assert json.loads(write_json(body)) == expected


@pytest.mark.parametrize("value", REFUSED)
def test_what_json_does_not_have_is_rejected(value: object) -> None:
    """A value that JSON does not have is a UsageError."""
    with pytest.raises(UsageError, match="cannot be serialized as JSON"):
        write_json(value)


def test_a_uuid_is_sent_as_its_string() -> None:
    """Ids may be given as UUIDs."""
    assert encode({"id": UUID(int=1)}) == {"id": "00000000-0000-0000-0000-000000000001"}
