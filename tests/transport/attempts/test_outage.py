"""An operation that is down: one call probes it for all, the others wait, and nobody waits for longer than it may."""

import asyncio
import itertools
import logging
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import httpx
import pytest
from itwin_platform_transport import (
    BackoffEvent,
    BackoffPolicy,
    BackoffTransport,
    CallInfo,
    CallResult,
    Gate,
    NotSentError,
    OutageEnded,
    OutageStarted,
    OutcomeUnknownError,
    Request,
    TransportError,
)

from tests.support.event_loops import in_virtual_time
from tests.support.services import Outcome, ReceivedRequest, ScriptedTransport, Step, backoff, now, response

POLICY = BackoffPolicy()
Sent = tuple[Request, CallInfo]


def get(path: str, *, policy: BackoffPolicy = POLICY, method: str = "GET") -> Sent:
    """A request of one operation, by its object."""
    request = Request(method, httpx.URL(f"https://service.example/things/{path}"), (), b"", {})
    return request, CallInfo(method=method, route="/things/{id}", policy=policy)


def down_until(seconds: float, **headers: str) -> ScriptedTransport:
    """A service that responds with 503 until a time."""

    def step(received: ReceivedRequest) -> Step:
        return response(503, headers=headers) if received.at < seconds else 200

    return ScriptedTransport(step, latency=0.01)


async def after(seconds: float, outcome: Outcome = 200) -> Outcome:
    """Respond after a time."""
    await asyncio.sleep(seconds)
    return outcome


def status_of(result: CallResult) -> int:
    """The status of the response of a call."""
    assert result.response is not None
    return result.response.status_code


async def results(transport: BackoffTransport, *requests: Sent) -> list[tuple[int | type[BaseException], int]]:
    """The status or the error of each request, and its attempts."""
    found = await asyncio.gather(*(transport.send(*each) for each in requests), return_exceptions=True)
    return [
        (status_of(each), each.attempts)
        if isinstance(each, CallResult)
        else (type(each), getattr(each, "attempts", -1))
        for each in found
    ]


@pytest.mark.parametrize("calls", [20, 200])
@pytest.mark.parametrize("error", [None, httpx.ReadError("x"), httpx.ConnectError("x")], ids=str)
async def test_an_outage_costs_few_requests_however_many_calls_meet_it(calls: int, error: Exception | None) -> None:
    """At most thirty; each call ends with what the last probe got, and tells how many requests of its own were sent."""
    service = ScriptedTransport(503 if error is None else error, latency=0.01)
    found = await results(backoff(service), *(get(str(number)) for number in range(calls)))
    assert sum(attempts for _, attempts in found) == len(service.requests) <= 30
    assert {kind for kind, _ in found} <= ({503} if error is None else {NotSentError, OutcomeUnknownError})


async def test_a_blip_loses_no_call() -> None:
    """All calls succeed after the first probe that succeeds, and the gate is free again."""
    gate, service = Gate(20, random_number=lambda: 0.0), down_until(3.0)
    found = await results(backoff(service, gate=gate), *(get(str(number)) for number in range(300)))
    assert ({status for status, _ in found}, gate.in_flight) == ({200}, 0)
    assert now() < 4.5  # the next probe would come after 5.5 s


@asynccontextmanager
async def down(transport: BackoffTransport, *, method: str = "GET") -> AsyncIterator[list[asyncio.Task[CallResult]]]:
    """An operation that has been found down by as many calls as that takes; what is left of them is cancelled."""
    calls = [asyncio.create_task(transport.send(*get(f"closing-{number}", method=method))) for number in range(5)]
    await asyncio.sleep(0.05)
    yield calls
    for call in calls:
        call.cancel()
    await asyncio.gather(*calls, return_exceptions=True)


@pytest.mark.parametrize(
    ("headers", "delays"), [({}, [0.5, 1.0, 2.0, 4.0, 5.0, 5.0]), ({"retry-after": "3"}, [3.0] * 3 + [4.0, 5.0, 5.0])]
)
async def test_the_delay_doubles_with_each_probe_that_fails(headers: dict[str, str], delays: list[float]) -> None:
    """Half a second, then 1, 2, 4, and 5 from there on; a named delay is a floor."""
    service = down_until(1e9, **headers)
    await results(backoff(service), *(get(str(number)) for number in range(10)))
    times = [0.0, *service.times[10:]]
    assert [later - earlier for earlier, later in itertools.pairwise(times)] == pytest.approx(delays, abs=0.05)


