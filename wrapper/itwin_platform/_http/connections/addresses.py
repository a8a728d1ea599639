"""Connecting to a host that has several addresses, so that no socket is left over, whenever the caller is cancelled.

The race of asyncio, `happy_eyeballs_delay`, leaves a socket open when it is cancelled: seen in Python 3.11.
"""

import asyncio
import ipaddress
import itertools
import socket
from collections.abc import Callable
from typing import Any, TypeVar

P = TypeVar("P", bound=asyncio.BaseProtocol)

#: The next address is tried when the one before has not accepted for so many seconds. Source: RFC 8305, section 5.
_NEXT_AFTER = 0.25


async def connect(make: Callable[[], P], host: str, port: int) -> P:
    """Connect to the first address of a host that accepts the connection.

    Raises:
        OSError: the host has no address, or none of its addresses accepts the connection.
    """
    loop = asyncio.get_running_loop()
    addresses = await addresses_of(host, port)
    if len(addresses) == 1:
        return (await loop.create_connection(make, addresses[0], port))[1]
    attempts: set[asyncio.Task[tuple[asyncio.Transport, P]]] = set()
    failures: list[BaseException] = []
    try:
        while addresses or attempts:
            if addresses:
                attempts.add(loop.create_task(loop.create_connection(make, addresses.pop(0), port)))
            ended, _ = await asyncio.wait(
                attempts, timeout=_NEXT_AFTER if addresses else None, return_when=asyncio.FIRST_COMPLETED
            )
            for attempt in ended:
                attempts.discard(attempt)
                if (failure := attempt.exception()) is None:
                    return attempt.result()[1]
                failures.append(failure)
        raise OSError("; ".join(str(failure) for failure in failures)) from failures[0]
    finally:
        for attempt in attempts:
            attempt.cancel()
            attempt.add_done_callback(_close)


def _close(attempt: "asyncio.Task[tuple[asyncio.Transport, Any]]") -> None:
    if not attempt.cancelled() and attempt.exception() is None:
        attempt.result()[0].abort()


async def addresses_of(host: str, port: int) -> list[str]:
    """Return the addresses of a host, those of IPv4 and IPv6 in turn; an address is its own.

    Raises:
        OSError: the host is not known.
    """
    try:
        return [str(ipaddress.ip_address(host))]
    except ValueError:
        found = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
    by_family: dict[int, list[str]] = {}
    for family, *_, address in found:
        by_family.setdefault(family, []).append(str(address[0]))
    in_turn = itertools.chain.from_iterable(itertools.zip_longest(*by_family.values()))
    return list(dict.fromkeys(address for address in in_turn if address is not None))
