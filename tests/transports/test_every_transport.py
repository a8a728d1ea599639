"""Every promise that touches the network holds over the default transport and over another's client."""

import asyncio
import itertools
import socket
from collections.abc import AsyncIterator, Callable

import httpx
import pytest
from itwin_platform import (
    AccessToken,
    AuthenticationError,
    BackoffPolicy,
    DeadlineExceededError,
    Gate,
    NotSentError,
    OutcomeUnknownError,
    PlatformClient,
    RateLimitError,
    ResponseDecodeError,
    ServerError,
    TokenProvider,
)
from itwin_platform_sandbox import Sandbox

from tests.support.real_time import pass_time, until

LOST = ["reset_before_effect", "reset_after_effect", "reset_in_head", "reset_in_body"]
Connect = Callable[..., PlatformClient]


@pytest.fixture(params=["default", "another's client"])
async def connect(request: pytest.FixtureRequest) -> AsyncIterator[Connect]:
    """Make clients that send through one of the transports."""
    given = httpx.AsyncClient(trust_env=False) if request.param == "another's client" else None

    def make(
        base_url: str,
        *,
        token: TokenProvider = "t",  # noqa: S107  # made up
        backoff: BackoffPolicy | None = None,
        gate: Gate | None = None,
        max_response_bytes: int = 10_000_000,
    ) -> PlatformClient:
        return PlatformClient(
            base_url,
            vendor="v",
            token=token,
            http_client=given,
            backoff=backoff or BackoffPolicy(base_delay=0.0),
            gate=gate,
            max_response_bytes=max_response_bytes,
        )

    yield make
    if given is not None:
        await given.aclose()


async def test_a_listing_and_a_change_go_through(connect: Connect) -> None:
    """Reading, writing and typed decoding are the same."""
    async with Sandbox(itwins=250) as sandbox, connect(sandbox.base_url) as platform:
        assert len(await platform.itwins.list(page_size=100, concurrency=2).collect()) == 250
        repository = await platform.repositories.update(sandbox.itwin_id, sandbox.repository_id, display_name="A")
        assert repository.display_name == "A"


@pytest.mark.parametrize("fault", LOST)
async def test_a_post_whose_response_is_lost_is_sent_once(connect: Connect, fault: str) -> None:
    """A connection that breaks under a POST is never taken for one that was not made."""
    async with Sandbox() as sandbox, connect(sandbox.base_url) as platform:
        sandbox.fault(fault, operation="create_detector")  # type: ignore[arg-type]  # the names above are its own
        with pytest.raises(OutcomeUnknownError):
            await platform.detectors.create(name="d", type="PhotoObjectDetector")
        assert [request.operation for request in sandbox.requests] == ["create_detector"]


@pytest.mark.parametrize("fault", LOST)
async def test_a_get_whose_response_is_lost_is_retried(connect: Connect, fault: str) -> None:
    """A GET is retried after a reset, wherever it comes."""
    async with Sandbox() as sandbox, connect(sandbox.base_url) as platform:
        sandbox.fault(fault, operation="get_primary_account")  # type: ignore[arg-type]  # the names above are its own
        assert (await platform.itwins.get_primary_account()).id == sandbox.account_id
        assert len(sandbox.requests) == 2


async def test_a_post_without_a_server_was_not_sent(connect: Connect) -> None:
    """Where nothing listens, the error says that the request certainly had no effect."""
    with socket.socket() as bound:
        # What is bound and does not listen refuses connections, and nobody else gets its port.
        bound.bind(("127.0.0.1", 0))
        async with connect(f"http://127.0.0.1:{bound.getsockname()[1]}") as platform:
            with pytest.raises(NotSentError) as caught:
                await platform.detectors.create(name="d", type="PhotoObjectDetector")
    assert caught.value.sent is False


async def test_a_gzip_bomb_is_rejected_by_its_decoded_size(connect: Connect) -> None:
    """The limit counts decoded bytes."""
    async with Sandbox() as sandbox, connect(sandbox.base_url, max_response_bytes=100_000) as platform:
        sandbox.fault("gzip_bomb", operation="get_primary_account")
        with pytest.raises(ResponseDecodeError, match="larger than max_response_bytes"):
            await platform.itwins.get_primary_account()


