"""What sends over plain HTTP to loopback: reading certificates would hold up the event loop that is measured."""

import httpx


def plain_transport() -> httpx.AsyncHTTPTransport:
    """A transport without certificates and without a limit of its own."""
    limits = httpx.Limits(max_connections=None, max_keepalive_connections=20)
    return httpx.AsyncHTTPTransport(verify=False, limits=limits)
