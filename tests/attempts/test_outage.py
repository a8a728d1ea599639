"""An operation that is down: one call probes it for all, the others wait, and nobody waits for longer than it may."""

import asyncio
import dataclasses
import logging
import socket
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager

import httpx
import pytest
from hypothesis import given, settings, strategies as st
from itwin_platform import (
    BackoffEvent,
    BackoffPolicy,
    BackoffTransport,
    Gate,
    NotSentError,
    OutageEnded,
    OutageStarted,
    OutcomeUnknownError,
    TransportError,
)

from tests.support.examples import examples
from tests.support.exchange import ReceivedRequest, now
from tests.support.faces import CallInfo, CallResult, Outage, Request
from tests.support.scripted_transport import Outcome, ScriptedTransport, Step, backoff, response

POLICY = BackoffPolicy()


def fail(
    outage: Outage,
    path: str = "/a",
    *,
    is_first: bool = True,
    is_probe: bool = False,
    named: float = 0.0,
    at: float = 0.0,
    jitter: float = 0.0,
) -> bool:
    """Count a failure, that of a first attempt unless it is said otherwise."""
    return outage.failed(
        path, is_first=is_first, is_probe=is_probe, named_delay=named, policy=POLICY, now=at, jitter=jitter
    )


def closed(*, named: float = 0.0) -> Outage:
    """An operation that has just closed."""
    outage = Outage()
    assert [fail(outage, f"/{number}", named=named) for number in range(5)] == [*[False] * 4, True]
    return outage


def test_the_delay_doubles_with_each_probe_that_fails() -> None:
    """Half a second, then 1, 2, 4, and 5 from there on; a named delay is a floor, up to an hour."""
    outage, found = closed(), []
    for _ in range(6):
        found.append(outage.until)
        outage.begin_probe(outage.until)
        assert fail(outage, is_first=False, is_probe=True)
    assert (found, outage.rounds) == ([0.5, 1.0, 2.0, 4.0, 5.0, 5.0], 7)
    assert (closed(named=3.0).until, closed(named=1e9).until) == (3.0, 3_600.0)


def test_retries_of_one_call_close_nothing() -> None:
    """One bad object that is asked for seven times does not stop the others."""
    outage = Outage()
    assert not any(fail(outage, "/bad", is_first=False, named=9.0) for _ in range(100))
    assert (outage.rounds, outage.until) == (0, 0.0)


def test_who_has_not_failed_probes_first() -> None:
    """The first path that has not failed, else the first that waits; the memory for paths has a bound."""
    outage = closed()
    assert outage.prober(["/0", "/1", "/new", "/newer"]) == 2
    assert outage.prober(["/4", "/3"]) == 0
    for number in range(64):
        fail(outage, f"/more/{number}")
    assert outage.prober(["/more/0", "/0"]) == 1


def test_a_success_opens_it_and_bad_paths_stay_known() -> None:
    """A path that failed while another one succeeds tells little, and probes last, until it succeeds."""
    outage = closed()
    assert not outage.succeeded("/new")
    assert outage.rounds == 0
    assert [fail(outage, "/0") for _ in range(25)] == [*[False] * 24, True]
    assert outage.prober(["/1", "/4", "/other"]) == 2
    assert [outage.succeeded(f"/{number}") for number in range(5)] == [False, False, False, False, True]


def test_a_probe_that_hangs_lets_another_one_probe_after_a_delay() -> None:
    """One request for each delay, and a probe that ended without finding out is replaced at once."""
    outage = closed()
    outage.begin_probe(0.5)
    assert not outage.may_probe(0.9)
    assert outage.may_probe(1.0)
    outage.begin_probe(1.0)
    outage.end_probe(1.1)
    assert outage.may_probe(1.1)


@pytest.mark.parametrize(
    ("named", "max_wait", "ends_at", "ends"),
    [
        (0.0, 60.0, None, False),
        (0.0, 0.4, None, True),
        (0.0, 60.0, 0.5, True),
        (0.0, 60.0, 0.6, False),
        (100.0, 60.0, None, True),
    ],
)
def test_nobody_waits_for_a_probe_that_comes_too_late(
    named: float, max_wait: float, ends_at: float | None, ends: bool
) -> None:
    """A wait above max_wait, or to the end of the call, is not begun."""
    outage = closed(named=named)
    assert outage.ends_wait(policy=BackoffPolicy(max_wait=max_wait), ends_at=ends_at, now=0.0) is ends


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