async def test_a_delay_that_another_response_names_is_a_floor_too_up_to_an_hour() -> None:
    """A request that was sent before its operation was found down may come back after that."""
    far = response(503, headers={"retry-after": "1000000000"})
    service = ScriptedTransport(lambda received: after(0.2, far) if "slow" in received.target else 503)
    transport = backoff(service)
    slow = asyncio.create_task(transport.send(*get("slow")))
    async with down(transport):
        await results(transport, get("late", policy=BackoffPolicy(max_wait=1e4, deadline=3_602.0)))
        assert service.times[6] == pytest.approx(3_600.2, abs=0.02)
        assert (await slow).attempts == 1


async def test_a_delay_that_nobody_named_is_not_told() -> None:
    """`retry_after` is what the service said, not when the next probe is due."""
    transport = backoff(ScriptedTransport(503))
    async with down(transport):
        late = await transport.send(*get("late", policy=BackoffPolicy(max_wait=0.1)))
        assert (status_of(late), late.retry_after) == (503, None)


async def test_retries_of_one_call_close_nothing() -> None:
    """One bad object that is asked for seven times does not stop the others."""
    service = ScriptedTransport(lambda received: 503 if "bad" in received.target else 200)
    transport = backoff(service)
    bad = asyncio.create_task(transport.send(*get("bad")))
    await asyncio.sleep(10.0)
    assert await results(transport, get("good")) == [(200, 1)]
    assert now() == 10.0
    assert (await bad).attempts == 7


async def test_a_path_that_has_not_failed_probes_first() -> None:
    """The fault may lie in one object. Of the paths that failed, the last 64 are remembered."""
    service = ScriptedTransport(503)
    transport = backoff(service)
    async with down(transport, method="POST"):
        waiting = [transport.send(*get(name, method="POST")) for name in ("closing-1", "closing-0", "new", "newer")]
        tasks = [asyncio.create_task(each) for each in waiting]
        await asyncio.sleep(0.5)
        assert service.requests[-1].target == "/things/new"
        await asyncio.gather(*tasks)
        for number in range(58):
            await transport.send(*get(f"more-{number}", method="POST"))
        await results(transport, *(get(name, method="POST") for name in ("closing-3", "closing-2")))
        assert service.requests[-1].target == "/things/closing-2"


async def test_bad_objects_of_an_operation_that_works_close_it_late() -> None:
    """A path that failed while another one succeeded tells little, until it succeeds: it takes five times as many."""
    bad, events = {"a", "b"}, list[BackoffEvent]()
    service = ScriptedTransport(lambda received: 503 if received.target[-1] in bad else 200)
    transport = backoff(service, on_event=events.append)

    async def starts_after(path: str) -> int:
        """How many calls that fail it takes to find the operation down."""
        count = 0
        while not any(isinstance(event, OutageStarted) for event in events):
            await results(transport, get(path, method="POST"))
            count += 1
        events.clear()
        return count

    await results(transport, *(get(path, method="POST") for path in "abc"))
    assert await starts_after("a") == 25
    bad.clear()
    assert await results(transport, get("a", method="POST")) == [(200, 1)]
    bad.update("ab")
    assert await starts_after("a") == 5


@pytest.mark.parametrize(
    ("policy", "begins", "found"),
    [
        (BackoffPolicy(max_wait=0.45), 0.05, (200, 1)),
        (BackoffPolicy(max_wait=0.44), 0.05, (503, 0)),
        (BackoffPolicy(deadline=0.46), 0.05, (200, 1)),
        (BackoffPolicy(deadline=0.45), 0.05, (503, 0)),
        (BackoffPolicy(queue_timeout=0.46), 0.05, (200, 1)),
        (BackoffPolicy(queue_timeout=0.45), 0.05, (503, 0)),
        (BackoffPolicy(queue_timeout=0.45, deadline=None), 0.05, (503, 0)),
        (BackoffPolicy(max_wait=0.1), 0.512, (200, 1)),
    ],
)
async def test_nobody_waits_for_a_probe_that_comes_too_late(
    policy: BackoffPolicy, begins: float, found: tuple[int, int]
) -> None:
    """A wait above max_wait, or to the end of the call or of its queue_timeout, is not begun.

    One for a probe under way is: its result comes before the next one would.
    """
    transport = backoff(ScriptedTransport(lambda received: 503 if received.at < 0.4 else after(0.005)))
    async with down(transport):
        await asyncio.sleep(begins - now())
        assert await results(transport, get("late", policy=policy)) == [found]
        assert (now() == begins) is (found == (503, 0))


