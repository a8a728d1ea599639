"""TLS: each way of sending verifies the server and reports why a handshake failed."""

import asyncio
import ssl
from pathlib import Path
from typing import Any

import pytest
from itwin_platform import NotSentError

from tests.support.certificates import authority, doorkeeper, server_context
from tests.support.every_way import RejectedError, in_every_way, opened
from tests.support.faces import EngineTransport
from tests.support.networks import Network
from tests.support.raw_server import PHANTOM, REJECTED, Raw, RawServer, either_response, raw_response


def certificates(case: str) -> Any:
    """Return the context of a server that the client does not trust, or that demands a client certificate."""
    context = server_context(
        expired=case == "expired",
        self_signed=case == "self-signed",
        address="127.0.0.2" if case == "wrong host" else "127.0.0.1",
    )
    if case == "TLS 1.1 only":
        context.minimum_version = ssl.TLSVersion.TLSv1
        context.maximum_version = ssl.TLSVersion.TLSv1_1
        context.set_ciphers("ALL:@SECLEVEL=0")
    if case == "client certificate demanded":
        context.verify_mode = ssl.CERT_REQUIRED
        context.load_verify_locations(cadata=authority())
    return context


UNTRUSTED = {
    "expired": "certificate has expired",
    "self-signed": "self-signed certificate",
    "wrong host": "IP address mismatch",
    "TLS 1.1 only": "PROTOCOL|legacy sigalg",
    "client certificate demanded": "CERTIFICATE_REQUIRED",
}


@pytest.fixture
def trusted_authority(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Make clients trust the CA of the tests through SSL_CERT_FILE."""
    path = tmp_path / "authority.pem"
    path.write_text(authority())
    monkeypatch.setenv("SSL_CERT_FILE", str(path))


@pytest.mark.usefixtures("trusted_authority")
@pytest.mark.filterwarnings("ignore:ssl.TLSVersion:DeprecationWarning")
@pytest.mark.parametrize(("case", "reason"), UNTRUSTED.items(), ids=UNTRUSTED)
@in_every_way
async def test_a_tls_failure_is_not_retried(way: str, case: str, reason: str) -> None:
    """A failed handshake raises NotSentError with the reason after one connection and no request."""
    with doorkeeper(certificates(case)) as keeper:
        async with opened(way, keeper.address) as calls:
            with pytest.raises(NotSentError, match=reason) as caught:
                await calls.get()
        assert (caught.value.attempts, keeper.connections) == (0, 1)


@pytest.mark.usefixtures("trusted_authority")
@in_every_way
async def test_calls_to_a_trusted_server_succeed(way: str) -> None:
    """Calls to a trusted server succeed, and surplus bytes inside TLS are noticed too."""
    context = server_context()
    async with (
        RawServer(
            either_response, either_response, Raw(data=raw_response(), then=PHANTOM), REJECTED, context=context
        ) as server,
        opened(way, server.address) as calls,
    ):
        assert (await calls.get(), await calls.post(), await calls.get()) == ("a-1", "d-1", "a-1")
        with pytest.raises(RejectedError, match="422"):
            await calls.post()


@pytest.mark.usefixtures("trusted_authority")
@pytest.mark.parametrize("is_given", [True, False])
async def test_a_given_context_is_used_as_it_is(is_given: bool) -> None:
    """The default certificates offer HTTP/1.1 by ALPN; a caller's context, which others may use, is not changed."""

    async def respond(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
        await reader.read()

    network = Network(is_encrypted=True)
    assert network.server_context is not None
    network.server_context.set_alpn_protocols(["http/1.1"])
    if not is_given:
        network.transport = EngineTransport()
    async with network.served(respond) as address:
        response = await network.send(address)
        connection = response.extensions["network_stream"].get_extra_info("ssl_object")
        assert connection.selected_alpn_protocol() == (None if is_given else "http/1.1")
        await network.transport.aclose()
