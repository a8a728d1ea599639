"""Forms of the host of a URL: for the resolver, for TLS, for the Host header; and whether it is this machine.

The dot behind a full name, and the zone of an IPv6 address, are for the resolver alone: no certificate has them, and
servers do not expect them in Host. Sources: RFC 6066, section 3; RFC 6874, section 3; RFC 9110, section 7.2.
"""

import ipaddress
import re

_NAME = re.compile(r"[a-z0-9_-][a-z0-9._-]*")
_ZONE = re.compile(r"[A-Za-z0-9._~-]+")


def address_of(host: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    """Return a host as an IP address, with its zone; None for a name."""
    try:
        return ipaddress.ip_address(host.replace("%25", "%", 1) if ":" in host else host.removesuffix("."))
    except ValueError:
        return None


def name_of(host: str) -> str:
    """Return a host as TLS, the Host header and NO_PROXY name it: without the dot behind it, and without a zone."""
    return host.partition("%")[0] if ":" in host else host.removesuffix(".")


def is_loopback(host: str) -> bool:
    """Return whether a host is this machine."""
    address = address_of(host)
    return name_of(host).lower() == "localhost" if address is None else address.is_loopback


def is_host(host: str) -> bool:
    """Return whether a host is an IP address, or a valid name; names of IDNA are in their ASCII form."""
    if ":" in host:
        address, _, zone = host.replace("%25", "%", 1).partition("%")
        return address_of(address) is not None and ("%" not in host or _ZONE.fullmatch(zone) is not None)
    try:
        # A label is from 1 to 63 characters long.
        host.encode("idna")
    except UnicodeError:
        return False
    return _NAME.fullmatch(host) is not None


def host_header(host: str, port: int | None) -> str:
    """Return a Host header, without the dot behind a name and without the zone of an IPv6 address."""
    name = name_of(host)
    name = f"[{name}]" if ":" in name else name
    return name if port is None else f"{name}:{port}"