def test_an_outage_goes_on_in_another_event_loop() -> None:
    """A call that waited when its loop ended does not keep those of the next loop from probing."""
    gate = Gate(random_number=lambda: 0.0)
    service = ScriptedTransport(*[503] * 5, 200)

    async def begin() -> None:
        async with down(backoff(service, gate=gate)):
            late = asyncio.create_task(backoff(service, gate=gate).send(*get("late")))
            await asyncio.wait([late], timeout=0.1)

    async def go_on() -> None:
        assert await results(backoff(service, gate=gate), get("x"), get("y")) == [(200, 1)] * 2

    in_virtual_time(begin())
    in_virtual_time(go_on())


async def test_another_operation_goes_on() -> None:
    """Only the operation that is down waits: by method and route, or by host where no route is known."""
    transport = backoff(ScriptedTransport(lambda received: 503 if "closing" in received.target else 200, latency=0.01))
    request = Request("GET", httpx.URL("https://other.example/things/x"), (), b"", {})
    others = (
        get("x", method="PATCH"),
        (request, CallInfo(method="GET", route="/others/{id}", policy=POLICY)),
        (request, CallInfo(method="GET", route="/things/{id}", policy=POLICY, has_template=False)),
    )
    async with down(transport):
        began = now()
        assert await results(transport, *others) == [(200, 1)] * 3
        assert now() - began < 0.1


async def test_a_call_that_comes_late_fails_with_the_next_probe_that_fails() -> None:
    """It does not wait for seven rounds of its own."""
    service = ScriptedTransport(503, latency=0.01)
    transport = backoff(service)
    async with down(transport):
        await asyncio.sleep(20.0)
        began, sent = now(), len(service.requests)
        assert sorted(await results(transport, get("late"), get("later"))) == [(503, 0), (503, 1)]
        assert now() - began < 4.0
        assert len(service.requests) == sent + 1


async def test_a_named_delay_that_is_too_long_ends_all_waits_at_once() -> None:
    """A Retry-After of 100 s is longer than max_wait: nobody waits, also those who come later."""
    service = down_until(1e9, **{"retry-after": "100"})
    transport = backoff(service)
    found = await results(transport, *(get(str(number)) for number in range(100)))
    assert {status for status, _ in found} == {503}
    assert now() < 0.1
    late = await transport.send(*get("late"))
    assert late.attempts == 0
    assert late.retry_after == pytest.approx(100.0, abs=0.2)


async def test_a_post_waits_where_it_was_not_sent_and_is_never_sent_twice() -> None:
    """A POST that got a 503 fails at once; those that come meanwhile wait and succeed."""
    service = down_until(2.0)
    transport = backoff(service)
    async with down(transport, method="POST") as calls:
        assert [status_of(await call) for call in calls] == [503] * 5
    found = await results(transport, *(get(str(number), method="POST") for number in range(50)))
    assert [status for status, _ in found].count(200) >= 48  # each probe that failed is one that was lost
    targets = [request.target for request in service.requests]
    assert len(targets) == len(set(targets))


async def test_closing_ends_the_waits_and_a_cancelled_wait_leaves_nothing() -> None:
    """A call that waits beside the gate ends with the client, and one that is cancelled is not chosen to probe."""
    service = ScriptedTransport(503, latency=0.01)
    transport = backoff(service)
    async with down(transport):
        waiting = [asyncio.create_task(transport.send(*get(f"waits-{number}"))) for number in range(2)]
        await asyncio.sleep(0.1)
        waiting[0].cancel()
        await asyncio.sleep(0.1)
        sent = len(service.requests)
        await transport.aclose()
        found = await asyncio.gather(*waiting, return_exceptions=True)
    assert [type(each) for each in found] == [asyncio.CancelledError, NotSentError]
    assert len(service.requests) == sent


