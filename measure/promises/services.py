"""The services of the measurements: a server on loopback, or the same responses in virtual time."""

from collections.abc import Callable

from tests.support.exchange import PreparedResponse, ReceivedRequest
from tests.support.raw_server import RawServer
from tests.support.scripted_transport import ScriptedTransport

Respond = Callable[[ReceivedRequest], PreparedResponse]
Service = Callable[[Respond], RawServer | ScriptedTransport]

LATENCY = 0.001


def in_memory(respond: Respond) -> ScriptedTransport:
    """Return a service without a network, for virtual time: each response takes a millisecond."""
    return ScriptedTransport(respond, latency=LATENCY)
