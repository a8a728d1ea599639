"""What the environment says of the network: the certificates to trust, and the proxies."""

import ipaddress
import os
import re
import ssl
from collections.abc import Mapping
from contextlib import suppress
from urllib.request import getproxies

import httpx

from .messages import SettingError, is_loopback


def default_certificates(*, trust_env: bool) -> ssl.SSLContext:
    """Return the context with the certificates that httpx takes by default; with `trust_env`, those of the environment.

    Raises:
        SettingError: they cannot be read.
    """
    try:
        context = httpx.create_ssl_context(trust_env=trust_env)
    except OSError as error:
        # In the order in which httpx looks at them.
        found = ((name, os.environ.get(name)) for name in ("SSL_CERT_FILE", "SSL_CERT_DIR") if trust_env)
        named = next((f"the environment variable {name} names {value!r}" for name, value in found if value), "certifi")
        reason = str(error.reason if isinstance(error, ssl.SSLError) else error.strerror).replace("_", " ").lower()
        raise SettingError(f"the certificates to trust cannot be read: {named} ({reason})") from error
    context.set_alpn_protocols(["http/1.1"])
    return context


def environment_proxies() -> Mapping[str, str]:
    """Return the proxies of the environment as `http`, `https` and `all`, and as `no` what goes through none."""
    # On macOS and Windows also those of the system's settings, as httpx and requests take them.
    found = getproxies()
    proxies = {name: found[name] for name in ("http", "https", "all") if found.get(name)}
    return proxies and {**proxies, "no": found.get("no", "")}


def proxy_for(url: httpx.URL, proxies: Mapping[str, str]) -> httpx.Proxy | None:
    """Return the proxy for an address; None where there is none. This machine is reached without one.

    Raises:
        SettingError: what the environment names is no proxy.
    """
    name = url.scheme if url.scheme in proxies else "all"
    if name not in proxies or is_loopback(url.host) or _is_excluded(url, proxies["no"]):
        return None
    try:
        return httpx.Proxy(proxies[name] if "://" in proxies[name] else f"http://{proxies[name]}")
    except (httpx.InvalidURL, ValueError):
        said = f"{name.upper()}_PROXY names no proxy: write a URL such as http://proxy.example:3128"
        raise SettingError(said) from None


def _is_excluded(url: httpx.URL, excluded: str) -> bool:
    """Return whether NO_PROXY names a host: itself, a domain above it, its network, or everything."""
    host, port = url.host.lower(), url.port or {"http": 80}.get(url.scheme, 443)
    for part in re.split(r"[\s,]+", excluded.lower()):
        name = part.lstrip("*").lstrip(".").strip("[]")
        if part == "*" or (name and any(f".{each}".endswith(f".{name}") for each in (host, f"{host}:{port}"))):
            return True
        with suppress(ValueError):
            if "/" in part and ipaddress.ip_address(host) in ipaddress.ip_network(part, strict=False):
                return True
    return False
