"""The network settings of the environment: the certificates to trust, and the proxies."""

import ipaddress
import os
import re
import ssl
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Self
from urllib.parse import unquote
from urllib.request import getproxies

import httpx

from .failures import SettingError
from .hosts import address_of, is_host, is_loopback, name_of

_PROXY_SCHEMES = frozenset({"http", "https", "socks5", "socks5h"})
#: An entry of NO_PROXY that has a port.
_WITH_PORT = re.compile(r"(\[[^\[\]]+\]|[^:]*):([0-9]{1,5})", re.ASCII)
#: Host and port.
_NETLOC = re.compile(r"(\[[^\[\]]+\]|[^:/?#@\[\]\\ ]+)(:[0-9]{0,5})?")


def default_certificates(*, trust_env: bool) -> ssl.SSLContext:
    """Return the default TLS context of httpx; with `trust_env`, it has the certificates that the environment names.

    Raises:
        SettingError: they cannot be read.
    """
    try:
        context = httpx.create_ssl_context(trust_env=trust_env)
    except OSError as error:
        # In the order in which httpx looks at them.
        paths = ((name, os.environ.get(name)) for name in ("SSL_CERT_FILE", "SSL_CERT_DIR") if trust_env)
        source = next((f"the environment variable {name} names {value!r}" for name, value in paths if value), "certifi")
        reason = str(error.reason if isinstance(error, ssl.SSLError) else error.strerror).replace("_", " ").lower()
        raise SettingError(f"the certificates to trust cannot be read: {source} ({reason})") from error
    context.set_alpn_protocols(["http/1.1"])
    return context


@dataclass(frozen=True, slots=True)
class Proxy:
    """A proxy.

    Args:
        url: its scheme, host and port, which errors name.
        auth: user and password; None for none.
    """

    url: httpx.URL
    auth: tuple[str, str] | None = field(default=None, repr=False)

    @classmethod
    def of(cls, text: str) -> "Proxy | None":
        """Parse a URL; None if its scheme, host or port is invalid, or its parts cannot be separated with certainty."""
        scheme, separator, rest = text.strip().partition("://")
        if not separator:
            scheme, rest = "http", scheme
        userinfo, _, netloc = rest.removesuffix("/").rpartition("@")
        user, _, password = userinfo.partition(":")
        is_certain = rest.isprintable() and set("/?#@").isdisjoint(userinfo) and _NETLOC.fullmatch(netloc) is not None
        if scheme.lower() not in _PROXY_SCHEMES or not is_certain:
            return None
        try:
            auth = (unquote(user, errors="strict"), unquote(password, errors="strict"))
            url = httpx.URL(f"{scheme}://{netloc}")
            url = url.copy_with(host=url.host[:-1]) if url.raw_host.endswith(b".") else url
            is_usable = is_host(url.raw_host.decode("ascii")) and (url.port is None or 0 < url.port < 65_536)
        except (httpx.InvalidURL, ValueError):
            return None
        return cls(url, auth if any(auth) else None) if is_usable else None

    def for_httpx(self, context: ssl.SSLContext) -> httpx.Proxy:
        """Return an `httpx.Proxy`, with the certificates to trust if the connection to the proxy uses TLS."""
        return httpx.Proxy(self.url, auth=self.auth, ssl_context=context if self.url.scheme == "https" else None)


@dataclass(frozen=True, slots=True)
class EnvironmentProxies:
    """The proxies that the environment names.

    Args:
        named: the proxies for `http`, `https` and `all`; None for a value that is no proxy.
        excluded: the hosts that are reached without a proxy, as NO_PROXY lists them.
    """

    named: Mapping[str, Proxy | None]
    excluded: str

    @classmethod
    def read(cls) -> Self | None:
        """Return the proxies that the environment names now; None when there are none."""
        # On macOS and Windows this includes the settings of the system, as in httpx and requests.
        proxies = getproxies()
        named = {name: Proxy.of(proxies[name]) for name in ("http", "https", "all") if proxies.get(name)}
        return cls(named, proxies.get("no", "")) if named else None

    def proxy_for(self, url: httpx.URL) -> Proxy | None:
        """Return the proxy for an address; None for no proxy, and for addresses of this machine.

        Raises:
            SettingError: the environment names no usable proxy for it.
        """
        name = url.scheme if url.scheme in self.named else "all"
        if name not in self.named or is_loopback(url.host) or _is_excluded(url, self.excluded):
            return None
        if (proxy := self.named[name]) is None:
            # Without the value: it may hold a password in any part.
            raise SettingError(
                f"{name.upper()}_PROXY names no proxy: write a URL such as http://proxy.example:3128 or "
                "http://user:password@proxy.example:3128, with http, https, socks5 or socks5h and without a path, and "
                "percent-encode / ? # and @ in the user and the password"
            )
        return proxy


def _is_excluded(url: httpx.URL, excluded: str) -> bool:
    """Return whether NO_PROXY names a host: itself, a domain above it, its address or network, or everything."""
    address, port = address_of(name_of(url.host)), url.port or {"http": 80}.get(url.scheme, 443)
    # NO_PROXY may have an IDNA name in either form.
    names = [f".{name_of(host)}" for host in (url.host.lower(), url.raw_host.decode("ascii"))]
    for part in re.split(r"[\s,]+", excluded.lower()):
        named = _WITH_PORT.fullmatch(part)
        text, named_port = named.groups() if named else (part, port)
        if int(named_port) != port:
            continue
        text = name_of(text.strip("[]").lstrip("*").lstrip("."))
        if part == "*" or (address is None and text and any(name.endswith(f".{text}") for name in names)):
            return True
        with suppress(ValueError):
            # A single address is a network of one.
            if address is not None and address in ipaddress.ip_network(text, strict=False):
                return True
    return False