@pytest.mark.parametrize(("is_cancelled", "ends_at"), [(True, 0.6), (False, 1.0)])
async def test_a_probe_that_hangs_stops_nobody(is_cancelled: bool, ends_at: float) -> None:
    """Another call probes at once when the prober is cancelled, else after one more delay."""

    def step(received: ReceivedRequest) -> Step:
        return 503 if received.at < 0.4 else after(3600.0 if "first" in received.target else 0.0)

    transport = backoff(ScriptedTransport(step))
    async with down(transport):
        first = asyncio.create_task(transport.send(*get("first")))
        await asyncio.sleep(0.5)
        second = asyncio.create_task(transport.send(*get("second")))
        await asyncio.sleep(0.05)
        if is_cancelled:
            first.cancel()
        assert status_of(await second) == 200
        assert now() == pytest.approx(ends_at, abs=1e-6)
        first.cancel()
        await asyncio.wait([first])


async def test_clients_of_httpx_end_with_what_the_last_probe_got() -> None:
    """All paths of a host are down together: few requests are sent, and each caller gets a response."""
    service = ScriptedTransport(503, latency=0.01)
    async with httpx.AsyncClient(transport=backoff(service)) as client:
        found = await asyncio.gather(*(client.get(f"https://service.example/{number}") for number in range(30)))
    assert {response.status_code for response in found} == {503}
    assert len(service.requests) < 60


async def test_what_cannot_be_sent_tells_nothing_of_an_operation() -> None:
    """A request that HTTP has no form for neither ends a row of failures nor counts in it."""
    events: list[BackoffEvent] = []
    transport = backoff(ScriptedTransport(*[503] * 4, httpx.LocalProtocolError("x"), 503), on_event=events.append)
    for number in range(6):
        assert not any(isinstance(event, OutageStarted) for event in events)
        await results(transport, get(str(number), method="POST"))
    assert isinstance(events[-1], OutageStarted)


async def test_an_outage_is_two_events_and_two_lines(caplog: pytest.LogCaptureFixture) -> None:
    """When it starts and when it ends, with the time until the first probe and the length."""
    caplog.set_level(logging.INFO, "itwin_platform")
    events: list[BackoffEvent] = []
    await results(backoff(down_until(1.0), on_event=events.append), *(get(str(number)) for number in range(20)))
    started, ended = (event for event in events if isinstance(event, OutageStarted | OutageEnded))
    assert started == OutageStarted(method="GET", route="/things/{id}", status=503, error=None, seconds=0.5)
    assert ended == OutageEnded(method="GET", route="/things/{id}", seconds=ended.seconds, probes=2)
    assert round(ended.seconds, 2) == 1.54
    assert [record.getMessage() for record in caplog.records if "attempt" not in record.getMessage()] == [
        "GET /things/{id} is down (503): its calls wait, one probes in 0.5 s",
        "GET /things/{id} responds again after 1.54 s, 2 probes",
    ]


@pytest.mark.parametrize(
    ("cause", "said"),
    [
        (ConnectionRefusedError(111, "x"), "connection refused"),
        (socket.gaierror(socket.EAI_NONAME, "Name or service not known"), "name or service not known"),
        (None, None),
    ],
)
async def test_an_address_that_was_never_reached_fails_soon(cause: Exception | None, said: str | None) -> None:
    """An unknown host, or nothing on loopback, of a service that has never responded: three attempts in two seconds."""
    refused = httpx.ConnectError("x")
    refused.__cause__ = ExceptionGroup("all attempts failed", [cause]) if cause else None
    service = ScriptedTransport(refused)
    transport = backoff(service, jitter=1.0)
    with pytest.raises(TransportError) as raised:
        await transport.handle_async_request(httpx.Request("GET", "http://127.0.0.1:9/things"))
    assert (now() < 2.0, raised.value.attempts) == ((True, 3) if cause else (False, 7))
    assert said is None or f"ConnectError: {said}" in str(raised.value)
    assert ("nothing has ever responded at this address" in str(raised.value)) is (cause is not None)
