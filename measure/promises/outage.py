"""A service that is down, and the requests that retries add to its load."""

import asyncio

from itwin_platform import PlatformClient, ServerError

from tests.support.exchange import PreparedResponse
from tests.support.raw_server import RawServer

from .figure import Figure, at_most, exactly
from .services import Service


async def run_outage(*, calls: int, service: Service) -> tuple[int, int]:
    """Start `calls` calls of a service that is down; return the counts of ServerErrors and of requests."""
    async with (
        service(lambda _: PreparedResponse(status=503)) as server,
        PlatformClient(server.address, vendor="acme", token="t-1", transport=server.transport) as platform,
    ):
        results = await asyncio.gather(
            *(platform.itwins.get_primary_account() for _ in range(calls)), return_exceptions=True
        )
        return sum(isinstance(error, ServerError) for error in results), len(server.requests)


async def outage(*, service: Service = RawServer) -> list[Figure]:
    """Measure a hundred calls and a thousand."""
    figures = []
    for calls, most in ((100, 1.2), (1000, 1.05)):
        failed, requests = await run_outage(calls=calls, service=service)
        figures.append(exactly(f"outage, {calls:,} calls: ServerError each", failed, calls))
        figures.append(at_most(f"outage, {calls:,} calls: requests per call", requests / calls, most))
    return figures
