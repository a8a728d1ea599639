"""Circuit breakers: one call at a time probes an operation that is down, and no call waits longer than it may."""

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
    DeadlineExceededError,
    Gate,
    NotSentError,
    OutageEnded,
    OutageStarted,
    OutcomeUnknownError,
    Request,
    TransportError,
)
from itwin_platform_transport.gates.breaker import FAILURES_TO_OPEN, Breakers, Failure

from tests.support.event_loops import in_virtual_time
from tests.support.requests import request_to
from tests.support.services import Outcome, ReceivedRequest, ScriptedTransport, Step, backoff, now, response

POLICY = BackoffPolicy()
Sent = tuple[Request, CallInfo]


def get(path: str, *, policy: BackoffPolicy = POLICY, method: str = "GET") -> Sent:
    """Return a request of one operation, by its object."""
    request = request_to(f"https://service.example/things/{path}", method=method)
    return request, CallInfo(method=method, route="/things/{id}", policy=policy)


def down_until(seconds: float, **headers: str) -> ScriptedTransport:
    """Return a service that responds with 503 until a time."""

    def step(received: ReceivedRequest) -> Step:
        return response(503, headers=headers) if received.at < seconds else 200

    return ScriptedTransport(step, latency=0.01)


async def after(seconds: float, outcome: Outcome = 200) -> Outcome:
    """Return an outcome after some seconds."""
    await asyncio.sleep(seconds)
    return outcome


def status_of(result: CallResult) -> int:
    """Return the status of a result."""
    assert result.response is not None
    return result.response.status_code


async def results(transport: BackoffTransport, *requests: Sent) -> list[tuple[int | type[BaseException], int]]:
    """Send requests at once; return the status or the error of each, and its attempts."""
    found = await asyncio.gather(*(transport.send(*each) for each in requests), return_exceptions=True)
    return [
        (status_of(each), each.attempts)
        if isinstance(each, CallResult)
        else (type(each), getattr(each, "attempts", -1))
        for each in found
    ]


@pytest.mark.parametrize(("calls", "ends_at"), [(10, 22.5), (20, 19.45), (100, 17.59)])
@pytest.mark.parametrize("error", [None, httpx.ReadError("x"), httpx.ConnectError("x")], ids=str)
async def test_an_outage_costs_few_requests_for_any_calls(calls: int, ends_at: float, error: Exception | None) -> None:
    """At most 50 requests are sent. A call ends when its own attempts would have ended, with the result of a probe."""
    service = ScriptedTransport(503 if error is None else error, latency=0.01)
    found = await results(backoff(service), *(get(str(number)) for number in range(calls)))
    assert sum(attempts for _, attempts in found) == len(service.requests) <= 50
    assert {kind for kind, _ in found} <= ({503} if error is None else {NotSentError, OutcomeUnknownError})
    assert now() == pytest.approx(ends_at, abs=0.3)


@pytest.mark.parametrize("seconds", [0.3, 3.0, 10.0])
@pytest.mark.parametrize("calls", [20, 100])
async def test_a_blip_loses_no_call(calls: int, seconds: float) -> None:
    """All calls succeed soon after it, also those in the delay before a retry, and hold no permit."""
    gate, service = Gate(20, random_number=lambda: 0.0), down_until(seconds)
    found = await results(backoff(service, gate=gate), *(get(str(number)) for number in range(calls)))
    assert ({status for status, _ in found}, gate.in_flight) == ({200}, 0)
    assert now() < seconds + 1.5


ONCE = BackoffPolicy(max_attempts=1)


async def test_twenty_failures_in_a_row_open_the_breaker() -> None:
    """Neither nineteen failures nor twenty with a success or half a minute between them open it.

    An invalid request is no success.
    """
    steps: dict[str, Step] = {"good": 200, "invalid": httpx.LocalProtocolError("x")}
    transport = backoff(ScriptedTransport(lambda received: steps.get(received.target.rpartition("/")[2], 503)))
    await results(transport, *(get(str(number), policy=ONCE) for number in range(19)))
    await asyncio.sleep(30.1)
    for failures, stops in ((19, False), (19, False), (20, True)):
        names = [*map(str, range(9)), "invalid", *map(str, range(9, failures))]
        await results(transport, *(get(name, policy=ONCE) for name in names))
        began = now()
        assert await results(transport, get("good")) == [(200, 1)]
        assert (now() > began) is stops


async def test_requests_without_a_template_share_the_breaker_of_their_host() -> None:
    """A request of an httpx client fails at once after twenty others, and its error has the failure of the last one."""
    transport = backoff(ScriptedTransport(httpx.ConnectError("x")), policy=BackoffPolicy(max_attempts=1, max_wait=0.1))
    for number in range(FAILURES_TO_OPEN + 1):
        message = r"a circuit breaker is open \(ConnectError\)" if number == FAILURES_TO_OPEN else "could not connect"
        with pytest.raises(NotSentError, match=message):
            await transport.handle_async_request(httpx.Request("GET", f"https://service.example/{number}"))


