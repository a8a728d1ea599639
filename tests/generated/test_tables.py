"""Each model has one table of its fields, from which everything that reads and writes it is made."""

import inspect
import logging
import traceback
from datetime import UTC, date, datetime
from enum import IntEnum
from typing import Any, ClassVar

import attrs
import httpx
import pytest
from itwin_platform import UNSET, ITwin
from itwin_platform_api import models
from itwin_platform_api.api.itwins import list_itwins
from itwin_platform_api.decoding import open_member
from itwin_platform_api.errors import ResponseDecodeError
from itwin_platform_api.kinds import (
    ANY,
    DATE,
    DATE_TIME,
    STRING,
    UUID_STRING,
    EnumKind,
    Kind,
    ListKind,
    LooseKind,
    ModelKind,
    OneOfKind,
    Table,
)
from itwin_platform_api.schemas import JSONModel
from itwin_platform_api.structures import ResponseReader, decode_value

from tests.support.schema_values import MODELS, SCHEMAS


@pytest.mark.parametrize("name", sorted(MODELS))
def test_a_table_has_each_property(name: str) -> None:
    """The properties are in the order of the document, and each is a field of the class that is called like it."""
    table = MODELS[name].FIELDS
    assert list(table) == list(SCHEMAS[name].get("properties", {}))
    fields = [field for field, _ in table.values()]
    assert {*fields, "additional_properties"} == {field.name for field in attrs.fields(MODELS[name])}
    bare = [[each.replace("_", "").lower() for each in names] for names in (table, fields)]
    assert bare[0] == bare[1]


class MyITwin(ITwin):
    """A class of an application."""

    def wire_fields(self) -> Any:
        """Add a property."""
        return super().wire_fields() | {"mine": True}

    @classmethod
    def from_dict(cls, src_dict: Any) -> Any:
        """Add a name if there is none."""
        return super().from_dict({"displayName": "unnamed"} | src_dict)


class MySubClass(MyITwin):
    """Another one, without methods."""


@pytest.mark.parametrize("kind", [MyITwin, MySubClass])
def test_a_class_that_is_derived_from_a_model_keeps_its_methods(kind: Any) -> None:
    """A derived class and its model keep their own methods, in any order of the first calls."""
    for _ in range(2):
        mine, plain = kind.from_dict({"id": "a"}), ITwin.from_dict({"id": "a"})
        assert (type(mine), mine.display_name) == (kind, "unnamed")
        assert mine.to_dict() == {"id": "a", "displayName": "unnamed", "mine": True}
        assert (type(plain), plain.to_dict()) == (ITwin, {"id": "a"})


def test_a_method_that_is_made_has_its_source_and_documentation() -> None:
    """Tracebacks, debuggers and `help` show a method that is made as one that is written."""
    ITwin.from_dict({})
    method: Any = ITwin.from_dict
    assert "'id'" in inspect.getsource(method)
    assert (method.__qualname__, method.__doc__) == ("ITwin.from_dict", JSONModel.from_dict.__doc__)


def test_a_warning_without_a_wrapper_is_in_the_log_of_the_package(caplog: pytest.LogCaptureFixture) -> None:
    """The warning of a response without a client is logged by the generated package."""
    body = {"iTwins": [{"number": 17, "latitude": "planted"}]}
    page = list_itwins.parse_response(httpx.Response(200, json=body))
    assert page.itwins[0].to_dict() == body["iTwins"][0]
    [(name, level, said)] = caplog.record_tuples
    assert (name, level) == ("itwin_platform_api", logging.WARNING)
    words = "another JSON type than documented: iTwins[0].number is a number, and 1 more"
    assert said == f"response with status 200: {words}"


class Level(IntEnum):
    """An enum of numbers."""

    LOW = 1

    @classmethod
    def _missing_(cls, value: object) -> "Level | None":
        return open_member(cls, value)


@attrs.define(repr=False)
class Tree(JSONModel):
    """A model that a document may bring: it holds itself, numbers with names, dates, and values of several forms."""

    name: str
    level: Any = UNSET
    day: Any = UNSET
    other: Any = UNSET
    key: Any = UNSET
    parts: Any = UNSET
    first: Any = UNSET
    forms: Any = UNSET
    FIELDS: ClassVar[Table] = {
        "name": ("name", STRING),
        "level": ("level", EnumKind("Level", is_number=True)),
        "day": ("day", DATE),
        "other": ("other", LooseKind(DATE)),
        "key": ("key", UUID_STRING),
        "parts": ("parts", ListKind(ModelKind("Tree"))),
        "first": ("first", LooseKind(ModelKind("Tree"))),
        "forms": ("forms", ListKind(OneOfKind(("HeaderAuthentication", "BasicAuthentication")))),
    }


@attrs.define(repr=False)
class Days(JSONModel):
    """A model whose other properties are dates."""

    tree: Any = UNSET
    FIELDS: ClassVar[Table] = {"tree": ("tree", ModelKind("Tree"))}
    OTHERS: ClassVar[Kind] = DATE


@attrs.define(repr=False)
class Calendar(JSONModel):
    """A model that holds one whose other properties are dates."""

    days: Any = UNSET
    list: Any = UNSET
    FIELDS: ClassVar[Table] = {"days": ("days", ModelKind("Days")), "list": ("list", ListKind(ModelKind("Days")))}


@pytest.fixture(autouse=True)
def _own_models(monkeypatch: pytest.MonkeyPatch) -> None:
    for kind in (Tree, Level, Days, Calendar):
        monkeypatch.setattr(models, kind.__name__, kind, raising=False)


