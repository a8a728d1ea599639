"""The aiohttp-backed transport keeps every promise of the transport that it stands in for."""

import socket
import sys

import pytest
from itwin_platform import (
    BackoffPolicy,
    NotSentError,
    OutcomeUnknownError,
    PlatformClient,
    ResponseDecodeError,
    fast_transport,
)
from itwin_platform_sandbox import Sandbox


def client(base_url: str, **arguments: object) -> PlatformClient:
    """Makes a client that sends through the fast transport."""
    policy = BackoffPolicy(base_delay=0.0)
    return PlatformClient(base_url, vendor="v", token="t", transport=fast_transport(), backoff=policy, **arguments)  # type: ignore[arg-type]  # handed on as they are


async def test_a_listing_and_a_change_go_through() -> None:
    """Reading, writing and typed decoding are as with the default transport."""
    async with Sandbox(itwins=250) as sandbox, client(sandbox.base_url) as platform:
        assert len(await platform.itwins.list(page_size=100, concurrency=2).collect()) == 250
        repository = await platform.repositories.update(sandbox.itwin_id, sandbox.repository_id, display_name="A")
        assert repository.display_name == "A"


@pytest.mark.parametrize("fault", ["reset_before_effect", "reset_after_effect", "reset_in_head", "reset_in_body"])
async def test_a_post_whose_answer_is_lost_is_sent_once(fault: str) -> None:
    """A connection that breaks under a POST is never taken for one that was not made."""
    async with Sandbox() as sandbox, client(sandbox.base_url) as platform:
        sandbox.fault(fault, operation="create_detector")  # type: ignore[arg-type]  # the names above are its own
        with pytest.raises(OutcomeUnknownError):
            await platform.detectors.create(name="d", type="PhotoObjectDetector")
        assert [request.operation for request in sandbox.requests] == ["create_detector"]


async def test_a_get_whose_answer_is_lost_is_repeated() -> None:
    """A GET is repeated after a reset."""
    async with Sandbox() as sandbox, client(sandbox.base_url) as platform:
        sandbox.fault("reset_in_body", operation="get_primary_account")
        assert (await platform.itwins.get_primary_account()).id == sandbox.account_id
        assert len(sandbox.requests) == 2


async def test_a_post_that_finds_nobody_was_not_sent() -> None:
    """Where nothing listens, the error says that the request certainly had no effect."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    async with client(f"http://127.0.0.1:{port}") as platform:
        with pytest.raises(NotSentError) as caught:
            await platform.detectors.create(name="d", type="PhotoObjectDetector")
    assert caught.value.sent is False


async def test_a_gzip_bomb_is_refused_by_its_decoded_size() -> None:
    """The limit counts decoded bytes here, too."""
    async with Sandbox() as sandbox, client(sandbox.base_url, max_response_bytes=100_000) as platform:
        sandbox.fault("gzip_bomb", operation="get_primary_account")
        with pytest.raises(ResponseDecodeError, match="larger than max_response_bytes"):
            await platform.itwins.get_primary_account()


async def test_a_rate_limit_is_waited_out() -> None:
    """Backoff applies."""
    async with Sandbox() as sandbox, client(sandbox.base_url) as platform:
        sandbox.fault("rate_limited", seconds=0.01, retry_after="decimals")
        await platform.itwins.get_primary_account()
        assert [request.status for request in sandbox.requests] == [429, 200]


def test_without_the_extra_the_error_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    """Asking for the transport without the extra names the extra."""
    monkeypatch.setitem(sys.modules, "aiohttp", None)
    with pytest.raises(ImportError, match=r"pip install 'itwin-platform\[fast\]'"):
        fast_transport()