async def test_any_success_closes_the_breaker() -> None:
    """The success may be that of a request that was sent before the outage, and may come when a probe fails."""

    def step(received: ReceivedRequest) -> Step:
        if "early" in received.target:
            return after(1.0)
        # The timer of the probe comes first in the event loop iteration in which the early request succeeds too.
        return after(0.4 - 1e-10, 503) if "probe" in received.target else 503 if received.at < 0.4 else 200

    transport = backoff(ScriptedTransport(step))
    early = asyncio.create_task(transport.send(*get("early")))
    async with down(transport):
        probe = asyncio.create_task(transport.send(*get("probe", policy=ONCE)))
        await asyncio.sleep(0.7)
        assert await results(transport, get("late"), get("later")) == [(200, 1)] * 2
        assert now() == pytest.approx(1.0)
        assert [status_of(await each) for each in (early, probe)] == [200, 503]


@asynccontextmanager
async def down(transport: BackoffTransport, *, method: str = "GET") -> AsyncIterator[None]:
    """Open the breaker of an operation at the time 0, with calls that have ended."""
    requests = [get(f"opening-{number}", method=method, policy=ONCE) for number in range(FAILURES_TO_OPEN)]
    assert {status for status, _ in await results(transport, *requests)} == {503}
    yield


@pytest.mark.parametrize(
    ("headers", "jitter", "delay"), [({}, 0.0, 0.6), ({}, 1.0, 0.9), ({"retry-after": "3"}, 0.0, 3.0)], ids=str
)
async def test_one_call_at_a_time_probes_about_every_second(
    headers: dict[str, str], jitter: float, delay: float
) -> None:
    """Each probe is another call, and comes no sooner than the delay that the service names."""
    service = down_until(1e9, **headers)
    await results(backoff(service, jitter=jitter), *(get(str(number)) for number in range(40)))
    times, targets = service.times[FAILURES_TO_OPEN:], [each.target for each in service.requests]
    assert [later - earlier for earlier, later in itertools.pairwise(times[:5])] == pytest.approx([delay] * 4, abs=0.07)
    assert len(set(targets[: FAILURES_TO_OPEN + 5])) == FAILURES_TO_OPEN + 5


async def test_a_call_that_has_waited_long_probes_less_often() -> None:
    """After 20 s it probes every 5 s: an outage of ten minutes costs at most 200 requests, and no call fails."""
    service, policy = down_until(600.0), BackoffPolicy(max_attempts=1000, deadline=None)
    found = await results(backoff(service), *(get(str(number), policy=policy) for number in range(20)))
    assert {status for status, _ in found} == {200}
    assert len([at for at in service.times if at < 600.0]) <= 200
    late = [at for at in service.times if 20.0 < at < 600.0]
    assert {round(later - earlier) for earlier, later in itertools.pairwise(late)} == {5}


@pytest.mark.parametrize(("bad", "stops_others"), [(1, False), (6, False), (7, True)])
async def test_up_to_six_bad_objects_stop_no_other_call(bad: int, stops_others: bool) -> None:
    """Of consecutive failures of one path, with any query, only the first three count for its operation."""
    transport = backoff(ScriptedTransport(lambda received: 503 if "bad" in received.target else 200))
    for query in range(FAILURES_TO_OPEN):
        await results(transport, *(get(f"bad-{number}?{query}", policy=ONCE) for number in range(bad)))
    began = now()
    assert await results(transport, get("good", policy=ONCE)) == [(200, 1)]
    assert (now() > began) is stops_others


async def test_an_outage_without_calls_is_forgotten() -> None:
    """After half a minute without a call, the next one is sent at once, and its 503 opens no breaker."""
    service = ScriptedTransport(lambda received: 503 if received.at < 40.0 or "first" in received.target else 200)
    transport = backoff(service)
    async with down(transport):
        assert await results(transport, get("probe", policy=ONCE)) == [(503, 1)]
        await asyncio.sleep(40.0 - now())
        first = asyncio.create_task(transport.send(*get("first")))
        await asyncio.sleep(0.01)
        assert await results(transport, get("second")) == [(200, 1)]
        assert now() == pytest.approx(40.01)
        assert status_of(await first) == 503


