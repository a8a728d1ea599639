"""Connecting to a host that has several addresses, so that no socket is left over, whenever the caller is cancelled.

The race of asyncio, `happy_eyeballs_delay`, leaves a socket open when it is cancelled: seen in Python 3.11.
"""

import asyncio
import ipaddress
import itertools
import os
import socket
import ssl
from collections.abc import Callable
from typing import Any, TypeVar

P = TypeVar("P", bound=asyncio.BaseProtocol)

#: The next address is tried when the one before has not accepted for so many seconds. Source: RFC 8305, section 5.
_NEXT_AFTER = 0.25


async def connect(make: Callable[[], P], host: str, port: int, *, context: ssl.SSLContext | None) -> P:
    """Connect to the first address of a host that accepts the connection, with the TLS handshake if there is a context.

    Raises:
        OSError: the host has no address, or none of its addresses accepts the connection.
        ValueError: the host is none that can be looked up.
    """
    loop = asyncio.get_running_loop()
    addresses = await addresses_of(host, port)
    name = None if context is None else host
    if len(addresses) == 1:
        return (await loop.create_connection(make, addresses[0], port, ssl=context, server_hostname=name))[1]
    attempts: set[asyncio.Task[tuple[asyncio.Transport, P]]] = set()
    failures: list[BaseException] = []
    try:
        while addresses or attempts:
            if addresses:
                connecting = loop.create_connection(make, addresses.pop(0), port, ssl=context, server_hostname=name)
                attempts.add(loop.create_task(connecting))
            ended, _ = await asyncio.wait(
                attempts, timeout=_NEXT_AFTER if addresses else None, return_when=asyncio.FIRST_COMPLETED
            )
            for attempt in ended:
                attempts.discard(attempt)
                if (failure := attempt.exception()) is None:
                    return attempt.result()[1]
                failures.append(failure)
        raise OSError("; ".join(dict.fromkeys(map(reason_of, failures)))) from failures[0]
    finally:
        for attempt in attempts:
            attempt.cancel()
            attempt.add_done_callback(_close)


def _close(attempt: "asyncio.Task[tuple[asyncio.Transport, Any]]") -> None:
    if not attempt.cancelled() and attempt.exception() is None:
        attempt.result()[0].abort()


def reason_of(error: BaseException) -> str:
    """Return why there is no connection, in the words of the operating system: asyncio names the address instead."""
    has_own_words = isinstance(error, (ssl.SSLError, socket.gaierror))
    if not isinstance(error, OSError) or not error.errno or has_own_words:
        return str(error)
    return f"[Errno {error.errno}] {os.strerror(error.errno)}"


async def addresses_of(host: str, port: int) -> list[str]:
    """Return the addresses of a host, those of IPv4 and IPv6 in turn; an address is its own.

    Raises:
        OSError: the host is not known, or has no address.
        ValueError: the host is none that can be looked up: a label is empty, or too long.
    """
    try:
        return [str(ipaddress.ip_address(host))]
    except ValueError:
        found = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
    if not found:
        raise OSError("the host has no address")
    by_family: dict[int, list[str]] = {}
    for family, *_, address in found:
        by_family.setdefault(family, []).append(str(address[0]))
    in_turn = itertools.chain.from_iterable(itertools.zip_longest(*by_family.values()))
    return list(dict.fromkeys(address for address in in_turn if address is not None))
