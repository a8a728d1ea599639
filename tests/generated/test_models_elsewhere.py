"""Models in the hands of tools that do not know them: FastAPI, pydantic, typing, attrs and Python itself."""

import json
import typing
from collections.abc import Iterator
from datetime import UTC, datetime
from enum import Enum
from typing import Annotated, Any, Literal

import attrs
import itwin_platform
import pytest
from fastapi import Body, FastAPI
from fastapi.testclient import TestClient
from itwin_platform import ITwin, Repository, SceneObjectCreate, SceneObjectCreateParam
from itwin_platform_api.schemas import json_schema
from pydantic import BaseModel, ConfigDict, TypeAdapter, ValidationError

from tests.support.deviating_responses import read
from tests.support.operations import OPERATIONS
from tests.support.public_face import EXPORTED

WIRE: dict[str, Any] = {
    "id": "a",
    "class": "NotKnownYet",
    "createdDateTime": "2026-03-01T12:00:00.000Z",
    "geographicLocation": None,
    "notNamed": {"kept": [1]},
}
SECRET = {"id": "r", "authentication": {"type": "Basic", "username": "u", "password": "planted"}, "notNamed": 1}
OBJECT: dict[str, Any] = {"version": "1.0.0", "kind": "View3d", "data": {"isOrthographic": True}, "notNamed": 1}
MODELS = {name: value for name, value in EXPORTED.items() if isinstance(value, type) and attrs.has(value)}
PARAMS = {name: value for name, value in EXPORTED.items() if typing.is_typeddict(value)}


@pytest.fixture(scope="module")
def caller() -> TestClient:
    """Call an application whose routes return and take models."""
    app, itwin = FastAPI(), ITwin.from_dict(WIRE)

    @app.get("/untyped")
    async def untyped():  # type: ignore[no-untyped-def]  # as many routes are written
        return [itwin]

    @app.get("/typed")
    async def typed() -> list[ITwin]:
        return [itwin]

    @app.get("/untyped-secret")
    async def untyped_secret():  # type: ignore[no-untyped-def]  # as many routes are written
        return Repository.from_dict(SECRET)

    @app.get("/typed-secret")
    async def typed_secret() -> Repository:
        return Repository.from_dict(SECRET)

    @app.post("/mappings")
    async def mappings(objects: list[SceneObjectCreateParam]) -> list[SceneObjectCreateParam]:
        return objects

    @app.post("/model")
    async def model(item: Annotated[SceneObjectCreate, Body()]) -> SceneObjectCreate:
        return item

    return TestClient(app)


def test_a_route_of_fastapi_returns_models(caller: TestClient) -> None:
    """A route returns wire names, without UNSET fields, and with undocumented ones."""
    assert caller.get("/typed").json() == caller.get("/untyped").json() == [WIRE]


def test_only_a_route_with_a_type_returns_secrets(caller: TestClient) -> None:
    """A route without a return type omits the credentials of a model."""
    assert caller.get("/typed-secret").json() == SECRET
    assert caller.get("/untyped-secret").json() == {"id": "r", "notNamed": 1}


def test_a_route_of_fastapi_takes_models_and_mappings(caller: TestClient) -> None:
    """A body is decoded without loss, and a body of another type is a 422."""
    assert caller.post("/mappings", json=[OBJECT]).json() == [OBJECT]
    assert caller.post("/model", json=OBJECT).json() == OBJECT
    assert caller.post("/mappings", json=[5]).status_code == 422
    assert "a JSON object of SceneObjectCreate was expected" in caller.post("/model", json=5).text


class Plan(typing.TypedDict):
    parts: list["Plan"]


def test_the_schema_of_a_type_that_contains_itself_ends() -> None:
    """The inner type is an object of any properties."""
    assert json_schema(Plan)["properties"] == {"parts": {"type": "array", "items": {"title": "Plan", "type": "object"}}}


