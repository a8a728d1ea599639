"""The settings of a sandbox: checks of its arguments, and its sources of time and randomness."""

import random
import re
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass
from datetime import datetime
from urllib.parse import urlsplit

from .._service.json_values import LARGEST_NUMBER, FieldError
from .._service.messages import is_origin
from .._service.rate_limit import RateLimit

CONTROL_PATH = "/sandbox"
ANY = "*"
# The characters of a path in a URL. Source: RFC 3986, section 3.3.
_PATH = re.compile(r"(/([\w.~!$&'()*+,;=:@-]|%[0-9a-f]{2})+)*", re.IGNORECASE | re.ASCII)
_VISIBLE = re.compile(r"[!-~]+")
_HOST = re.compile(r"\*|[\w.-]+|\[[0-9a-f:.]+\]", re.IGNORECASE | re.ASCII)
_VENDOR = re.compile(r"[\w.-]+", re.ASCII)


def check_counts(*, itwins: int, objects: int, port: int) -> None:
    """Check the numbers of iTwins and objects, and the port."""
    if itwins < 1:
        message = (
            f"must be at least 1, because it counts the Account, not {itwins}; a token with member_of=() sees none"
        )
        raise FieldError("itwins", message)
    if objects < 0:
        raise FieldError("objects", f"must be at least 0, not {objects}")
    if not 0 <= port <= 65535:
        raise FieldError("port", f"must be between 0 and 65535, not {port}")


def check_delay(latency: float, jitter: float) -> None:
    """Check two numbers of seconds."""
    for name, seconds in (("latency", latency), ("jitter", jitter)):
        if not 0 <= seconds <= LARGEST_NUMBER:
            raise FieldError(name, f"must be between 0 and {LARGEST_NUMBER} seconds, not {seconds}")


def checked_prefix(prefix: str) -> str:
    """Return a path prefix that does not hide the control interface."""
    if prefix and (not prefix.startswith("/") or prefix.endswith("/")):
        raise FieldError("path_prefix", f"must start with a slash and not end with one, such as /api, not {prefix!r}")
    if not _PATH.fullmatch(prefix) or {".", ".."} & set(prefix.split("/")):
        raise FieldError("path_prefix", f"must be a path of a URL, such as /api, not {prefix!r}")
    if prefix == CONTROL_PATH or prefix.startswith(f"{CONTROL_PATH}/"):
        raise FieldError("path_prefix", f"must not be below {CONTROL_PATH}, the path of the control interface")
    return prefix


def checked_public_url(url: str | None) -> str | None:
    """Return the base URL of a proxy, without a slash at its end."""
    if url is None:
        return None
    if not _is_base_url(url):
        raise FieldError("public_url", f"must be a base URL such as https://proxy.example.com/api, not {url!r}")
    return url.rstrip("/")


def _is_base_url(text: str) -> bool:
    try:
        parts = urlsplit(text)
        _ = parts.port  # raises an error for one that is no port
    except ValueError:
        return False
    is_visible = _VISIBLE.fullmatch(text) is not None
    return (
        is_visible and parts.scheme in ("http", "https") and bool(parts.hostname) and not parts.query + parts.fragment
    )


def checked_vendor(vendor: str | None) -> str | None:
    """Return a word that can stand in a media type."""
    if vendor is not None and not _VENDOR.fullmatch(vendor):
        raise FieldError(
            "vendor", f"must be the word in application/vnd.<vendor>.itwin-platform.v1+json, not {vendor!r}"
        )
    return vendor


def checked_hosts(hosts: str | Iterable[str]) -> tuple[str, ...]:
    """Return the allowed host names as a tuple."""
    checked = _as_tuple(hosts)
    for host in checked:
        if not _HOST.fullmatch(host):
            message = f"must be a name such as sandbox.example, without scheme and port, or *, not {host!r}"
            raise FieldError("allow_hosts", message)
    return checked


def checked_origins(origins: str | Iterable[str]) -> tuple[str, ...]:
    """Return the allowed origins as a tuple."""
    checked = _as_tuple(origins)
    for origin in checked:
        if origin != ANY and not (is_origin(origin) and origin == origin.lower()):
            raise FieldError("cors", f"must be an origin such as http://localhost:3000, or *, not {origin!r}")
    return checked


def _as_tuple(values: str | Iterable[str]) -> tuple[str, ...]:
    """Return a string, or an iterable of strings, as a tuple."""
    return (values,) if isinstance(values, str) else tuple(values)


@dataclass(frozen=True, slots=True, kw_only=True)
class Environment:
    """Time, sleep and randomness of a sandbox."""

    clock: Callable[[], float]
    now: Callable[[], datetime]
    sleep: Callable[[float], Awaitable[None]]
    random: random.Random


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """How the sandbox behaves at the start and after a reset."""

    host: str
    port: int
    path_prefix: str
    public_url: str | None
    any_token: bool
    token: str
    vendor: str | None
    rate: RateLimit | None
    latency: float
    jitter: float
    as_seen: bool
    strict: bool
    tls: bool
    cors: tuple[str, ...]
    allowed_hosts: tuple[str, ...]
    bodies: bool
    deliver: bool
