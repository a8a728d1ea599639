"""The default transport and a caller's, and a client of a service on loopback."""

from collections.abc import Callable

import httpx
import pytest
from itwin_platform import BackoffPolicy, PlatformClient

TRANSPORTS: dict[str, Callable[[], httpx.AsyncBaseTransport | None]] = {
    "default": lambda: None,
    "httpx": httpx.AsyncHTTPTransport,
}


@pytest.fixture(params=list(TRANSPORTS))
def transport(request: pytest.FixtureRequest) -> httpx.AsyncBaseTransport | None:
    """One of the transports; None stands for the default of the client."""
    return TRANSPORTS[request.param]()


def client(
    port: int,
    transport: httpx.AsyncBaseTransport | None,
    *,
    timeout: float | httpx.Timeout = 30.0,
) -> PlatformClient:
    """Return a client of a service on loopback that retries without a delay."""
    return PlatformClient(
        f"http://127.0.0.1:{port}",
        vendor="v",
        token="planted-token",
        transport=transport,
        backoff=BackoffPolicy(base_delay=0.0),
        timeout=timeout,
    )
