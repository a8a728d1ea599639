"""The support modules of the generated package work with a plain httpx client and without the wrapper."""

from datetime import date
from enum import IntEnum
from typing import Any
from uuid import UUID

import httpx
import pytest
from itwin_platform_api.decoding import decode_enum, decode_map, open_number
from itwin_platform_api.errors import ResponseDecodeError, decode_error
from itwin_platform_api.request import RequestValues, send
from itwin_platform_api.types import decode_date, decode_uuid, encode

KEY = "6a2d2381-6c57-9332-387a-5b7c00000000"


@pytest.mark.parametrize("value", ["soon", "2024-13-01", 7, None, ["2024-01-02"]])
def test_a_value_of_another_form_stays(value: Any) -> None:
    """What is no date and no UUID stays as it came."""
    assert decode_date(value) is value
    assert decode_uuid(value) is value


def test_dates_and_uuids_survive_a_round_trip() -> None:
    """A date and a UUID are sent in the form in which they came."""
    assert decode_date("2024-05-17") == date(2024, 5, 17)
    assert decode_uuid(KEY) == UUID(KEY)
    assert encode([decode_date("2024-05-17"), decode_uuid(KEY)]) == ["2024-05-17", KEY]


def test_a_number_that_an_enum_does_not_list_stays_a_number() -> None:
    """An unknown number survives a round trip, and what is no number is no member."""

    class Level(IntEnum):
        LOW = 1

        @classmethod
        def _missing_(cls, value: object) -> "Level | None":
            return open_number(cls, value)

    assert decode_enum(Level, 1) is Level.LOW
    assert (decode_enum(Level, 7), Level(7).name) == (7, "7")
    for other in (True, "1", 1.5):
        assert decode_enum(Level, other) is other
    high: Any = "high"
    with pytest.raises(ValueError, match="'high' is not a valid"):
        Level(high)


def test_each_value_of_a_map_is_decoded() -> None:
    """A property that maps names to models keeps its names."""
    assert decode_map(decode_date, {"a": "2024-05-17", "b": None}) == {"a": date(2024, 5, 17), "b": None}


def test_a_broken_success_keeps_the_response() -> None:
    """Without a wrapper, the error of a success that cannot be decoded has status, headers and body."""
    error = decode_error(httpx.Response(200, headers={"x-a": "b"}, content=b"{"))
    assert isinstance(error, ResponseDecodeError)
    assert (error.status, error.headers["x-a"], error.body) == (200, "b", b"{")
    assert str(error) == "response with status 200 and 1 bytes: it does not match the specification"


@pytest.mark.parametrize(("query", "sent"), [({"$top": "5"}, "%24top=5"), ("$top=5", "$top=5"), ({}, "")])
async def test_values_go_through_a_plain_httpx_client(query: dict[str, str] | str, sent: str) -> None:
    """An `httpx.AsyncClient` sends a request from its values, with a query by name or as it stands."""
    seen: list[httpx.Request] = []

    def response(request: httpx.Request) -> httpx.Response:
        seen.append(request)
        return httpx.Response(204)

    values = RequestValues(
        method="POST", route="/a/{id}", path="/a/1", query=query, headers={"x-b": "c"}, body={"day": date(2024, 1, 2)}
    )
    async with httpx.AsyncClient(transport=httpx.MockTransport(response), base_url="http://127.0.0.1") as client:
        await send(client, values)
    (request,) = seen
    assert (request.method, request.url.path, request.url.query.decode()) == ("POST", "/a/1", sent)
    assert (request.headers["x-b"], request.content) == ("c", b'{"day":"2024-01-02"}')
