"""Settings of a client that a test can change one by one, and an environment that has none of them."""

from collections.abc import Callable
from typing import Any

import httpx
import pytest
from itwin_platform import PlatformClient

ACCOUNT = {"iTwin": {"id": "a", "displayName": "Example"}}
#: What a client needs to be made and to send.
SETTINGS: dict[str, Any] = {"base_url": "https://service.example/api", "vendor": "acme", "token": "planted-token"}

Handler = Callable[[httpx.Request], httpx.Response]


def answering(handler: Handler | None = None, **changes: Any) -> tuple[PlatformClient, list[httpx.Request]]:
    """A client whose requests end in `handler`, by default with the account; and the list of those requests."""
    requests: list[httpx.Request] = []

    def noting(request: httpx.Request) -> httpx.Response:
        requests.append(request)
        return handler(request) if handler else httpx.Response(200, json=ACCOUNT)

    settings: dict[str, Any] = SETTINGS | {"transport": httpx.MockTransport(noting)} | changes
    return PlatformClient(**settings), requests


@pytest.fixture(autouse=True)
def without_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody's settings reach a test."""
    for name in ("BASE_URL", "VENDOR", "TOKEN"):
        monkeypatch.delenv(f"ITWIN_PLATFORM_{name}", raising=False)
