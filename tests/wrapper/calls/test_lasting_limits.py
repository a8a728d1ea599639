"""A limit that holds for days, such as a daily quota that is used up on a Friday."""

import asyncio

import httpx
import pytest
from itwin_platform import PlatformClient, RateLimitError

from tests.support.services import ReceivedRequest, ScriptedTransport, Step, rate_limited

HOUR = 3_600.0


async def test_a_limit_of_two_days_ends_like_one_of_a_minute() -> None:
    """Each call until then is a rate limit, and the first call after it succeeds; 1,024 doublings are no number."""

    def step(received: ReceivedRequest) -> Step:
        if received.at < 48 * HOUR:
            return rate_limited("1")
        return httpx.Response(200, content=b'{"iTwin": {"id": "a-1"}}')

    service, now = ScriptedTransport(step), asyncio.get_running_loop().time
    async with PlatformClient(
        "https://service.example", vendor="acme", token="planted-token", transport=service
    ) as platform:
        while now() < 48 * HOUR - 300.0:
            with pytest.raises(RateLimitError):
                await platform.itwins.get_primary_account()
            await asyncio.sleep(1_700.0)
        assert 1_024 < len(service.requests) < 48 * HOUR / 30
        await asyncio.sleep(600.0)
        assert (await platform.itwins.get_primary_account()).id == "a-1"
