"""Each model has one table of its fields, from which everything that reads and writes it is made."""

import inspect
import linecache
import logging
import traceback
from datetime import UTC, date, datetime
from enum import IntEnum
from typing import Any, ClassVar

import attrs
import httpx
import pytest
from itwin_platform import UNSET, ITwin
from itwin_platform_api import kinds, models
from itwin_platform_api.api.itwins import list_itwins
from itwin_platform_api.decoding import open_member
from itwin_platform_api.errors import ResponseDecodeError
from itwin_platform_api.kinds import (
    ANY,
    BOOLEAN,
    DATE,
    DATE_TIME,
    NUMBER,
    OBJECT,
    STRING,
    UUID_STRING,
    ByKind,
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


def documented(schema: dict[str, Any]) -> Kind:
    """Return the kind that the document gives to a property, by a walk of its own."""
    name = schema.get("$ref", "").rpartition("/")[2]
    target = SCHEMAS[name] if name else schema
    branches = [each for each in (*target.get("oneOf", ()), *target.get("anyOf", ())) if each.get("type") != "null"]
    if "x-kinds" in target:
        return ByKind(target["x-kinds"])
    if "x-values" in target:
        return EnumKind(target["x-values"])
    if "enum" in target:
        return EnumKind(name)
    if len(branches) == 1:
        return documented(branches[0])
    if branches:
        return OneOfKind(tuple(each["$ref"].rpartition("/")[2] for each in branches))
    return ModelKind(name) if name in MODELS else documented_by_type(target)


def documented_by_type(target: dict[str, Any]) -> Kind:
    """Return the kind of a property that is neither an enum nor a model."""
    types = target.get("type", [])
    types = [each for each in (types if isinstance(types, list) else [types]) if each != "null"]
    match types, target.get("format"):
        case ["array"], _:
            return ListKind(documented(target["items"]))
        case ["string"], "date-time":
            return DATE_TIME
        case ["string"], _:
            return STRING
        case ((["integer"] | ["number"]), _):
            return NUMBER
        case ["boolean"], _:
            return BOOLEAN
        case ["object"], _ if target.get("x-undecoded"):
            return OBJECT
        case _:
            return ANY


@pytest.mark.parametrize("name", sorted(MODELS))
def test_a_table_is_what_the_document_says(name: str) -> None:
    """It has each property in the order of the document, with its kind, and a field of the class."""
    table = MODELS[name].FIELDS
    expected = [(wire, repr(documented(schema))) for wire, schema in SCHEMAS[name].get("properties", {}).items()]
    assert [(wire, repr(kind)) for wire, (_, kind) in table.items()] == expected
    fields = {field.name for field in attrs.fields(MODELS[name])}
    assert {name for name, _ in table.values()} | {"additional_properties"} == fields
    bare = {wire.replace("_", "").lower(): field.replace("_", "") for wire, (field, _) in table.items()}
    assert list(bare) == list(bare.values())


class MyITwin(ITwin):
    """A class of an application."""

    def wire_fields(self) -> Any:
        """Add a property."""
        return super().wire_fields() | {"mine": True}

    @classmethod
    def from_dict(cls, src_dict: Any) -> Any:
        """Name what has no name."""
        return super().from_dict({"displayName": "unnamed"} | src_dict)


class MySubClass(MyITwin):
    """Another one, without methods."""


@pytest.mark.parametrize("kind", [MyITwin, MySubClass])
def test_a_class_that_is_derived_from_a_model_keeps_its_methods(kind: Any) -> None:
    """Neither its own methods nor those of the model are replaced by the other's, whichever is called first."""
    for _ in range(2):
        mine, plain = kind.from_dict({"id": "a"}), ITwin.from_dict({"id": "a"})
        assert (type(mine), mine.display_name) == (kind, "unnamed")
        assert mine.to_dict() == {"id": "a", "displayName": "unnamed", "mine": True}
        assert (type(plain), plain.to_dict()) == (ITwin, {"id": "a"})


@pytest.mark.parametrize("name", ["from_dict", "wire_fields"])
def test_a_method_that_is_made_has_a_name_documentation_and_lines(name: str) -> None:
    """Help, tracebacks and debuggers show it as they show a method that was written."""
    ITwin.from_dict({}).to_dict()
    method: Any = getattr(ITwin, name)
    assert (method.__qualname__, method.__module__) == (f"ITwin.{name}", ITwin.__module__)
    assert inspect.getdoc(method) == inspect.getdoc(getattr(JSONModel, name))
    assert inspect.signature(method).return_annotation == inspect.signature(getattr(JSONModel, name)).return_annotation
    linecache.checkcache()
    assert f"def {name}(" in inspect.getsource(method)


def test_a_traceback_shows_the_line_of_a_method_that_is_made() -> None:
    """An object that fails when it is read fails in a line that can be seen."""

    class Failing(dict[str, Any]):
        def __getitem__(self, key: str) -> Any:
            raise RuntimeError(key)

    with pytest.raises(RuntimeError) as caught:
        ITwin.from_dict(Failing(id="a"))
    frame = traceback.extract_tb(caught.value.__traceback__)[-2]
    assert (frame.name, frame.line) == ("from_dict", "model.id = d['id']")


def test_a_warning_without_a_wrapper_is_in_the_log_of_the_package(caplog: pytest.LogCaptureFixture) -> None:
    """A response of a plain httpx client has no words of its own."""
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
    monkeypatch.setattr(kinds, "class_of", lambda name: getattr(models, name))


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
    """Read a response, and compare with what the dictionaries give."""
    found = ResponseReader(model).read(httpx.Response(200, json=body))
    assert found == model.from_dict(body)
    assert found.to_dict() == body
    return found


def test_all_that_a_document_may_bring_is_read(caplog: pytest.LogCaptureFixture) -> None:
    """A tree, numbers with names, dates, and what may have several forms, all without a warning."""
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
    ("change", "place"),
    [
        ({"level": "1"}, "level is a string"),
        ({"day": 5}, "day is a number"),
        ({"parts": [{"name": "b", "parts": [{"level": []}]}]}, "parts[0].parts[0].level is a list"),
        ({"parts": [{"parts": [None]}]}, "parts[0].parts[0] is null"),
        ({"parts": [{"parts": [5]}]}, "parts[0].parts[0] is a number"),
        ({"forms": [{"type": "Header", "key": 5}]}, "forms[0].key is a number"),
        ({"forms": [{"type": 5}]}, "forms[0].type is a number"),
    ],
    ids=str,
)
def test_what_has_another_type_in_it_is_named(
    change: dict[str, Any], place: str, caplog: pytest.LogCaptureFixture
) -> None:
    """Wherever it is, it stays, and the warning names it."""
    read(TREE | change)
    [record] = caplog.records
    assert record.getMessage().endswith(f": {place}")


