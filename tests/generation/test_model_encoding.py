"""What generated functions write: bodies, queries and headers, without losing anything on the way out."""

from datetime import UTC, datetime
from types import MappingProxyType
from typing import Any

import pytest
from itwin_platform import UNSET, ITwinSubClass, RepositoryResourceData, SceneObjectCreate
from itwin_platform_api import models
from itwin_platform_api.types import encode, encode_parameters

MOMENT = datetime(2022, 6, 9, 17, 26, 11, 130_999, tzinfo=UTC)
RESOURCE = RepositoryResourceData(itwin_id="i", repository_id="r", id="m", class_="iModels")


@pytest.mark.parametrize(
    ("value", "written"),
    [
        (ITwinSubClass.ASSET, "Asset"),
        (ITwinSubClass("Road"), "Road"),
        (MOMENT, "2022-06-09T17:26:11.130Z"),
        ({"a": UNSET, "b": None, "c": [MOMENT]}, {"b": None, "c": ["2022-06-09T17:26:11.130Z"]}),
        (MappingProxyType({"a": (1, 2)}), {"a": [1, 2]}),
        ([RESOURCE], [{"iTwinId": "i", "repositoryId": "r", "id": "m", "class": "iModels"}]),
        ({"deep": {"er": [RESOURCE, True, 1.5, 10**30]}}, {"deep": {"er": [RESOURCE.to_dict(), True, 1.5, 10**30]}}),
    ],
    ids=str,
)
def test_a_value_is_written_for_json(value: object, written: object) -> None:
    """Models, enums and times become what JSON has; UNSET is omitted, null is not."""
    assert encode(value) == written
    assert type(encode(value)) is type(written)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("a,b", "a,b"),
        (True, "true"),
        (False, "false"),
        (0, "0"),
        (["a", ITwinSubClass.ASSET], "a,Asset"),
        ((), ""),
        (ITwinSubClass("Road"), "Road"),
        (MOMENT, "2022-06-09T17:26:11.130Z"),
    ],
    ids=str,
)
def test_a_parameter_is_written_as_string(value: object, text: str) -> None:
    """Lists are joined by commas, truth values are in lower case."""
    assert encode_parameters({"name": value}) == {"name": text}


def test_absent_parameters_are_not_sent() -> None:
    """A query and a header have no null: UNSET and None are omitted."""
    assert encode_parameters({"a": UNSET, "b": None, "c": ""}) == {"c": ""}


def test_a_field_wins_over_an_unknown_one_of_its_name() -> None:
    """What is set as a field is what is written."""
    created = SceneObjectCreate(kind="Layer", version="1.0.0", data={})
    created["kind"] = "Other"
    assert created.to_dict()["kind"] == "Layer"


def test_discriminated_models_are_read_by_their_constant() -> None:
    """Each type of authentication is read into its own model, an unknown one stays as it came."""
    wire: dict[str, Any] = {"key": "k", "value": "v", "more": 1}
    kinds: dict[str, Any] = {
        "Header": models.StoredHeaderAuthentication,
        "QueryParameter": models.StoredQueryParameterAuthentication,
    }
    for kind, model in kinds.items():
        read: Any = models.Repository.from_dict({"authentication": wire | {"type": kind}}).authentication
        assert type(read) is model
        assert read.to_dict() == wire | {"type": kind}
    unknown: Any = models.Repository.from_dict({"authentication": wire | {"type": "New"}}).authentication
    assert unknown == wire | {"type": "New"}
