"""The settings of a sandbox: their types, limits and checks. `Sandbox` has their defaults."""

import ipaddress
import re
from collections.abc import Callable, Iterable, Mapping
from datetime import datetime, timedelta
from typing import Annotated
from urllib.parse import urlsplit

import msgspec

from .._service.json_values import LARGEST_NUMBER, Count, FieldError, Seconds, checked
from .._service.rate_limit import ServiceRateLimit, rate_limit_of

CONTROL_PATH = "/sandbox"
ANY = "*"
# The characters of a path in a URL. Source: RFC 3986, section 3.3.
_PATH = re.compile(r"(/([\w.~!$&'()*+,;=:@-]|%[0-9a-f]{2})+)*", re.IGNORECASE | re.ASCII)
_VISIBLE = re.compile(r"[!-~]+")
_HOST = re.compile(r"\*|[\w.-]+|\[[0-9a-f:.]+\]", re.IGNORECASE | re.ASCII)
_VENDOR = re.compile(r"[\w.-]+", re.ASCII)


class Settings(msgspec.Struct, frozen=True, kw_only=True):
    """The settings of a sandbox at the start and after a reset. `Sandbox` describes each."""

    itwins: Count
    objects: Count
    rate: ServiceRateLimit | None
    latency: Seconds
    strict: bool
    path_prefix: str
    public_url: str | None
    any_token: bool
    vendor: str | None
    host: str
    port: Annotated[int, msgspec.Meta(ge=0, le=65535)]
    tls: bool
    allow_hosts: tuple[str, ...]

    def __post_init__(self) -> None:
        if self.itwins < 1:
            message = "must be at least 1, because it counts the Account; a token with member_of=() sees none"
            raise FieldError("itwins", message)
        is_control = f"{self.path_prefix}/".startswith(f"{CONTROL_PATH}/")
        if is_control or not _PATH.fullmatch(self.path_prefix) or {".", ".."} & set(self.path_prefix.split("/")):
            message = f"must be a path such as /api, without a slash at its end and not below {CONTROL_PATH}"
            raise FieldError("path_prefix", f"{message}, not {self.path_prefix!r}")
        if self.public_url is not None and not _is_base_url(self.public_url):
            message = f"must be a base URL such as https://proxy.example.com/api, not {self.public_url!r}"
            raise FieldError("public_url", message)
        if self.vendor is not None and not _VENDOR.fullmatch(self.vendor):
            message = f"must be the word in application/vnd.<vendor>.itwin-platform.v1+json, not {self.vendor!r}"
            raise FieldError("vendor", message)
        for name in self.allow_hosts:
            if not _HOST.fullmatch(name):
                message = f"must be a name such as sandbox.example, without scheme and port, or *, not {name!r}"
                raise FieldError("allow_hosts", message)


def reachable_host(host: str) -> str:
    """Return the host at which clients on this machine reach a server of an address: loopback for every interface."""
    try:
        address = ipaddress.ip_address("0.0.0.0" if host in ("", "0") else host)  # noqa: S104 - not bound here
    except ValueError:
        return host
    return {4: "127.0.0.1", 6: "::1"}[address.version] if address.is_unspecified else host


def is_loopback(host: str) -> bool:
    """Return whether only this machine can reach the address."""
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def settings_of(arguments: Mapping[str, object]) -> Settings:
    """Return the settings that these arguments of `Sandbox` describe; `FieldError` names a wrong one."""
    values = {name: arguments[name] for name in Settings.__struct_fields__}
    values["allow_hosts"] = as_strings(values["allow_hosts"])
    if values["rate"] is not None:
        values["rate"] = rate_limit_of(values["rate"])
    return checked(Settings, values)


def as_strings(values: object) -> object:
    """Return an iterable as a tuple, a string as a tuple of one, and any other value unchanged."""
    if isinstance(values, str):
        return (values,)
    return tuple(values) if isinstance(values, Iterable) and not isinstance(values, Mapping) else values


def _is_base_url(text: str) -> bool:
    try:
        parts = urlsplit(text)
        _ = parts.port  # raises ValueError for an invalid port
    except ValueError:
        return False
    is_visible = _VISIBLE.fullmatch(text) is not None
    return (
        is_visible and parts.scheme in ("http", "https") and bool(parts.hostname) and not parts.query + parts.fragment
    )


class ServiceClock:
    """The clock and the calendar of the service, which a test can put forward."""

    def __init__(self, clock: Callable[[], float], now: Callable[[], datetime]) -> None:
        self._clock = clock
        self._now = now
        self.advanced = 0.0

    def seconds(self) -> float:
        """Return monotonic seconds."""
        return self._clock() + self.advanced

    def now(self) -> datetime:
        """Return the aware time."""
        return self._now() + timedelta(seconds=self.advanced)

    def advance(self, seconds: float) -> None:
        """Put both forward."""
        if self.advanced + seconds > LARGEST_NUMBER:
            raise FieldError("seconds", f"together, the clock can be put forward by {LARGEST_NUMBER} s")
        self.advanced += seconds