def test_the_schema_of_fastapi_has_the_names_of_json(caller: TestClient) -> None:
    """The schema has JSON's types and names; a mapping has required properties, and a response has none."""
    paths = caller.get("/openapi.json").json()["paths"]
    returned = paths["/typed"]["get"]["responses"]["200"]["content"]["application/json"]["schema"]
    assert returned["items"]["properties"]["createdDateTime"] == {"type": "string", "format": "date-time"}
    assert "required" not in returned["items"]
    taken = paths["/mappings"]["post"]["requestBody"]["content"]["application/json"]["schema"]["items"]
    assert (taken["required"], taken["properties"]["parentId"]) == (["data", "kind", "version"], {"type": "string"})


def test_models_are_fields_of_pydantic() -> None:
    """A pydantic field takes a model or its JSON, and writes JSON."""

    class Report(BaseModel):
        itwin: ITwin
        at: datetime

    report = Report.model_validate({"itwin": WIRE, "at": datetime(2026, 3, 1, tzinfo=UTC)})
    assert isinstance(report.itwin, ITwin)
    assert Report(itwin=report.itwin, at=report.at).itwin is report.itwin
    assert report.model_dump(mode="json")["itwin"] == WIRE
    with pytest.raises(ValidationError, match="a JSON object of ITwin was expected"):
        TypeAdapter(ITwin).validate_python("itwin")


async def test_pydantic_keeps_a_partial_object_partial() -> None:
    """A missing property of a complete object is not None, which would remove it: `update` rejects the object."""
    options = TypeAdapter(itwin_platform.RepositoryOptions).validate_python({"minimumLevel": 3})
    async with itwin_platform.PlatformClient("http://127.0.0.1", vendor="v", token="t") as platform:
        with pytest.raises(itwin_platform.UsageError, match="options lacks query_parameters, maximum_level"):
            await platform.repositories.update("i", "r", options=options)


def test_pydantic_chooses_an_authentication_by_its_type() -> None:
    """The first class of a union does not take the object of another class; the error shows no address in memory."""
    header, key = EXPORTED["HeaderAuthentication"], EXPORTED["QueryParameterAuthentication"]
    either: TypeAdapter[object] = TypeAdapter(header | key)
    assert type(either.validate_python({"type": "QueryParameter", "key": "k", "value": "v"})) is key
    with pytest.raises(ValidationError) as caught:
        either.validate_python({})
    assert " at 0x" not in str(caught.value)


@pytest.mark.parametrize("name", [*MODELS, *PARAMS])
def test_each_exported_type_can_be_read(name: str) -> None:
    """`typing.get_type_hints`, `attrs.resolve_types` and a JSON schema work for each exported type."""
    kind = getattr(itwin_platform, name)
    assert typing.get_type_hints(kind)
    if name in MODELS:
        attrs.resolve_types(kind)
    assert json_schema(kind)["title"] == kind.__name__


def attributes(model: Any) -> Iterator[tuple[Any, Any]]:
    """The attributes of a model and of those within it, each with its type."""
    hints = typing.get_type_hints(type(model))
    for field in attrs.fields(type(model)):
        value = getattr(model, field.name)
        yield value, hints[field.name]
        for each in value if isinstance(value, list) else [value]:
            if attrs.has(type(each)):
                yield from attributes(each)


@pytest.mark.parametrize("name", OPERATIONS)
def test_each_attribute_has_the_type_that_is_written(name: str, caplog: pytest.LogCaptureFixture) -> None:
    """Each attribute of a documented response has its annotated type by pydantic, and nothing is logged."""
    model = read(name, json.dumps(OPERATIONS[name].sample()).encode())
    for value, hint in attributes(model):
        if "Any" not in str(hint):
            adapter = TypeAdapter(hint, config=ConfigDict(arbitrary_types_allowed=True))
            assert adapter.validate_python(value, strict=True) == value
    assert caplog.records == []


@pytest.mark.parametrize("convert", [dict, list])
def test_a_model_is_no_mapping(convert: Any) -> None:
    """The TypeError of `dict(itwin)` names `to_dict`."""
    with pytest.raises(TypeError, match=r"ITwin cannot be iterated over: to_dict\(\) returns its JSON object"):
        convert(ITwin.from_dict(WIRE))
