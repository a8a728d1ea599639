"""What the generated functions send through: an httpx client as lean as the service allows."""

from collections.abc import Callable, Mapping
from datetime import datetime
from functools import lru_cache
from typing import Any

import httpx

from .._api import DECODE_ERROR
from .._attempts.token import utc_now
from .._attempts.transport import ATTEMPTS
from .._errors import ResponseDecodeError, UsageError
from .._json import write_json
from .._listings.links import written
from .._operations.group import page_place
from .._operations.rules import check_header
from .._version import __version__
from .status_errors import status_error

#: A request of these methods says how long its body is, also where it has none.
_WITH_LENGTH = frozenset({"POST", "PUT", "PATCH"})
#: Headers that the short way writes itself.
_OWN_HEADERS = frozenset({"accept-encoding", "content-length", "content-type", "host", "user-agent"})
#: An address is read once: reading it costs httpx as much as all the rest of writing a request.
_url = lru_cache(maxsize=256)(httpx.URL)


class PlatformTransport(httpx.AsyncBaseTransport):
    """Names the vendor in Accept, keeps requests at the service's address, and raises what the service refuses.

    Source: sections 2.11, 7 and 9.
    """

    def __init__(
        self,
        transport: httpx.AsyncBaseTransport,
        *,
        base_url: httpx.URL,
        vendor: str,
        now: Callable[[], datetime] = utc_now,
    ) -> None:
        self._transport = transport
        self._base_url = base_url
        self._vendor = vendor
        self._now = now

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Sends a request and returns a success, read.

        Raises:
            UsageError: the address is not the service's, or its path climbs.
            APIStatusError: the answer's status is 300 or above.
        """
        check_address(request.url, base_url=self._base_url)
        accept = request.headers.get("accept", "")
        if "{vendor}" in accept:
            request.headers["accept"] = accept.replace("{vendor}", self._vendor)
        response = await self._transport.handle_async_request(request)
        response.request = request
        if response.status_code >= 300:
            raise status_error(
                status=response.status_code,
                headers=response.headers,
                body=response.content,
                attempts=response.extensions.get(ATTEMPTS, 1),
                now=self._now(),
            )
        response.extensions[DECODE_ERROR] = ResponseDecodeError
        return response

    async def aclose(self) -> None:
        """Closes the transport beneath."""
        await self._transport.aclose()


def check_address(url: httpx.URL, *, base_url: httpx.URL) -> None:
    """Refuses an address outside the service's: the token would go with it.

    Raises:
        UsageError: another scheme, host or port, user information, or a path that leaves the base path.
    """
    same_origin = (url.scheme, url.host, url.port) == (base_url.scheme, base_url.host, base_url.port)
    if not same_origin or url.userinfo != base_url.userinfo:
        raise UsageError(f"requests go to {base_url} only: the token must not leave it")
    if not url.raw_path.startswith(base_url.raw_path.rstrip(b"/") + b"/"):
        raise UsageError(f"requests go to paths below {base_url} only")


def check_path(path: str, *, route: str = "/") -> None:
    """Refuses a path with a part that would be resolved away, so that the request would reach another one.

    Args:
        path: the path as it is written, with or without a query.
        route: the template that it was made from; a slash at its end is meant.

    Raises:
        UsageError: a part is empty, '.' or '..'.
    """
    *parts, last = path.partition("?")[0].split("/")[1:]
    if last or not route.endswith("/"):
        parts.append(last)
    if any(part in ("", ".", "..") for part in parts):
        raise UsageError("an id in the path is empty, '.' or '..': the request would reach another path")


class PlatformHTTPClient(httpx.AsyncClient):
    """An `httpx.AsyncClient` for one service, without what it does not need: cookies, redirects, merging.

    The generated functions call `request` with a method, a path, and JSON; that way is short. Whatever else an
    AsyncClient can do goes the ordinary way, through the same transport and with the same errors.

    Args:
        transport: sends; raises typed errors.
        base_url: the service's address; its path is kept.
        timeout: of one attempt.
        body_limits: the most bytes of a request body by method and route.
    """

    def __init__(
        self,
        *,
        transport: httpx.AsyncBaseTransport,
        base_url: httpx.URL,
        timeout: httpx.Timeout,
        body_limits: Mapping[tuple[str, str], int],
    ) -> None:
        fixed = {"Accept-Encoding": "gzip", "User-Agent": f"itwin-platform/{__version__}"}
        super().__init__(transport=transport, base_url=base_url, timeout=timeout, headers=fixed, trust_env=False)
        self._fixed_headers = {"Host": base_url.netloc.decode("ascii"), **fixed}
        self._platform_transport = transport
        self._address = str(base_url).rstrip("/")
        self._times = timeout.as_dict()
        self._body_limits = body_limits

    def __repr__(self) -> str:
        return f"PlatformHTTPClient({self._address!r})"

    @staticmethod
    def encode_body(body: object) -> object:
        """Leaves a body as it is: `request` writes models, without a copy of their parts."""
        return body

    async def request(  # type: ignore[override]  # the same call; what is not named here goes the ordinary way
        self,
        method: str,
        url: httpx.URL | str,
        *,
        json: object = None,
        params: Mapping[str, str] | None = None,
        headers: Mapping[str, str] | None = None,
        extensions: Mapping[str, Any] | None = None,
        **others: Any,
    ) -> httpx.Response:
        """Sends a request and returns a success.

        Raises:
            UsageError: the body cannot be written as JSON, or is larger than the limit; a header or the address
                holds what cannot be sent.
        """
        if self.is_closed:
            raise UsageError("the client is closed: make the call before `aclose()`, or inside its `async with`")
        content = None if json is None else write_json(json)
        path = url if isinstance(url, str) and url.startswith("/") else None
        if path is not None:
            check_path(path, route=str((extensions or {}).get("route", path.partition("?")[0])))
        if others or path is None or not _is_plain(path, params=params, headers=headers):
            if content is not None:
                others |= {"content": content}
                headers = httpx.Headers(headers)
                headers.setdefault("Content-Type", "application/json")
            try:
                return await super().request(
                    method, url, params=params, headers=headers, extensions=dict(extensions or {}), **others
                )
            except (httpx.InvalidURL, UnicodeError) as error:
                raise unwritable(error) from None
        method = method.upper()
        extensions = {"timeout": self._times, **(extensions or {})}
        sent = self._fixed_headers | dict(headers or {})
        for name, value in (headers or {}).items():
            check_header(name, value)
        if content is not None:
            sent["Content-Type"] = "application/json"
            check_body_size(len(content), limit=self._body_limits.get((method, str(extensions.get("route")))))
        if content is not None or method in _WITH_LENGTH:
            sent["Content-Length"] = str(len(content or b""))
        place = page_place.get()
        # Taken once: what is sent on the way, by a token source for example, is not a page of this listing.
        page_place.set(None)
        try:
            query = written((params or {}).items(), place.query if place is not None else None)
            address = _url(f"{self._address}{path}?{query}" if query else self._address + path)
            body = httpx.ByteStream(content or b"")
            request = httpx.Request(method, address, headers=sent, stream=body, extensions=extensions)
        except (httpx.InvalidURL, UnicodeError) as error:
            raise unwritable(error) from None
        response = await self._platform_transport.handle_async_request(request)
        if place is not None:
            await place.arrived()
        return response


def _is_plain(path: str, *, params: object, headers: object) -> bool:
    """Tells whether a request is as the generated functions write it: the short way is for these."""
    if "?" in path or not isinstance(params, Mapping | None) or not isinstance(headers, Mapping | None):
        return False
    texts = all(type(value) is str for value in (params or {}).values())
    return texts and _OWN_HEADERS.isdisjoint(name.lower() for name in headers or ())


def unwritable(error: httpx.InvalidURL | UnicodeError) -> UsageError:
    """Makes the error for a request that cannot be written."""
    reason = error if isinstance(error, httpx.InvalidURL) else "a text holds half of a surrogate pair"
    return UsageError(f"the request cannot be written: {reason}")


def check_body_size(size: int, *, limit: int | None) -> None:
    """Refuses a body that the service would. Source: section 8.

    Raises:
        UsageError: RequestTooLarge.
    """
    if limit is not None and size > limit:
        raise UsageError(
            f"the request body has {size} bytes, {limit} are allowed: send fewer or smaller objects",
            code="RequestTooLarge",
        )
