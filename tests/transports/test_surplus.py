"""Which connections are closed after a response, because more may have arrived on them."""

import logging
import ssl
from types import SimpleNamespace

import h11
import httpx
import pytest

from tests.support.faces import _warn, close_if_surplus


class Network:
    """The network of a connection: what encrypts it, and whether it was closed."""

    def __init__(self, tls: ssl.SSLObject | None = None) -> None:
        self._tls, self.is_closed = tls, False

    def get_extra_info(self, info: str) -> ssl.SSLObject | None:
        """Return what encrypts."""
        return self._tls if info == "ssl_object" else None

    async def aclose(self) -> None:
        """Note it."""
        self.is_closed = True

    async def end(self, state: h11.Connection | None = None, *, version: bytes = b"HTTP/1.1") -> None:
        """End a response, whose body shows the state of its connection where httpcore's does, or hides it."""
        stream = httpx.ByteStream(b"") if state is None else SimpleNamespace(_h11_state=state, aclose=self.aclose)
        await close_if_surplus(stream, {"network_stream": self, "http_version": version})


async def test_a_response_of_another_protocol_keeps_its_connection() -> None:
    """With HTTP/2, which numbers its responses, no connection is closed."""
    network = Network()
    await network.end(version=b"HTTP/2")
    assert not network.is_closed


async def test_a_response_whose_connection_is_hidden_closes_it_and_says_so(caplog: pytest.LogCaptureFixture) -> None:
    """A connection that cannot be looked into is closed after each response; one warning tells why."""
    _warn.cache_clear()
    for network in (Network(), Network()):
        with caplog.at_level(logging.WARNING):
            await network.end()
        assert network.is_closed
    assert [record.getMessage() for record in caplog.records] == [
        "responses of ByteStream do not show their connection: each connection is used for one request"
    ]
    assert caplog.records[0].name == "itwin_platform"


async def test_a_connection_that_is_in_use_again_is_left_alone() -> None:
    """A connection with a newer request is not closed because of an older response."""
    state, network = h11.Connection(h11.CLIENT), Network()
    state.receive_data(b"surplus")
    state.send(h11.Request(method="GET", target="/", headers=[("host", "service.example")]))
    await network.end(state)
    assert not network.is_closed


@pytest.mark.parametrize(("waiting", "closes"), [(b"", False), (b"no record of TLS", True)], ids=["nothing", "garbage"])
async def test_a_connection_whose_encryption_broke_is_closed(waiting: bytes, closes: bool) -> None:
    """Undecryptable bytes in the TLS layer close the connection; without any, it stays open."""
    incoming = ssl.MemoryBIO()
    incoming.write(waiting)
    network = Network(ssl.create_default_context().wrap_bio(incoming, ssl.MemoryBIO(), server_hostname="x.example"))
    await network.end(h11.Connection(h11.CLIENT))
    assert network.is_closed is closes