def test_what_msgspec_does_not_check_is_named(caplog: pytest.LogCaptureFixture) -> None:
    """A model with other properties that are decoded has no structure, and its values are reported as well."""
    assert read({"days": {"tree": 5}}, Calendar).days.tree == 5
    assert [record.getMessage().partition("documented: ")[2] for record in caplog.records] == ["days.tree is a number"]


def test_a_tree_that_is_too_deep_is_a_decode_error() -> None:
    """What the standard library parses can be deeper than functions of Python can go."""
    tree: dict[str, Any] = {"name": 5}
    for _ in range(300):
        tree = {"name": "a", "parts": [tree]}
    with pytest.raises(ResponseDecodeError, match="nested too deeply"):
        ResponseReader(Tree).read(httpx.Response(200, json=tree))


def test_names_that_are_data_keep_their_order() -> None:
    """The query parameters of a repository are in the order of the response, whichever came in earlier ones."""
    reader = ResponseReader(models.RepositoryResponse)
    for names in ("ab", "cba", "bca"):
        body = {"repository": {"options": {"queryParameters": dict.fromkeys(names, "1")}}}
        options: Any = reader.read(httpx.Response(200, json=body)).repository.options
        assert list(options.query_parameters) == list(names)


def test_a_body_that_is_no_model_is_decoded_by_its_kind(caplog: pytest.LogCaptureFixture) -> None:
    """A response may be a list, or a string."""
    response = httpx.Response(200)
    times = decode_value(ListKind(DATE_TIME), ["2024-05-17", None], response)
    assert times == [datetime(2024, 5, 17, tzinfo=UTC), None]
    assert decode_value(STRING, "text", response) == "text"
    assert decode_value(ANY, None, response) is None
    assert caplog.records == []
    assert decode_value(ListKind(STRING), ["a", 5], response) == ["a", 5]
    assert decode_value(STRING, 5, response) == 5
    assert [each.getMessage().partition("documented: ")[2] for each in caplog.records] == [
        "[1] is a number",
        "is a number",
    ]


@pytest.mark.parametrize("status", [199, 302, 503])
def test_only_a_success_is_decoded(status: int) -> None:
    """A response of any other status is an error, whatever its body."""
    with pytest.raises(ResponseDecodeError):
        ResponseReader(models.RepositoryResponse).read(httpx.Response(status, json={"repository": {}}))
