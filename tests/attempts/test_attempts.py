"""The attempts of one call: how many the service receives, when, and what the caller gets."""

import asyncio
from collections.abc import AsyncIterator

import httpx
import pytest
from itwin_platform import BackoffPolicy, BackoffTransport, Gate

from tests.support.scripted_transport import ScriptedTransport, backoff, rate_limited, response, send


@pytest.mark.parametrize(
    ("method", "steps", "times"),
    [
        ("GET", (200,), [0.0]),
        ("GET", (503, 503, 200), [0.0, 0.5, 1.5]),
        ("PATCH", (502, 504, 200), [0.0, 0.5, 1.5]),
        ("GET", (503,) * 7, [0.0, 0.5, 1.5, 3.5, 7.5, 12.5, 17.5]),
        ("POST", (503, 200), [0.0]),
        ("POST", (rate_limited("3"), 201), [0.0, 3.0]),
        ("POST", (rate_limited(), rate_limited(), 201), [0.0, 0.5, 1.5]),
        ("GET", (rate_limited("3"), 503, rate_limited("0.5"), 200), [0.0, 3.0, 4.0, 4.5]),
        ("GET", (response(503, headers={"retry-after": "7"}), 200), [0.0, 7.0]),
        ("GET", (response(503, headers={"retry-after": "soon"}), 200), [0.0, 0.5]),
        ("GET", (*[rate_limited("1")] * 10, 200), [float(second) for second in range(11)]),
        ("GET", (rate_limited("61"), 200), [0.0]),
        ("GET", (500, 200), [0.0]),
        ("GET", (404, 200), [0.0]),
    ],
)
async def test_when_the_service_is_asked_again(
    method: str, steps: tuple[int | httpx.Response, ...], times: list[float]
) -> None:
    """Each retry comes when the service said, else after a doubled wait; a POST is not retried after 5xx.

    A 429 uses no attempt, and a wait above max_wait is not begun.
    """
    service = ScriptedTransport(*steps)
    response = await send(backoff(service), method)
    assert service.times == times
    last = steps[len(times) - 1]
    assert response.status_code == (last if isinstance(last, int) else last.status_code)
    assert asyncio.get_running_loop().time() == times[-1]


@pytest.mark.parametrize("began", [0.0, 107.07835250545195])
async def test_a_wait_as_long_as_the_longest_is_begun(began: float) -> None:
    """A `retry-after` of exactly `max_wait` is waited for, whatever the jitter and the rounding of the clock."""
    await asyncio.sleep(began)
    service = ScriptedTransport(rate_limited("60"), 200)
    transport = backoff(service, gate=Gate(1), jitter=1.0)
    responses = await asyncio.gather(*(send(transport) for _ in range(3)))
    assert [response.status_code for response in responses] == [200, 200, 200]
    assert service.times == pytest.approx([0.0, 60.0, 60.0, 60.0])


async def test_a_retry_sends_the_same_request() -> None:
    """Method, headers and body of the second request are those of the first."""
    service = ScriptedTransport(503, 200)
    await send(backoff(service), "PATCH", **{"x-correlation-id": "c-1"})
    first, second = service.requests
    assert (first.method, first.headers, first.body) == (second.method, second.headers, second.body)
    assert first.body == b"{}"


async def test_a_streamed_body_is_sent_again_too() -> None:
    """A body that can be read once is read once, and sent again with its length, which is known by then."""

    async def pieces() -> object:
        yield b"one "
        yield b"two"

    service = ScriptedTransport(503, 200)
    request = httpx.Request("PUT", "https://service.example/", content=pieces())  # type: ignore[arg-type]  # an async generator
    await backoff(service).handle_async_request(request)
    assert [seen.body for seen in service.requests] == [b"one two", b"one two"]
    again = service.requests[1].headers
    assert (again.get("content-length"), again.get("transfer-encoding")) == ("7", None)


async def test_jitter_spreads_the_retries() -> None:
    """The random number that is handed in decides how much is added."""
    service = ScriptedTransport(503, rate_limited("10"), 200)
    await send(backoff(service, jitter=1.0))
    assert service.times == pytest.approx([0.0, 0.625, 0.625 + 10.5])


async def test_a_429_without_a_delay_lets_others_run() -> None:
    """Retries without a delay do not block the event loop, and the deadline ends them."""
    policy = BackoffPolicy(base_delay=0.0, deadline=5.0)
    call = asyncio.create_task(send(backoff(ScriptedTransport(rate_limited()), policy=policy)))
    for _ in range(100):
        await asyncio.sleep(0)
    assert not call.done()
    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call


async def test_it_works_in_any_httpx_client_and_closes_what_is_beneath() -> None:
    """`httpx.AsyncClient(transport=BackoffTransport(...))` is all that others need; no gate and no policy are due."""
    service = ScriptedTransport(503, 200)
    async with httpx.AsyncClient(transport=BackoffTransport(service)) as client:
        response = await client.get("https://service.example/", params={"a": "b"})
    assert response.status_code == 200
    assert len(service.requests) == 2
    assert service.closed


class SlowBody(httpx.AsyncByteStream):
    """A body that takes ten seconds."""

    async def __aiter__(self) -> AsyncIterator[bytes]:
        await asyncio.sleep(10.0)
        yield b"{}"


async def test_a_cooldown_starts_before_the_body_of_its_429() -> None:
    """A 429 starts its cooldown when its head has arrived, so no call starts while its body is read."""
    gate = Gate(random_number=lambda: 0.0)
    service = ScriptedTransport(httpx.Response(429, headers={"retry-after": "30"}, stream=SlowBody()), 200, 200)
    transport = backoff(service, gate=gate)
    first = asyncio.create_task(send(transport))
    await asyncio.sleep(1.0)
    assert gate.cooldown_left() == pytest.approx(29.0)
    assert (await send(transport)).status_code == (await first).status_code == 200
    assert [at >= 30.0 for at in service.times] == [False, True, True]