@pytest.mark.parametrize(
    ("policy", "found"),
    [
        (BackoffPolicy(max_wait=0.5), (200, 1)),
        (BackoffPolicy(max_wait=0.49), (503, 0)),
        (BackoffPolicy(deadline=0.51), (200, 1)),
        (BackoffPolicy(deadline=0.5), (503, 0)),
        (BackoffPolicy(queue_timeout=0.51), (200, 1)),
        (BackoffPolicy(queue_timeout=0.5, deadline=None), (503, 0)),
    ],
)
async def test_no_call_waits_for_a_probe_that_is_due_too_late(policy: BackoffPolicy, found: tuple[int, int]) -> None:
    """A call does not wait if the wait would exceed `max_wait`, its deadline or its `queue_timeout`.

    The delay until the probe is no `retry_after`, because the service did not name it.
    """
    transport = backoff(ScriptedTransport(lambda received: 503 if received.at < 0.4 else after(0.005)))
    async with down(transport):
        await asyncio.sleep(0.1 - now())  # the probe is due after 0.5 s more
        late = await transport.send(*get("late", policy=policy))
        reason = "a circuit breaker is open; of this call nothing was sent" if found == (503, 0) else None
        assert (status_of(late), late.attempts, late.retry_after, late.reason) == (*found, None, reason)
        assert [now() == 0.1, late.seconds] == [reason is not None, pytest.approx(now() - 0.1)]


def test_an_outage_continues_in_another_event_loop() -> None:
    """A call that waited when its loop ended does not keep calls of the next loop from probing."""
    gate = Gate(random_number=lambda: 0.0)
    service = ScriptedTransport(*[503] * FAILURES_TO_OPEN, 200)

    async def begin() -> None:
        async with down(backoff(service, gate=gate)):
            late = asyncio.create_task(backoff(service, gate=gate).send(*get("late")))
            await asyncio.wait([late], timeout=0.1)

    async def resume() -> None:
        assert await results(backoff(service, gate=gate), get("x"), get("y")) == [(200, 1)] * 2

    in_virtual_time(begin())
    in_virtual_time(resume())


async def test_other_operations_continue() -> None:
    """Only calls of the operation that is down wait: one method and route, or one host if no route is known."""
    transport = backoff(ScriptedTransport(lambda received: 503 if "opening" in received.target else 200, latency=0.01))
    request = request_to("https://other.example/things/x")
    others = (
        get("x", method="PATCH"),
        (request, CallInfo(method="GET", route="/others/{id}", policy=POLICY)),
        (request, CallInfo(method="GET", route="/things/{id}", policy=POLICY, has_template=False)),
    )
    async with down(transport):
        began = now()
        assert await results(transport, *others) == [(200, 1)] * 3
        assert now() - began < 0.1


async def test_a_named_delay_that_is_too_long_ends_all_waits_at_once() -> None:
    """No call waits for a Retry-After of 100 s, which is longer than `max_wait`, also no later call."""
    service = down_until(1e9, **{"retry-after": "100"})
    transport = BackoffTransport(service, token="planted-token")
    assert {status for status, _ in await results(transport, *(get(str(each)) for each in range(100)))} == {503}
    assert now() < 0.1
    await asyncio.sleep(10.0)
    late = await transport.send(*get("late"))
    assert (late.attempts, late.hide_token("planted-token")) == (0, "[redacted]")
    assert late.retry_after == pytest.approx(90.0, abs=0.2)


async def test_a_post_waits_before_it_is_sent_and_is_never_sent_twice() -> None:
    """A POST that got a 503 fails at once; a POST that was not sent yet waits and succeeds."""
    service = down_until(2.0)
    transport = backoff(service)
    async with down(transport, method="POST"):
        pass
    found = await results(transport, *(get(str(number), method="POST") for number in range(50)))
    assert [status for status, _ in found].count(200) >= 46  # each failed probe is a lost POST
    targets = [request.target for request in service.requests]
    assert len(targets) == len(set(targets))


async def test_closing_ends_the_waits_and_a_cancelled_wait_leaves_nothing() -> None:
    """Closing ends a call that waits for an open breaker, and a cancelled one is not chosen to probe."""
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


async def test_a_call_behind_a_probe_that_hangs_ends_at_the_first_of_its_limits() -> None:
    """The error names the queue timeout or the deadline. When its retries would have ended, it gets the last 503."""
    named = response(503, headers={"retry-after": "0.5"})
    transport = backoff(ScriptedTransport(lambda received: named if received.at < 0.4 else after(3600.0)))
    async with down(transport):
        probe = asyncio.create_task(transport.send(*get("probe")))
        await asyncio.sleep(1.0)
        for queue_timeout, deadline, limit in ((1.0, 2.0, "queue_timeout"), (2.0, 1.0, "deadline")):
            policy = BackoffPolicy(queue_timeout=queue_timeout, deadline=deadline)
            with pytest.raises(DeadlineExceededError, match=f"the {limit} of 1 s passed; nothing was sent"):
                await transport.send(*get("late", policy=policy))
        late = await transport.send(*get("late", policy=ONCE))
        assert (status_of(late), late.attempts, late.retry_after) == (503, 0, None), "the delay that it names is over"
        probe.cancel()


