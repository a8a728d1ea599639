"""The settings of a client that may come from the environment, and the address that it sends to."""

import ipaddress
import os

import httpx

from .._errors import UsageError


def setting(name: str, value: str | None, variable: str) -> str:
    """Return a setting that was passed, or the one in the environment.

    Raises:
        UsageError: there is neither, or it is not a string.
    """
    found = value if value is not None else os.environ.get(variable)
    if not found:
        raise UsageError(f"{name} is missing: pass {name}=... or set the environment variable {variable}")
    if not isinstance(found, str):
        raise UsageError(f"{name} must be a str, not {type(found).__name__}")
    return found


def as_base_url(text: str, *, allow_insecure: bool) -> httpx.URL:
    """Parse the base URL.

    Raises:
        UsageError: it is not an http(s) URL, holds more than an origin and a path, or would expose the token.
    """
    try:
        url = httpx.URL(text)
    except httpx.InvalidURL as error:
        raise UsageError(f"base_url is not a URL: {error}") from None
    if url.scheme not in ("http", "https") or not url.host:
        raise UsageError("base_url must be a URL that starts with https:// or http:// and names a host")
    if url.userinfo or "?" in text or "#" in text:
        raise UsageError("base_url must not contain a user, a query or a fragment; pass the token as token=...")
    if url.scheme == "http" and not allow_insecure and not _is_loopback(url.host):
        raise UsageError(
            f"base_url is plain http to {url.host}, which exposes the token: use https, or pass allow_insecure=True"
        )
    return url


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
