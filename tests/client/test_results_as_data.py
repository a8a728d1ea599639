"""Results are ordinary Python data: compare, copy, change, match, and convert to JSON and tables."""

import copy
import json
from typing import Any

import attrs
import pytest
from itwin_platform import ITwin, ITwinStatus, ITwinSubClass

FULL: dict[str, Any] = {
    "id": "8f6db71f-0525-4da4-a58c-a5035675a62a",
    "class": "Endeavor",
    "subClass": "Project",
    "type": "Construction Project with a rather long name of its type",
    "number": "PRJ-000000-with-a-long-odd-number/#?%",
    "displayName": "Straße nach Ålesund, 東京 <b>, as long as names of projects tend to be in earnest",
    "status": "Active",
    "geographicLocation": "Bergen",
    "latitude": 60.390000000000003,
    "longitude": 5.3200000000000003,
    "ianaTimeZone": "Europe/Oslo",
    "dataCenterLocation": "North Europe",
    "parentId": None,
    "iTwinAccountId": "8f6db71f-0525-4da4-a58c-a5035675a62a",
    "imageName": None,
    "image": None,
    "createdDateTime": "2015-11-05T19:10:42.9712696",
    "createdBy": "c1802dff-a320-41ff-948a-230111c53b33",
    "lastModifiedDateTime": "2019-03-04T08:30:00Z",
    "lastModifiedBy": "c1802dff-a320-41ff-948a-230111c53b33",
    "aPropertyOfTomorrow": {"deep": [1, None]},
}


def full() -> ITwin:
    """A new object for the same iTwin."""
    return ITwin.from_dict(copy.deepcopy(FULL))


def test_equal_data_is_equal() -> None:
    """By all fields, those that are not known yet among them."""
    assert full() == full()
    assert full() != ITwin.from_dict(FULL | {"displayName": "another"})
    assert full() != ITwin.from_dict(FULL | {"aPropertyOfTomorrow": 1})


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy])
def test_a_copy_is_equal(copied: Any) -> None:
    """And it is another object."""
    original = full()
    other = copied(original)
    assert other == original
    assert other is not original


def test_evolve_changes_a_field_and_keeps_the_rest() -> None:
    """`attrs.evolve` keeps properties that this version does not know, and shares none of them with the original."""
    original = full()
    changed = attrs.evolve(original, display_name="changed")
    assert (changed.display_name, original.display_name) == ("changed", FULL["displayName"])
    assert changed.to_dict() == original.to_dict() | {"displayName": "changed"}
    changed["new"] = 1
    assert "new" not in original


def test_a_match_statement_reads_fields() -> None:
    """Enum members match their strings."""
    match full():
        case ITwin(sub_class=ITwinSubClass.PROJECT, status="Active", parent_id=None, number=number):
            assert number == FULL["number"]
        case _:
            pytest.fail("it does not match")
    assert full().status is ITwinStatus.ACTIVE


def test_to_dict_gives_what_json_takes() -> None:
    """In wire names; times as they were sent, up to the digits that Python has."""
    values = json.loads(json.dumps(full().to_dict()))
    assert values.keys() == FULL.keys()
    assert {name for name in FULL if values[name] != FULL[name]} <= {"createdDateTime", "lastModifiedDateTime"}


def test_a_repr_is_short() -> None:
    """A full iTwin shows what it is in 200 characters, and how much more there is."""
    shown = repr(full())
    assert len(shown) <= 200
    assert shown.startswith("ITwin(id='8f6db71f-0525-4da4-a58c-a5035675a62a', number='")
    assert shown.index("number=") < shown.index("display_name=") < shown.index("more)")
    assert shown.endswith(" more)")


def test_a_service_returns_results() -> None:
    """FastAPI turns `to_dict()` into JSON: one model, or a list of them."""
    # Imported here: it takes half a second, in each process that collects the tests.
    from fastapi import FastAPI
    from fastapi.testclient import TestClient

    app = FastAPI()

    @app.get("/one")
    def one() -> dict[str, Any]:
        return full().to_dict()

    @app.get("/several")
    def several() -> list[dict[str, Any]]:
        return [itwin.to_dict() for itwin in (full(), full())]

    browser = TestClient(app)
    assert browser.get("/one").json() == full().to_dict()
    assert browser.get("/several").json() == [full().to_dict()] * 2


def test_a_table_has_columns() -> None:
    """pandas makes a column of each property of `to_dict()`."""
    pandas = pytest.importorskip("pandas")
    table = pandas.DataFrame([itwin.to_dict() for itwin in (full(), full())])
    assert list(table.columns) == list(full().to_dict())
    assert list(table["displayName"]) == [FULL["displayName"]] * 2
