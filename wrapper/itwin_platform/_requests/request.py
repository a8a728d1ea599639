"""Turn values into a request: URL, headers, JSON, and the rules that always apply.

Source: sections 8 and 9.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache, partial
from urllib.parse import quote, unquote, urlencode

import httpx
from itwin_platform_api.operations import BODY_LIMITS
from itwin_platform_api.request import RequestValues
from itwin_platform_api.unset import UNSET, Unset
from itwin_platform_transport import Origin, Request, UsageError, host_header, is_host, is_loopback

from .._version import __version__
from .body import write_json

#: A request of these methods states the length of its body, also when the body is empty.
_WITH_LENGTH = frozenset({"POST", "PUT", "PATCH"})
#: Headers of every request.
FIXED_HEADERS = {"Accept-Encoding": "gzip", "User-Agent": f"itwin-platform/{__version__}"}
#: Most bytes of a path with its query: httpx cannot represent a URL above 65,536 bytes, with scheme and host.
MOST_OF_URL = 65_000


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Service:
    """The settings that all requests to one service share.

    Args:
        base_url: the address of the service; its path is kept.
        vendor: the word that takes the place of `{vendor}` in Accept.
        check_requests: whether the documented rules are checked before sending.
        max_response_bytes: the largest decoded response.

    Four attributes are derived: `address` is the base URL without a slash at its end, `origin` and `prefix` are its
    parts, and `headers` are the headers of every request.
    """

    base_url: httpx.URL
    vendor: str
    check_requests: bool
    max_response_bytes: int
    address: str = field(init=False)
    origin: Origin = field(init=False)
    prefix: str = field(init=False)
    headers: Mapping[str, str] = field(init=False)

    def __post_init__(self) -> None:
        derive = partial(object.__setattr__, self)
        derive("address", str(self.base_url).rstrip("/"))
        derive("origin", Origin.of(self.base_url))
        derive("prefix", self.base_url.raw_path.decode("ascii").rstrip("/"))
        host = host_header(self.base_url.raw_host.decode("ascii"), self.base_url.port)
        derive("headers", {"Host": host, **FIXED_HEADERS})

    def check_body_size(self, size: int, method: str, route: str) -> None:
        """Reject a body that is larger than the service accepts. Source: section 8.

        Raises:
            UsageError: RequestTooLarge.
        """
        limit = BODY_LIMITS.get((method, route)) if self.check_requests else None
        if limit is not None and size > limit:
            message = f"the body has {size:,} bytes, at most {limit:,} are allowed: send fewer or smaller objects"
            raise UsageError(message, code="RequestTooLarge")


def as_base_url(text: str, *, allow_insecure: bool) -> httpx.URL:
    """Strip and parse the base URL.

    Raises:
        UsageError: it is not an http(s) URL, holds more than an origin and a path, or would expose the token.
    """

    def problem(reason: str) -> UsageError:
        return UsageError(f"base_url {reason}", argument="base_url")

    text = text.strip()
    if (unseen := next((each for each in text if each == " " or not each.isprintable()), None)) is not None:
        raise problem(f"must not contain {unseen!r}: percent-encode blanks and control characters of its path")
    # Checked before parsing: httpx reads a password with a "/" in part as the path, and errors show the path.
    if any(each in text for each in "@?#"):
        rule = "must not contain a user, a query or a fragment"
        raise problem(f"{rule}: pass the token as token=..., and write an @ in its path as %40")
    try:
        url = httpx.URL(text)
        host, port = url.host, url.port
    except (httpx.InvalidURL, UnicodeError) as error:
        raise problem(f"is not a URL: {error}") from None
    if url.scheme not in ("http", "https") or not host:
        raise problem("must be a URL that starts with https:// or http:// and names a host")
    if not is_host(url.raw_host.decode("ascii")):
        raise problem(f"is not a URL: {host!r} is neither a name that can be looked up nor an IP address")
    if port is not None and not 0 < port < 65_536:
        raise problem(f"has the port {port}, and ports go from 1 to 65535")
    if url.scheme == "http" and not allow_insecure and not is_loopback(host):
        raise problem(f"is plain http to {host}, which exposes the token: use https, or pass allow_insecure=True")
    return url


def make_request(
    values: RequestValues, service: Service, added: Mapping[str, str], extensions: Mapping[str, object]
) -> Request:
    """Turn values into the request that each attempt sends.

    Args:
        values: the request.
        service: the settings that all requests share.
        added: headers to add, with names in lower case; the headers of the operation win.
        extensions: options for the transport, such as the timeouts of one attempt, by the names that httpx uses.

    Raises:
        UsageError: a segment of the path is empty, '.' or '..', a header or the address cannot be encoded, the body
            is not JSON, or the body is larger than the service accepts.
    """
    check_path(values.path, route=values.route)
    headers = _headers_of(service, (*values.headers.items(),), (*added.items(),))
    content = b"" if values.body is UNSET else write_json(values.body, given=values.given)
    if values.body is not UNSET:
        headers += ((b"Content-Type", b"application/json"),)
        service.check_body_size(len(content), values.method, values.route)
    if content or values.method in _WITH_LENGTH:
        headers += ((b"Content-Length", b"%d" % len(content)),)
    try:
        query = encode_query(values.query) if values.query else ""
    except UnicodeError:
        raise UsageError("the request cannot be encoded: a string holds a lone surrogate") from None
    target = service.prefix + values.path + (f"?{query}" if query else "")
    is_visible = target.isascii() and target.isprintable()
    if not is_visible or " " in target or "#" in target or "<" in target or ">" in target or '"' in target:
        raise UsageError("the request cannot be encoded: its path and its query must be percent-encoded")
    if len(target) > MOST_OF_URL:
        raise UsageError(f"the request cannot be encoded: its URL is too long, with {len(target):,} bytes")
    return Request(values.method, service.origin, target.encode("ascii"), headers, content, extensions)


@lru_cache
def _headers_of(
    service: Service, operation: tuple[tuple[str, str], ...], added: tuple[tuple[str, str], ...]
) -> tuple[tuple[bytes, bytes], ...]:
    """Return the headers of a request that do not depend on its body. Cached: see the row "GET" of docs/benchmarks.md.

    Raises:
        UsageError: a value cannot be encoded.
    """
    for name, value in operation:
        check_header(name, value)
    of_operation = {name: value.replace("{vendor}", service.vendor) for name, value in operation}
    headers = merged_headers(service.headers, dict(added), of_operation)
    return tuple((name.encode("ascii"), value.encode("ascii")) for name, value in headers.items())


def merged_headers(*headers: Mapping[str, str]) -> dict[str, str]:
    """Merge headers whose names may differ in case; the last one wins."""
    by_name = {name.lower(): (name, value) for each in headers for name, value in each.items()}
    return dict(by_name.values())


def encode_query(query: Mapping[str, str] | str) -> str:
    """Encode a query; a string is encoded already.

    `$` is not escaped: the service writes it so in its links. A space becomes %20: in a query of OData, + is a plus.
    """
    return query if isinstance(query, str) else urlencode(query, safe="$", quote_via=quote) if query else ""


def check_address(url: httpx.URL, *, base_url: httpx.URL) -> None:
    """Reject an address outside the service: the token would leave the service.

    Raises:
        UsageError: another scheme, host or port, user information, or a path that leaves the base path.
    """
    same_origin = (url.scheme, url.host, url.port) == (base_url.scheme, base_url.host, base_url.port)
    if not same_origin or url.userinfo != base_url.userinfo:
        raise UsageError(f"requests go to {base_url} only: the token must not leave it")
    if not url.raw_path.startswith(base_url.raw_path.rstrip(b"/") + b"/"):
        raise UsageError(f"requests go to paths below {base_url} only")


def check_path(path: str, *, route: str = "/") -> None:
    """Reject a path with a segment that a server resolves, so that the request reaches another path.

    Args:
        path: the encoded path, with or without a query.
        route: the template of the path; with a slash at its end, the path may end with one.

    Raises:
        UsageError: a segment is empty, '.' or '..', or decodes to such a segment; a backslash counts as a slash.
    """
    if not ("%" in path or "?" in path or "//" in path or "/." in path or path.endswith("/")):
        return  # the common case
    *segments, last = path.partition("?")[0].split("/")[1:]
    if last or not route.endswith("/"):
        segments.append(last)
    for segment in segments:
        if segment in ("", ".", "..") or ("%" in segment and _climbs(unquote(unquote(segment)))):
            raise UsageError("an id in the path is empty, '.' or '..': the request would reach another path")


def _climbs(decoded: str) -> bool:
    parts = decoded.replace("\\", "/").split("/")
    return ".." in parts or parts == ["."]


def check_header(name: str, value: object) -> None:
    """Reject a header value that is not visible ASCII: it cannot be sent, or starts another header."""
    if isinstance(value, Unset):
        return
    if not (isinstance(value, str) and value.isascii() and value.isprintable() and "" != value == value.strip(" ")):
        raise UsageError(f"{name} must be a string of visible ASCII characters without spaces around it", argument=name)


def check_characters(name: str, *values: str) -> None:
    """Reject a lone surrogate: UTF-8 cannot encode it. `name` is the argument, or empty if it is not known."""
    try:
        "".join(values).encode()
    except UnicodeEncodeError:
        message = f"{name or 'a keyword'} must not hold a lone surrogate: it cannot be sent"
        raise UsageError(message, argument=name or None) from None
