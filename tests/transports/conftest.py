"""The default transport and a caller's, and a client of a service on loopback."""

from collections.abc import Callable

import httpx
import pytest
from itwin_platform import BackoffEvent, BackoffPolicy, PlatformClient

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
    host: str = "127.0.0.1",
    on_event: Callable[[BackoffEvent], None] | None = None,
    timeout: float | httpx.Timeout = 30.0,
) -> PlatformClient:
    """Return a client of a service on loopback that retries without a delay."""
    return PlatformClient(
        f"http://{host}:{port}",
        vendor="v",
        token="planted-token",
        transport=transport,
        backoff=BackoffPolicy(base_delay=0.0),
        on_event=on_event,
        timeout=timeout,
    )
