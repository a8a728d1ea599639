"""The services of the measurements: a server on loopback, or the same responses in virtual time."""

from collections.abc import Callable

from tests.support.services import PreparedResponse, RawServer, ReceivedRequest, ScriptedTransport

Respond = Callable[[ReceivedRequest], PreparedResponse]
Service = Callable[[Respond], RawServer | ScriptedTransport]

LATENCY = 0.001


def in_memory(respond: Respond) -> ScriptedTransport:
    """Return a service without a network, for virtual time: each response takes a millisecond."""
    return ScriptedTransport(respond, latency=LATENCY)
