"""The largest request and the largest response. Source: section 8."""

import asyncio
import json
from collections.abc import AsyncIterator

import httpx
import pytest
from itwin_platform import BackoffPolicy, ResponseDecodeError, UsageError
from itwin_platform_api.operations import BODY_LIMITS

from tests.client.conftest import ACCOUNT, answering
from tests.support.specification import specification

MOST = 4_718_592  # 4.5 MiB
FRAME = len('{"displayName":""}')


def created(_: httpx.Request) -> httpx.Response:
    """Respond with a scene."""
    return httpx.Response(201, json={"scene": {"id": "s"}})


def test_the_limits_are_those_of_the_specification() -> None:
    """Every body limit of the specification is held, by its method and route, and no other."""
    stated = {
        (method.upper(), path): operation["requestBody"]["x-max-body-bytes"]
        for path, methods in specification()["paths"].items()
        for method, operation in methods.items()
        if "x-max-body-bytes" in operation.get("requestBody", {})
    }
    assert stated == BODY_LIMITS == {("POST", "/scenes/"): MOST}


@pytest.mark.parametrize(
    ("letter", "width"), [("x", 1), ("é", 2), ("\u20ac", 3), ('"', 2)], ids=["1", "2", "3", "escaped"]
)
async def test_the_body_is_measured_as_it_is_sent(letter: str, width: int) -> None:
    """Exactly 4.5 MiB is sent, one byte more is rejected, in bytes of the encoded body."""
    client, requests = answering(created)
    count, rest = divmod(MOST - FRAME, width)
    exactly = letter * count + "x" * rest
    async with client:
        await client.scenes.create("itwin", display_name=exactly)
        with pytest.raises(UsageError, match=f"has {MOST + 1:,} bytes, at most {MOST:,} are allowed") as caught:
            await client.scenes.create("itwin", display_name=exactly + "x")
    assert (caught.value.code, caught.value.target) == ("RequestTooLarge", None)
    [request] = requests
    assert len(request.content) == MOST
    assert json.loads(request.content)["displayName"] == exactly


async def test_a_request_of_the_callers_own_is_measured_too() -> None:
    """Exactly 4.5 MiB is sent, one byte more is rejected; a body without a stated length is not known before."""

    async def streamed() -> AsyncIterator[bytes]:
        yield b"x" * (MOST + 1)

    client, requests = answering(created)
    async with client:
        http = client.generated.get_async_httpx_client()
        for content in (b"x" * MOST, streamed()):
            assert (await http.post("/scenes/", content=content)).status_code == 201
        with pytest.raises(UsageError, match=f"at most {MOST:,} are allowed") as caught:
            await http.post("/scenes/", content=b"x" * (MOST + 1))
    assert caught.value.code == "RequestTooLarge"
    assert [len(request.content) for request in requests] == [MOST, MOST + 1]


async def test_no_more_requests_are_in_flight_than_the_policy_allows() -> None:
    """`max_in_flight` holds for all tasks of a client."""
    in_flight: list[int] = [0]

    async def service(_: httpx.Request) -> httpx.Response:
        in_flight.append(in_flight[-1] + 1)
        await asyncio.sleep(0)
        in_flight.append(in_flight[-1] - 1)
        return httpx.Response(200, json=ACCOUNT)

    transport = httpx.MockTransport(service)
    client, _ = answering(transport=transport, backoff=BackoffPolicy(max_in_flight=2))
    async with client:
        await asyncio.gather(*(client.itwins.get_primary_account() for _ in range(5)))
    assert max(in_flight) == 2


async def test_a_response_is_measured_decoded() -> None:
    """A response of exactly the limit is read, one byte more is rejected, and what was read stays on the error."""
    body = json.dumps(ACCOUNT).encode()
    client, _ = answering(lambda _: httpx.Response(200, content=body), max_response_bytes=len(body))
    async with client:
        assert (await client.itwins.get_primary_account()).id == "a"
    client, _ = answering(lambda _: httpx.Response(200, content=body), max_response_bytes=len(body) - 1)
    async with client:
        with pytest.raises(ResponseDecodeError, match="larger than max_response_bytes") as caught:
            await client.itwins.get_primary_account()
    assert (caught.value.status, caught.value.body) == (200, body[:-1])
