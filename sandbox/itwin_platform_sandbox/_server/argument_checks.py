"""Checks of the arguments of `Sandbox`; a `FieldError` names the wrong argument."""

from collections.abc import Iterable
from urllib.parse import urlsplit

from .._service.fields import LARGEST_NUMBER, FieldError
from .gatekeeping import is_origin

CONTROL_PATH = "/sandbox"


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
    if prefix == CONTROL_PATH or prefix.startswith(f"{CONTROL_PATH}/"):
        raise FieldError("path_prefix", f"must not be below {CONTROL_PATH}, the path of the control interface")
    return prefix


def checked_public_url(url: str | None) -> str | None:
    """Return the base URL of a proxy, without a slash at its end."""
    if url is None:
        return None
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.query or parts.fragment:
        raise FieldError("public_url", f"must be a base URL such as https://proxy.example.com/api, not {url!r}")
    return url.rstrip("/")


def checked_origins(origins: str | Iterable[str]) -> tuple[str, ...]:
    """Return one or several origins as a tuple."""
    checked = as_tuple(origins)
    for origin in checked:
        if not is_origin(origin):
            raise FieldError("cors", f"must be an origin such as http://localhost:3000, or *, not {origin!r}")
    return checked


def as_tuple(values: str | Iterable[str]) -> tuple[str, ...]:
    """Return one or several strings as a tuple."""
    return (values,) if isinstance(values, str) else tuple(values)
