"""Times in every form that was seen become aware datetimes; what is no time stays a string. Source: section 2."""

import warnings
from datetime import UTC, date, datetime, timedelta, timezone
from typing import Any

import pytest
from hypothesis import example, given, strategies as st
from itwin_platform import ITwin, Scene, SceneObject
from itwin_platform_api.types import decode_datetime, encode_datetime

from tests.support.examples import strings
from tests.support.schema_values import SCHEMAS, TIMES


def at(*parts: int, zone: timezone = UTC) -> datetime:
    """An aware datetime."""
    return datetime(*parts, tzinfo=zone)  # type: ignore[arg-type, misc]  # at most seven integers


@pytest.mark.parametrize(
    ("text", "moment", "written"),
    [
        ("2022-06-09T17:26:11.130Z", at(2022, 6, 9, 17, 26, 11, 130_000), None),
        ("2022-06-09T17:26:11.13", at(2022, 6, 9, 17, 26, 11, 130_000), "2022-06-09T17:26:11.130Z"),
        ("2015-11-05T19:10:42.9712696", at(2015, 11, 5, 19, 10, 42, 971_269), "2015-11-05T19:10:42.971Z"),
        ("2025-05-04T04:14:08Z", at(2025, 5, 4, 4, 14, 8), "2025-05-04T04:14:08.000Z"),
        ("2025-05-04T04:14:37.203Z", at(2025, 5, 4, 4, 14, 37, 203_000), None),
        ("2024-03-01T12:00:00.1234567Z", at(2024, 3, 1, 12, 0, 0, 123_456), "2024-03-01T12:00:00.123Z"),
        ("2024-03-01T12:00:00.1234567+00:00", at(2024, 3, 1, 12, 0, 0, 123_456), "2024-03-01T12:00:00.123Z"),
        ("11/3/2023 8:07:01 PM", at(2023, 11, 3, 20, 7, 1), "2023-11-03T20:07:01.000Z"),
        ("2022-06-09T17:26:11", at(2022, 6, 9, 17, 26, 11), "2022-06-09T17:26:11.000Z"),
        ("2022-06-09 17:26", at(2022, 6, 9, 17, 26), "2022-06-09T17:26:00.000Z"),
        ("2022-06-09", at(2022, 6, 9), "2022-06-09T00:00:00.000Z"),
        ("2022-06-09T17:26:11+05:30", at(2022, 6, 9, 11, 56, 11), "2022-06-09T11:56:11.000Z"),
        ("Thu, 09 Jun 2022 17:26:11 GMT", at(2022, 6, 9, 17, 26, 11), "2022-06-09T17:26:11.000Z"),
        ("11/3/2023 8:07:01 PM +02:00", at(2023, 11, 3, 18, 7, 1), "2023-11-03T18:07:01.000Z"),
        ("0001-01-01T00:00:00", at(1, 1, 1), "0001-01-01T00:00:00.000Z"),
        ("9999-12-31T23:59:59.9999999Z", at(9999, 12, 31, 23, 59, 59, 999_999), "9999-12-31T23:59:59.999Z"),
        ("0001-01-01T00:00:00+05:00", at(1, 1, 1, zone=timezone(timedelta(hours=5))), "0001-01-01T00:00:00.000+05:00"),
    ],
)
def test_a_time_is_read_in_any_form(text: str, moment: datetime, written: str | None) -> None:
    """With or without a zone (UTC then), with no to seven digits; it is written in the documented form."""
    read = decode_datetime(text)
    assert read == moment
    assert read.tzinfo is not None
    assert encode_datetime(read) == (written or text)
    assert ITwin.from_dict({"createdDateTime": text}).created_date_time == moment


@pytest.mark.parametrize("digits", range(8))
@pytest.mark.parametrize("zone", ["", "Z", "+00:00"])
def test_any_number_of_digits_is_read(digits: int, zone: str) -> None:
    """No to seven digits, with each way to write UTC and with none; beyond microseconds they are cut off."""
    fraction = "1234567"[:digits]
    text = "2022-06-09T17:26:11" + (f".{fraction}" if fraction else "") + zone
    assert decode_datetime(text) == at(2022, 6, 9, 17, 26, 11, int(fraction[:6].ljust(6, "0") or "0"))


@pytest.mark.parametrize(
    "text",
    [
        *("", " ", "yesterday", "10", "12:30", "Mon", "May", "2022", "2022-06", "June 9", "9th", "5 PM", "1e999"),
        *("2022-13-45T00:00:00Z", "2022-06-09T25:00:00Z", "2022-06-09T24:00:00Z", "2016-12-31T23:59:60Z"),
        *("2022-06-09 17:26:11 CET", "2022-06-09T17:26:11+99:00", "\ud800", "0" * 5000, "(" * 3000),
    ],
    ids=lambda text: ascii(text)[:30],
)
def test_an_incomplete_time_stays_a_string(text: str) -> None:
    """Nothing is invented: no date of today, no zone of this machine; and no page is lost by it."""
    assert decode_datetime(text) == text
    assert type(decode_datetime(text)) is str
    model = ITwin.from_dict({"createdDateTime": text})
    assert model.to_dict() == {"createdDateTime": text}


@pytest.mark.parametrize("value", [None, 5, 1.5, True, [], {"a": 1}], ids=repr)
def test_what_is_no_string_stays(value: object) -> None:
    """Null and other shapes stay as they came."""
    assert decode_datetime(value) is value


@given(strings())
@example("1/1/1 1:1:1.1 AM")
@example("\x1c0\x00:0 0AM")
def test_no_text_breaks_the_reading(text: str) -> None:
    """Whatever the text is, it is read or stays, without an error or a warning, and what is read has a zone."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        read = decode_datetime(text)
    assert read == text or read.tzinfo is not None


@given(TIMES)
def test_the_documented_form_is_kept(text: str) -> None:
    """`YYYY-MM-DDTHH:mm:ss.sssZ` comes back as it was."""
    assert encode_datetime(decode_datetime(text)) == text


@given(st.datetimes(timezones=st.none() | st.timezones()))
def test_any_time_is_written_in_utc(moment: datetime) -> None:
    """A time of any zone is written in the documented form, cut off to milliseconds; one without a zone is UTC."""
    aware = moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment
    try:
        expected = aware.astimezone(UTC)
    except OverflowError:
        assert encode_datetime(moment) == aware.isoformat(timespec="milliseconds")
    else:
        assert encode_datetime(moment).endswith("Z")
        assert decode_datetime(encode_datetime(moment)) == expected.replace(
            microsecond=expected.microsecond // 1000 * 1000
        )


@pytest.mark.parametrize("model", [ITwin, Scene, SceneObject])
def test_every_documented_time_is_read(model: Any) -> None:
    """Each field of type Date-time is a datetime; the times of a webhook are String, and stay strings."""
    fields = SCHEMAS[model.__name__]["properties"]
    times = [name for name, schema in fields.items() if schema.get("$ref", "").endswith("/DateTime")]
    assert len(times) == 2
    read = model.from_dict(dict.fromkeys(times, "2022-06-09T17:26:11.13"))
    found = [value for value in (getattr(read, name, None) for name in model.__slots__) if isinstance(value, date)]
    assert found == [at(2022, 6, 9, 17, 26, 11, 130_000)] * 2
