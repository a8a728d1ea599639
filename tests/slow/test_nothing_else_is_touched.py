"""What an application that configures nothing gets: a silent stderr, and no import that it did not ask for."""

import subprocess
import sys

PROGRAM = """
import asyncio, sys
import httpx
from itwin_platform import BackoffPolicy, PlatformClient

answers = iter([429, 503, 429])

def service(request):
    return httpx.Response(next(answers, 200), json={"iTwin": {"id": "a"}})

async def main():
    settings = {"transport": httpx.MockTransport(service), "backoff": BackoffPolicy(base_delay=0.0, max_delay=0.0)}
    async with PlatformClient("https://s.example", vendor="v", token="t", **settings) as platform:
        await platform.with_options(on_response=lambda info: 1 / 0).itwins.get_primary_account()

asyncio.run(main())
print([name for name in sys.modules if name.partition(".")[0] in ("opentelemetry", "redis")])
"""


def test_nothing_reaches_stderr_and_nothing_is_imported() -> None:
    """Rate limits break no progress bar where logging is not configured; OpenTelemetry stays where it is."""
    command = [sys.executable, "-W", "error", "-c", PROGRAM]
    ended = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603  # our own program
    assert (ended.returncode, ended.stderr, ended.stdout) == (0, "", "[]\n")