TREE: dict[str, Any] = {
    "name": "root",
    "level": 1,
    "day": "2024-05-17",
    "other": "2024-05-17",
    "first": {"name": "a"},
    "parts": [{"name": "b", "parts": [{"name": "c", "level": 7, "new": 1}]}, {"name": None}],
    "forms": [{"type": "Header", "key": "k", "value": "v"}, {"type": "New"}],
}


def read(body: object, model: Any = Tree) -> Any:
    """Read a response, and compare the model with `from_dict`."""
    found = ResponseReader(model).read(httpx.Response(200, json=body))
    assert found == model.from_dict(body)
    assert found.to_dict() == body
    return found


def test_all_that_a_document_may_bring_is_read(caplog: pytest.LogCaptureFixture) -> None:
    """A tree, enums of numbers, dates and choices are read without a warning."""
    tree = read(TREE)
    assert (tree.level, type(tree.level), tree.day, tree.other) == (1, Level, date(2024, 5, 17), date(2024, 5, 17))
    assert (type(tree.first), type(tree.parts[0].parts[0]), tree.parts[0].parts[0].level) == (Tree, Tree, 7)
    assert tree.parts[0].parts[0].additional_properties == {"new": 1}
    assert [type(each) for each in tree.forms] == [models.HeaderAuthentication, dict]
    assert read({"name": "a", "other": 5, "first": "b", "parts": None, "forms": None}).other == 5
    link = {"href": "https://a.example"}  # in the place of a list
    assert read({"name": "a", "parts": [{"parts": link}]}).parts[0].parts == link
    days = read({"tree": TREE, "2024": "2024-01-02"}, Days)
    assert days.additional_properties == {"2024": date(2024, 1, 2)}
    assert read({"days": {"a": "2024-01-02"}, "list": [{"b": "2024-01-02"}]}, Calendar).days["a"] == date(2024, 1, 2)
    assert repr(days) == "Days(tree=Tree(…), additional_properties=['2024'])"
    assert caplog.records == []


@pytest.mark.parametrize(
    ("model", "body", "place"),
    [
        (Tree, TREE | {"day": 5}, "day is a number"),
        (Tree, TREE | {"parts": [{"name": "b", "parts": [{"level": []}]}]}, "parts[0].parts[0].level is a list"),
        (Tree, TREE | {"parts": [{"parts": [None]}]}, "parts[0].parts[0] is null"),
        (Tree, TREE | {"parts": [{"parts": [5]}]}, "parts[0].parts[0] is a number"),
        (Tree, TREE | {"forms": [{"type": "Header", "key": 5}]}, "forms[0].key is a number"),
        (Tree, TREE | {"forms": [{"type": 5}]}, "forms[0].type is a number"),
        (Calendar, {"days": {"tree": 5}}, "days.tree is a number"),
    ],
    ids=str,
)
def test_a_value_of_another_type_is_named(
    model: Any, body: dict[str, Any], place: str, caplog: pytest.LogCaptureFixture
) -> None:
    """A value of another type is kept, and the warning names its place."""
    read(body, model)
    [record] = caplog.records
    assert record.getMessage().endswith(f": {place}")


@pytest.mark.parametrize("value", [False, "1", 1.5, [1]], ids=repr)
def test_an_enum_of_integers_takes_integers_only(value: Any) -> None:
    """An enum of integers takes no truth value and no string; an integer that it does not list is its own name."""
    with pytest.raises(ValueError, match="is not a valid"):
        Level(value)
    assert Tree.from_dict({"level": value}).level is value
    assert (Level(7), Level(7).name) == (7, "7")


def test_a_tree_that_is_too_deep_is_a_decode_error() -> None:
    """A tree that is too deep for Python's recursion limit is a ResponseDecodeError."""
    tree: dict[str, Any] = {"name": 5}
    for _ in range(300):
        tree = {"name": "a", "parts": [tree]}
    with pytest.raises(ResponseDecodeError, match="nested too deeply"):
        ResponseReader(Tree).read(httpx.Response(200, json=tree))


def test_names_that_are_data_keep_their_order() -> None:
    """Query parameters keep the order of their response, whatever order earlier responses had."""
    reader = ResponseReader(models.RepositoryResponse)
    for names in ("ab", "cba", "bca"):
        body = {"repository": {"options": {"queryParameters": dict.fromkeys(names, "1")}}}
        options: Any = reader.read(httpx.Response(200, json=body)).repository.options
        assert list(options.query_parameters) == list(names)


@pytest.mark.parametrize(
    ("kind", "body", "value", "place"),
    [
        (ListKind(DATE_TIME), ["2024-05-17", None], [datetime(2024, 5, 17, tzinfo=UTC), None], []),
        (ANY, None, None, []),
        (ListKind(STRING), ["a", 5], ["a", 5], ["[1] is a number"]),
        (STRING, 5, 5, ["is a number"]),
    ],
)
def test_a_body_that_is_no_model_is_decoded_by_its_kind(
    kind: Kind, body: Any, value: Any, place: list[str], caplog: pytest.LogCaptureFixture
) -> None:
    """A body may be a list or a string; a value of another type is kept and logged."""
    assert decode_value(kind, body, httpx.Response(200)) == value
    assert [each.getMessage().partition("documented: ")[2] for each in caplog.records] == place


@pytest.mark.parametrize(("status", "body"), [(199, b"{}"), (302, b"{}"), (503, b"{}"), (200, b"{")])
def test_only_a_success_is_decoded(status: int, body: bytes) -> None:
    """A response of another status, and one that is broken, is an error that keeps the response."""
    response = httpx.Response(status, headers={"x-a": "b"}, content=body)
    with pytest.raises(ResponseDecodeError) as caught:
        ResponseReader(models.RepositoryResponse).read(response)
    error = caught.value
    assert (error.status, error.headers["x-a"], error.body) == (status, "b", body)