async def results(transport: BackoffTransport, *requests: Sent) -> list[tuple[int | type[BaseException], int]]:
    """The status or the error of each request, and its attempts."""
    found = await asyncio.gather(*(transport.send(*each) for each in requests), return_exceptions=True)
    return [
        (each.response.status_code, each.attempts)
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
    assert len(service.requests) <= 30
    assert sum(attempts for _, attempts in found) == len(service.requests)
    kinds = {kind for kind, _ in found}
    assert kinds <= ({503} if error is None else {NotSentError, OutcomeUnknownError})


async def test_a_blip_loses_no_call() -> None:
    """All calls succeed after the first probe that succeeds, and the gate is free again."""
    gate, service = Gate(20, random_number=lambda: 0.0), down_until(3.0)
    found = await results(backoff(service, gate=gate), *(get(str(number)) for number in range(300)))
    assert {status for status, _ in found} == {200}
    assert gate.in_flight == 0


@asynccontextmanager
async def down(transport: BackoffTransport, *, method: str = "GET") -> AsyncIterator[list[asyncio.Task[CallResult]]]:
    """An operation that has been found down by as many calls as that takes; what is left of them is cancelled."""
    calls = [asyncio.create_task(transport.send(*get(f"closing-{number}", method=method))) for number in range(5)]
    await asyncio.sleep(0.05)
    yield calls
    for call in calls:
        call.cancel()
    await asyncio.gather(*calls, return_exceptions=True)


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
    """It does not wait for seven rounds of its own, and a call that may wait less ends at once."""
    service = ScriptedTransport(503, latency=0.01)
    transport = backoff(service)
    async with down(transport):
        await asyncio.sleep(20.0)
        began, sent = now(), len(service.requests)
        assert await results(transport, get("late")) == [(503, 1)]
        assert now() - began < 6.0
        assert len(service.requests) == sent + 1
        assert await results(transport, get("impatient", policy=BackoffPolicy(max_wait=0.1))) == [(503, 0)]


async def test_a_named_delay_that_is_too_long_ends_all_waits_at_once() -> None:
    """A Retry-After of 100 s is longer than max_wait: nobody waits, also those who come later."""
    service = down_until(1e9, **{"retry-after": "100"})
    transport = backoff(service)
    found = await results(transport, *(get(str(number)) for number in range(100)))
    assert {status for status, _ in found} == {503}
    assert asyncio.get_running_loop().time() < 0.1
    late = await transport.send(*get("late"))
    assert late.attempts == 0
    assert late.retry_after == pytest.approx(100.0, abs=0.2)


async def test_the_deadline_holds_while_a_call_waits_beside_the_gate() -> None:
    """No call waits past it, and queue_timeout counts as well."""
    transport = backoff(ScriptedTransport(503, latency=0.01))
    queued = BackoffPolicy(queue_timeout=2.0)
    async with down(transport):
        await asyncio.sleep(8.0)  # the next probe is due at 12.5 s
        for policy in (BackoffPolicy(deadline=2.0), queued, dataclasses.replace(queued, deadline=None)):
            began = now()
            assert await results(transport, get("x", policy=policy)) == [(503, 0)]
            assert now() == began


async def test_a_post_waits_where_it_was_not_sent_and_is_never_sent_twice() -> None:
    """A POST that got a 503 fails at once; those that come meanwhile wait and succeed."""
    service = down_until(2.0)
    transport = backoff(service)
    async with down(transport, method="POST") as calls:
        assert [(await call).response.status_code for call in calls] == [503] * 5
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


async def after(seconds: float) -> Outcome:
    """Respond after a time."""
    await asyncio.sleep(seconds)
    return 200


async def test_another_call_probes_when_the_prober_is_cancelled() -> None:
    """A prober that is cancelled in flight stops nobody."""

    def step(received: ReceivedRequest) -> Step:
        return 503 if received.at < 0.4 else after(3600.0 if "first" in received.target else 0.0)

    transport = backoff(ScriptedTransport(step))
    async with down(transport):
        first, second = (asyncio.create_task(transport.send(*get(name))) for name in ("first", "second"))
        await asyncio.sleep(0.5)
        first.cancel()
        assert (await second).response.status_code == 200
        assert now() < 0.6


async def test_a_probe_under_way_is_waited_for() -> None:
    """A call whose max_wait is shorter than the delay between probes gets the result of one that has begun."""
    transport = backoff(ScriptedTransport(lambda received: 503 if received.at < 0.4 else after(0.3)))
    async with down(transport):
        await asyncio.sleep(0.55)
        assert await results(transport, get("impatient", policy=BackoffPolicy(max_wait=0.1))) == [(200, 1)]


async def test_clients_of_httpx_end_with_what_the_last_probe_got() -> None:
    """All paths of a host are down together, and what one caller does with its response changes no other."""
    service = ScriptedTransport(503, latency=0.01)
    async with httpx.AsyncClient(transport=backoff(service)) as client:
        found = await asyncio.gather(*(client.get(f"https://service.example/{number}") for number in range(30)))
    assert {response.status_code for response in found} == {503}
    assert len(service.requests) < 60


async def test_what_cannot_be_sent_tells_nothing_of_an_operation() -> None:
    """A request that HTTP has no form for neither ends a row of failures nor counts in it."""
    events: list[BackoffEvent] = []
    steps: Iterator[Step] = iter([*[503] * 4, httpx.LocalProtocolError("x"), 503])
    transport = backoff(ScriptedTransport(lambda _: next(steps)), on_event=events.append)
    for number in range(6):
        assert not any(isinstance(event, OutageStarted) for event in events)
        await results(transport, get(str(number), method="POST"))
    assert [type(event) for event in events][-1] is OutageStarted


async def test_an_outage_is_two_events_and_two_lines(caplog: pytest.LogCaptureFixture) -> None:
    """When it starts and when it ends, with the time until the first probe and the length."""
    caplog.set_level(logging.INFO, "itwin_platform")
    events: list[BackoffEvent] = []
    await results(backoff(down_until(1.0), on_event=events.append), *(get(str(number)) for number in range(20)))
    started, ended = (event for event in events if isinstance(event, OutageStarted | OutageEnded))
    assert started == OutageStarted(method="GET", route="/things/{id}", status=503, error=None, seconds=0.5)
    assert isinstance(ended, OutageEnded)
    assert dataclasses.replace(ended, seconds=round(ended.seconds, 2)) == OutageEnded(
        method="GET", route="/things/{id}", seconds=1.52, probes=2
    )
    assert [record.getMessage() for record in caplog.records if "attempt" not in record.getMessage()] == [
        "GET /things/{id} is down (503): its calls wait, one probes in 0.5 s",
        "GET /things/{id} responds again after 1.52 s, 2 probes",
    ]


@pytest.mark.parametrize(
    ("cause", "said"),
    [
        (ConnectionRefusedError(111, "x"), "connection refused"),
        (socket.gaierror(socket.EAI_NONAME, "Name or service not known"), "name or service not known"),
        (None, None),
    ],
)
async def test_an_address_that_was_never_reached_fails_within_two_seconds(
    cause: Exception | None, said: str | None
) -> None:
    """An unknown host, or nothing on loopback, of a service that has never responded: three attempts, and a text."""
    refused = httpx.ConnectError("x")
    refused.__cause__ = ExceptionGroup("all attempts failed", [cause]) if cause else None
    service = ScriptedTransport(refused)
    transport = backoff(service, jitter=1.0)
    with pytest.raises(TransportError) as raised:
        await transport.handle_async_request(httpx.Request("GET", "http://127.0.0.1:9/things"))
    assert (asyncio.get_running_loop().time() < 2.0) is (cause is not None)
    assert said is None or f"ConnectError: {said}" in str(raised.value)
    assert ("nothing has ever responded at this address" in str(raised.value)) is (cause is not None)
    assert raised.value.attempts == (3 if cause else 7)


@settings(max_examples=examples(60), deadline=None)
@given(st.lists(st.tuples(st.booleans(), st.booleans(), st.floats(0, 20), st.floats(0, 1)), max_size=60))
def test_an_outage_never_probes_early(steps: list[tuple[bool, bool, float, float]]) -> None:
    """Whatever fails, and however often: the time of the next probe only moves forward, by no less than was named."""
    outage, at = Outage(), 0.0
    for is_first, is_probe, named, jitter in steps:
        at += jitter
        probes = is_probe and outage.rounds > 0
        fail(outage, is_first=is_first, is_probe=probes, named=named, at=at, jitter=jitter)
        assert outage.rounds == 0 or outage.until >= at + named - 1e-9 or not (probes or named)
