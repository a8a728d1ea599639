"""Values of the wire: times in every form, dates and UUIDs; bodies, queries and headers on the way out."""

import json
import warnings
from datetime import UTC, date, datetime, timedelta, timezone
from types import MappingProxyType
from typing import Any
from uuid import UUID

import httpx
import pytest
from hypothesis import example, given, strategies as st
from itwin_platform import UNSET, ITwin, ITwinSubClass, RepositoryResourceData, SceneObjectCreate
from itwin_platform_api import models
from itwin_platform_api.decoding import decode_date, decode_datetime, decode_map, decode_uuid
from itwin_platform_api.encoding import encode, encode_datetime, encode_parameters
from itwin_platform_api.request import RequestValues, send

from tests.support.examples import strings

KEY = "6a2d2381-6c57-9332-387a-5b7c00000000"
MOMENT = datetime(2022, 6, 9, 17, 26, 11, 130_999, tzinfo=UTC)
RESOURCE = RepositoryResourceData(itwin_id="i", repository_id="r", id="m", class_="iModels")


@pytest.mark.parametrize(
    ("value", "written"),
    [
        (ITwinSubClass("Road"), "Road"),
        ({"a": UNSET, "b": None, "c": [MOMENT]}, {"b": None, "c": ["2022-06-09T17:26:11.130Z"]}),
        (MappingProxyType({"a": (1, 2)}), {"a": [1, 2]}),
        ([RESOURCE], [{"iTwinId": "i", "repositoryId": "r", "id": "m", "class": "iModels"}]),
        ({"deep": {"er": [RESOURCE, True, 1.5, 10**30]}}, {"deep": {"er": [RESOURCE.to_dict(), True, 1.5, 10**30]}}),
        ([date(2024, 5, 17), UUID(KEY)], ["2024-05-17", KEY]),
    ],
    ids=str,
)
def test_a_value_is_written_for_json(value: object, written: object) -> None:
    """Models, enums and times become JSON values; UNSET is omitted, null is not."""
    assert encode(value) == written
    assert type(encode(value)) is type(written)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("a,b", "a,b"),
        (True, "true"),
        (0, "0"),
        (["a", ITwinSubClass.ASSET], "a,Asset"),
        ((), ""),
        (MOMENT, "2022-06-09T17:26:11.130Z"),
    ],
    ids=str,
)
def test_a_parameter_is_written_as_string(value: object, text: str) -> None:
    """Lists are joined by commas, truth values are in lower case; UNSET and None are omitted."""
    assert encode_parameters({"name": value, "unset": UNSET, "none": None}) == {"name": text}


def test_a_field_wins_over_an_unknown_one_of_its_name() -> None:
    """The value of a field wins over an unknown field of the same name."""
    created = SceneObjectCreate(kind="Layer", version="1.0.0", data={})
    created["kind"] = "Other"
    assert created.to_dict()["kind"] == "Layer"


@pytest.mark.parametrize("value", ["soon", "2024-13-01", 7, None, ["2024-01-02"]])
def test_dates_and_uuids_are_read_and_other_values_stay(value: Any) -> None:
    """A value that is no date or UUID is kept; a map of dates keeps its names."""
    assert (decode_date(value), decode_uuid(value), decode_uuid(KEY)) == (value, value, UUID(KEY))
    assert decode_map(decode_date, {"a": "2024-05-17", "b": value}) == {"a": date(2024, 5, 17), "b": value}


@pytest.mark.parametrize(("query", "sent"), [({"$top": "5"}, "%24top=5"), ("$top=5", "$top=5"), ({}, "")])
async def test_values_go_through_a_plain_httpx_client(query: dict[str, str] | str, sent: str) -> None:
    """An `httpx.AsyncClient` sends a request from its values, with a query by name or as it stands."""
    transport = httpx.MockTransport(lambda _: httpx.Response(204))
    body = {"day": date(2024, 1, 2)}
    values = RequestValues(method="POST", route="/a/{id}", path="/a/1", query=query, headers={"x-b": "c"}, body=body)
    async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1") as client:
        response = await send(client, values)
    assert isinstance(response, httpx.Response)
    request = response.request
    assert (request.method, request.url.path, request.url.query.decode()) == ("POST", "/a/1", sent)
    assert (request.headers["x-b"], json.loads(request.content)) == ("c", {"day": "2024-01-02"})


def at(*parts: int, zone: timezone = UTC) -> datetime:
    """An aware datetime."""
    return datetime(*parts, tzinfo=zone)  # type: ignore[arg-type, misc]  # at most seven integers


