"""Reading the certificates to trust, which takes tens of milliseconds, does not stop the event loop."""

import asyncio
import ssl
import threading

import httpx
import pytest
from itwin_platform import fast_transport


async def test_the_fast_transport_reads_certificates_once_and_in_a_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    """Several first requests over https share one reading, which the event loop's thread does not do."""
    readers: list[threading.Thread] = []
    read = httpx.create_ssl_context

    def noted() -> ssl.SSLContext:
        readers.append(threading.current_thread())
        return read()

    monkeypatch.setattr(httpx, "create_ssl_context", noted)
    transport = fast_transport()
    requests = (transport.handle_async_request(httpx.Request("GET", "https://127.0.0.1:1/")) for _ in range(3))
    try:
        outcomes = await asyncio.gather(*requests, return_exceptions=True)
    finally:
        await transport.aclose()
    assert [type(outcome) for outcome in outcomes] == [httpx.ConnectError] * 3
    assert len(readers) == 1
    assert readers[0] is not threading.current_thread()