async def test_a_plain_body_is_rejected_by_its_size(connect: Connect) -> None:
    """A plain body above the limit is rejected, and the client keeps working."""
    async with Sandbox() as sandbox, connect(sandbox.base_url, max_response_bytes=2_000) as platform:
        with pytest.raises(ResponseDecodeError, match="larger than max_response_bytes, 2000 bytes"):
            await platform.itwins.list(page_size=100).collect()
        await platform.itwins.get_primary_account()


async def test_a_rate_limit_is_waited_out(connect: Connect) -> None:
    """After a 429 the wait that it names is kept, for a POST too."""
    async with Sandbox() as sandbox, connect(sandbox.base_url) as platform:
        sandbox.fault("rate_limited", seconds=0.01, retry_after="decimals")
        await platform.detectors.create(name="d", type="PhotoObjectDetector")
        refused, accepted = sandbox.requests
        assert (refused.status, accepted.status) == (429, 201)
        assert accepted.started >= refused.ended + 0.01


async def test_a_wait_that_is_too_long_is_not_begun(connect: Connect) -> None:
    """The error says at once until when the service asks to wait."""
    async with Sandbox() as sandbox, connect(sandbox.base_url) as platform:
        sandbox.fault("rate_limited", seconds=3000)
        with pytest.raises(RateLimitError) as caught:
            await platform.itwins.get_primary_account()
        assert caught.value.retry_after == 3000


async def test_an_outage_ends_in_the_error_of_the_last_response(connect: Connect) -> None:
    """All attempts are used for a GET, one for a POST."""
    async with Sandbox() as sandbox, connect(sandbox.base_url) as platform:
        sandbox.fault("html_502", count=None)
        with pytest.raises(ServerError) as caught:
            await platform.itwins.get_primary_account()
        assert caught.value.attempts == len(sandbox.requests) == 7
        with pytest.raises(ServerError) as caught:
            await platform.detectors.create(name="d", type="PhotoObjectDetector")
        assert caught.value.attempts == 1


async def test_the_deadline_ends_a_call_that_gets_no_response(
    connect: Connect, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A service that holds back its response for ever holds nobody."""
    policy = BackoffPolicy(deadline=20.0)
    async with Sandbox() as sandbox, connect(sandbox.base_url, backoff=policy) as platform:
        sandbox.fault("stall", operation="create_detector")
        call = asyncio.create_task(platform.detectors.create(name="d", type="PhotoObjectDetector"))
        await until(lambda: sandbox.faults == ())
        pass_time(monkeypatch, seconds=20.0)
        with pytest.raises(DeadlineExceededError) as caught:
            await call
        assert (caught.value.sent, caught.value.attempts) == (True, 1)


async def test_a_rejected_token_is_refreshed_once(connect: Connect) -> None:
    """After a 401 the provider is called for another, which is sent; a second 401 is the caller's."""
    given = itertools.count()
    async with (
        Sandbox() as sandbox,
        connect(sandbox.base_url, token=lambda: AccessToken(f"t-{next(given)}")) as platform,
    ):
        sandbox.fault("token_expires")
        await platform.itwins.get_primary_account()
        assert [request.status for request in sandbox.requests] == [401, 200]
        sandbox.fault("gateway_401", count=2)
        with pytest.raises(AuthenticationError):
            await platform.itwins.get_primary_account()


async def test_a_cancelled_call_leaves_its_place(connect: Connect) -> None:
    """With one place in all, the call after a cancelled one is served."""
    gate = Gate(1)
    async with Sandbox() as sandbox, connect(sandbox.base_url, gate=gate) as platform:
        sandbox.fault("stall", operation="get_primary_account")
        call = asyncio.create_task(platform.itwins.get_primary_account())
        await until(lambda: sandbox.faults == ())
        call.cancel()
        await asyncio.wait([call])
        assert call.cancelled()
        assert gate.in_flight == 0
        assert (await platform.itwins.get_primary_account()).id == sandbox.account_id
