"""A quota that is used up: while nothing but 429s comes, the time in the queue counts towards a call's deadline."""

import asyncio

import httpx
import pytest
from itwin_platform_transport import BackoffPolicy, BackoffTransport, CallInfo, CallResult, Gate, RedisGate, Request
from itwin_platform_transport.gates.window import WaitTooLongError

from measure.promises.limits import FixedWindow
from tests.support.gates import end, enter, settle
from tests.support.redis_clients import PreparedRedis, reply
from tests.support.services import ReceivedRequest, ScriptedTransport, Step, backoff, now, response

#: The header in which a 429 names the operation that it met.
NAMED = {"ITwinPlatform-RateLimited-Operation": "any"}


async def called(
    transport: BackoffTransport, *, operation: str = "things", policy: BackoffPolicy | None = None
) -> tuple[CallResult, float]:
    """Make a call; return its result, and how long it took."""
    began = now()
    request = Request("GET", httpx.URL(f"https://service.example/{operation}/1"), (), b"", {})
    info = CallInfo(method="GET", route=f"/{operation}/{{id}}", policy=policy or BackoffPolicy())
    return await transport.send(request, info), now() - began


def status_of(result: CallResult) -> int:
    """The status of the response of a call."""
    assert result.response is not None
    return result.response.status_code


def rejecting() -> ScriptedTransport:
    """A service that responds with 429 to everything, at once, so that no request is in flight at a deadline."""
    return ScriptedTransport(response(429, headers={"retry-after": "1"}))


@pytest.mark.parametrize("every", [60.1, 1.01])
async def test_no_call_outlives_its_deadline_while_nothing_but_429s_comes(every: float) -> None:
    """Each call ends with the 429, so the queue does not grow, however many calls come."""
    gate, policy = Gate(), BackoffPolicy(deadline=60.0)
    transport, tasks = backoff(rejecting(), gate=gate, jitter=0.5), []
    for _ in range(40):
        tasks.append(asyncio.create_task(called(transport, policy=policy)))
        await asyncio.sleep(every)
        assert gate.waiting <= 60.0 / every + 1
    found = [await task for task in tasks]
    assert {status_of(result) for result, _ in found} == {429}
    assert max(seconds for _, seconds in found) <= 60.0 + 0.1
    assert {result.reason for result, _ in found} == {"longer than deadline=60 s allows"}


async def test_a_queue_that_moves_fails_no_call() -> None:
    """Of 400 calls at ten a second, which take twice their deadline, none is lost: other responses come."""
    limit, policy = FixedWindow(10, 1.0), BackoffPolicy(deadline=20.0)

    def step(received: ReceivedRequest) -> Step:
        return 200 if limit.accepts(received.at) else response(429, headers={"retry-after": "1"})

    transport = backoff(ScriptedTransport(step, latency=0.02), jitter=0.5)
    found = await asyncio.gather(*(called(transport, policy=policy) for _ in range(400)))
    assert {status_of(result) for result, _ in found} == {200}
    assert now() > 2 * 19.0


@pytest.mark.parametrize(("is_success", "ends_at"), [(True, 15.0), (False, 9.0)], ids=["success", "429"])
async def test_another_response_sets_the_time_in_the_queue_back(is_success: bool, ends_at: float) -> None:
    """From then on the whole deadline is left. Without one, a call ends when its cooldown would end after its time."""
    gate = Gate(1, random_number=lambda: 0.0)
    held = await enter(gate)
    first, second, third = (enter(gate) for _ in range(3))
    last = enter(gate, deadline=10.0)
    await settle()
    gate.rate_limited(held, wait=6.0)
    permit = await first
    if is_success:
        gate.responded(permit)
        gate.rate_limited(await second, wait=6.0)
        gate.rate_limited(await third, wait=3.0)
        gate.responded(await last)
    else:
        gate.rate_limited(permit, wait=3.0)
        gate.rate_limited(await second, wait=3.0)
        with pytest.raises(WaitTooLongError, match="lasts 3 s more"):
            await last
    assert now() == ends_at
    await end([third])


async def test_a_call_whose_time_is_over_gets_no_permit() -> None:
    """A request that hangs after a 429 tells nothing: when its permit is free, calls that have time left come first."""
    gate = Gate(1, random_number=lambda: 0.0)
    held = await enter(gate)
    hangs, late = enter(gate), enter(gate, deadline=10.0)
    await settle()
    gate.rate_limited(held, wait=1.0)
    permit = await hangs
    await asyncio.sleep(20.0)
    in_time = enter(gate, deadline=10.0)
    await asyncio.sleep(5.0)
    gate.abandoned(permit)
    gate.responded(await in_time)
    with pytest.raises(WaitTooLongError):
        await late


@pytest.mark.parametrize("is_given_up", [True, False], ids=["nothing but 429s", "other responses"])
async def test_the_responses_of_all_processes_count(is_given_up: bool) -> None:
    """A shared gate hears from its server, about each second, whether another process gets anything but 429s."""
    replies = [reply(cooldown=1.0, rejecting_for=5.0 + second if is_given_up else None) for second in range(200)]
    server = PreparedRedis(steps=[*replies])
    async with RedisGate(server, name="n", random_number=lambda: 0.0) as gate:
        waiting = enter(gate, deadline=30.0)
        await asyncio.wait([waiting], timeout=100.0)
        assert waiting.done() is is_given_up
        if is_given_up:
            assert now() <= 31.0
            with pytest.raises(WaitTooLongError):
                await waiting
        await end([waiting])