@pytest.mark.parametrize(
    ("text", "moment", "written"),
    [
        ("2015-11-05T19:10:42.9712696", at(2015, 11, 5, 19, 10, 42, 971_269), "2015-11-05T19:10:42.971Z"),
        ("11/3/2023 8:07:01 PM", at(2023, 11, 3, 20, 7, 1), "2023-11-03T20:07:01.000Z"),
        ("11/3/2023 8:07:01 PM +02:00", at(2023, 11, 3, 18, 7, 1), "2023-11-03T18:07:01.000Z"),
        ("2022-06-09", at(2022, 6, 9), "2022-06-09T00:00:00.000Z"),
        ("2022-06-09T17:26:11+05:30", at(2022, 6, 9, 11, 56, 11), "2022-06-09T11:56:11.000Z"),
        ("Thu, 09 Jun 2022 17:26:11 GMT", at(2022, 6, 9, 17, 26, 11), "2022-06-09T17:26:11.000Z"),
        ("Thu Jun 09 2022 17:26:11 GMT+0530", at(2022, 6, 9, 11, 56, 11), "2022-06-09T11:56:11.000Z"),
        ("2022-06-09T24:00:00Z", at(2022, 6, 10), "2022-06-10T00:00:00.000Z"),
        ("9999-12-31T23:59:59.9999999Z", at(9999, 12, 31, 23, 59, 59, 999_999), "9999-12-31T23:59:59.999Z"),
        ("0001-01-01T00:00:00+05:00", at(1, 1, 1, zone=timezone(timedelta(hours=5))), "0001-01-01T00:00:00.000+05:00"),
    ],
)
def test_a_time_is_read_in_any_form(text: str, moment: datetime, written: str) -> None:
    """A time is read in each seen form, as UTC without a zone, and written in the documented form."""
    read = decode_datetime(text)
    assert (read, encode_datetime(read)) == (moment, written)
    assert read.tzinfo is not None
    assert ITwin.from_dict({"createdDateTime": text}).created_date_time == moment


@pytest.mark.parametrize("digits", range(8))
@pytest.mark.parametrize("zone", ["", "Z", "+00:00"])
def test_any_number_of_digits_is_read(digits: int, zone: str) -> None:
    """No to seven digits, with each way to write UTC and with none; beyond microseconds they are cut off."""
    fraction = "1234567"[:digits]
    text = "2022-06-09T17:26:11" + (f".{fraction}" if fraction else "") + zone
    assert decode_datetime(text) == at(2022, 6, 9, 17, 26, 11, int(fraction[:6].ljust(6, "0") or "0"))


@pytest.mark.parametrize(
    "value",
    [
        *("", " ", "yesterday", "10", "12:30", "Mon", "May", "2022", "2022-06", "June 9", "9th", "5 PM", "1e999"),
        *("2022-13-45T00:00:00Z", "2022-06-09T25:00:00Z", "2022-06-09T24:30:00Z", "2016-12-31T23:59:60Z"),
        *("2022-13-45T24:00:00Z", "9999-12-31T24:00:00Z", "2022-06-09T24:00:00+99:00"),
        *("2022-06-09 17:26:11 CET", "2022-06-09T17:26:11+99:00", "\ud800", "0" * 5000, "(" * 3000),
        *(None, 5, 1.5, True, [], {"a": 1}),
    ],
    ids=lambda value: ascii(value)[:30],
)
def test_an_incomplete_time_is_kept(value: object) -> None:
    """An incomplete time is kept as text, never completed with today's date or the machine's zone."""
    assert decode_datetime(value) is value
    assert ITwin.from_dict({"createdDateTime": value}).to_dict() == {"createdDateTime": value}


@given(strings())
@example("1/1/1 1:1:1.1 AM")
@example("\x1c0\x00:0 0AM")
def test_no_text_breaks_the_reading(text: str) -> None:
    """Any text is kept or becomes an aware time, without an error or a warning."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        read = decode_datetime(text)
    assert read == text or read.tzinfo is not None


@given(st.datetimes(timezones=st.none() | st.timezones()))
def test_any_time_is_written_in_utc(moment: datetime) -> None:
    """A time of any zone is written in the documented form, cut off to milliseconds; one without a zone is UTC."""
    aware, written = moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment, encode_datetime(moment)
    try:
        expected = aware.astimezone(UTC)
    except OverflowError:
        assert written == aware.isoformat(timespec="milliseconds")
    else:
        assert written.endswith("Z")
        assert decode_datetime(written) == expected.replace(microsecond=expected.microsecond // 1000 * 1000)


def test_the_fields_that_are_sent_do_not_show_in_a_frame() -> None:
    """The `repr` of fields with a secret shows only their names, because error trackers show local variables."""
    shown = [repr(each.wire_fields()) for each in (models.WebhookUpdate(secret="x"), models.CapabilityLink(uri="x"))]
    assert shown == ["Fields(secret)", "Fields(uri)"]
