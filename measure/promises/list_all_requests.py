"""Count the requests of `list_all` for each page of a listing above the cap, at the server."""

from itwin_platform import PlatformClient
from itwin_platform_sandbox import Sandbox

from .figure import Figure, at_most, exactly

PER_PAGE = 1000
#: The number of iTwins, and the highest number of requests for each page.
SIZES = ((900, 1.0), (12_000, 1.45), (35_000, 1.25), (100_000, 1.05))
CONCURRENCIES = (1, 4, 10)


async def list_all_requests() -> list[Figure]:
    """Return the figures of listings of each size with each concurrency."""
    figures: list[Figure] = []
    for size, most in SIZES:
        async with (
            Sandbox(itwins=size, objects=0) as sandbox,
            PlatformClient(sandbox.base_url, vendor="vendor", token=sandbox.token) as platform,
        ):
            for concurrency in CONCURRENCIES:
                sandbox.requests.clear()
                ids = [itwin.id async for itwin in platform.itwins.list_all(concurrency=concurrency)]
                requests = len(sandbox.requests) / -(-size // PER_PAGE)
                wrong = abs(len(ids) - size) + size - len(set(ids))
                name = f"list_all of {size:,} iTwins, concurrency {concurrency}"
                figures.append(at_most(f"{name}: requests for each page", requests, most))
                figures.append(exactly(f"{name}: iTwins lost or returned twice", wrong, 0))
    return figures