@pytest.mark.parametrize(("is_cancelled", "ends_at"), [(True, 0.75), (False, 5.6)])
async def test_a_probe_that_hangs_stops_no_other_call(is_cancelled: bool, ends_at: float) -> None:
    """Another call probes at once if the probing call is cancelled, else after five seconds."""

    def step(received: ReceivedRequest) -> Step:
        return 503 if received.at < 0.4 else after(3600.0 if "first" in received.target else 0.0)

    transport = backoff(ScriptedTransport(step))
    async with down(transport):
        first = asyncio.create_task(transport.send(*get("first")))
        await asyncio.sleep(0.7)
        second = asyncio.create_task(transport.send(*get("second")))
        await asyncio.sleep(0.05)
        if is_cancelled:
            first.cancel()
        assert status_of(await second) == 200
        assert now() == pytest.approx(ends_at, abs=1e-6)
        first.cancel()
        await asyncio.wait([first])


@pytest.mark.parametrize("paths", [[*"abcdefghijklmnopqrst"], ["a"] * 20], ids=["operation", "path"])
async def test_an_outage_is_two_events_and_two_lines(paths: list[str], caplog: pytest.LogCaptureFixture) -> None:
    """The first has the time until the first probe, and the second the length of the outage."""
    caplog.set_level(logging.INFO, "itwin_platform")
    events: list[BackoffEvent] = []
    await results(backoff(down_until(1.0), on_event=events.append), *map(get, paths))
    started, ended = (event for event in events if isinstance(event, OutageStarted | OutageEnded))
    assert started == OutageStarted(method="GET", route="/things/{id}", status=503, error=None, seconds=0.6)
    assert ended == OutageEnded(method="GET", route="/things/{id}", seconds=ended.seconds, probes=2)
    assert round(ended.seconds, 2) == 1.24
    assert [record.getMessage() for record in caplog.records if "attempt" not in record.getMessage()] == [
        "GET /things/{id} is down (503): its calls wait, one probes in 0.6 s",
        "GET /things/{id} responds again after 1.2 s, 2 probes",
    ]


@pytest.mark.parametrize(
    ("cause", "message"),
    [
        (ConnectionRefusedError(111, "x"), "connection refused"),
        (socket.gaierror(socket.EAI_NONAME, "Name or service not known"), "name or service not known"),
        (None, None),
    ],
)
async def test_an_address_that_was_never_reached_fails_soon(cause: Exception | None, message: str | None) -> None:
    """An unknown host, or a closed port on loopback, gets three attempts in two seconds if it has never responded."""
    refused = httpx.ConnectError("x")
    refused.__cause__ = ExceptionGroup("all attempts failed", [cause]) if cause else None
    service = ScriptedTransport(refused)
    transport = backoff(service, jitter=1.0)
    with pytest.raises(TransportError) as raised:
        await transport.handle_async_request(httpx.Request("GET", "http://127.0.0.1:9/things"))
    assert (now() < 2.0, raised.value.attempts) == ((True, 3) if cause else (False, 7))
    assert message is None or f"ConnectError: {message}" in str(raised.value)
    assert ("no response has ever come from this address" in str(raised.value)) is (cause is not None)


async def test_a_delay_of_a_late_response_postpones_the_probe_by_at_most_a_minute() -> None:
    """A request that was sent before the outage may return a hostile delay during it."""
    far = response(503, headers={"retry-after": "1000000000"})
    service = ScriptedTransport(lambda received: after(0.2, far) if "slow" in received.target else 503)
    transport = backoff(service)
    slow = asyncio.create_task(transport.send(*get("slow")))
    async with down(transport):
        await results(transport, get("late", policy=BackoffPolicy(max_attempts=50)))
        assert service.times[FAILURES_TO_OPEN + 1] == pytest.approx(60.2, abs=0.02)
        assert (await slow).attempts == 1


def test_the_memory_of_breakers_is_bounded() -> None:
    """However many paths fail: the oldest closed breaker is dropped, and an open one stays.

    A success drops one breaker that has not failed for half a minute.
    """
    breakers = Breakers()
    for number in range(2_000):
        breakers.failed("call", ((f"/{number}",), ("operation",)), Failure(None, 0.0))
    assert len(breakers.active) == 1_000
    assert breakers.blocking("call", [("operation",)], now=0.0) is not None
    breakers.succeeded([("/x",), ("other",)], now=40.0)
    assert len(breakers.active) == 999
