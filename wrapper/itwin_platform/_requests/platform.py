"""Sends requests to the platform: the vendor in Accept, only to the service, a typed error for each failure."""

import asyncio
from contextlib import suppress
from http.cookiejar import CookieJar, DefaultCookiePolicy
from typing import Any, TypeVar

import httpx

from .._api import RequestValues
from .._errors import PlatformError, ResponseDecodeError
from .._http.attempts.call import KEY, CallInfo, CallResult, call_info
from .._json import write_json
from .._version import LOG
from .options import CallOptions
from .request import (
    FIXED_HEADERS,
    Service,
    cannot_be_sent,
    check_path,
    check_request,
    make_request,
    merged_headers,
    with_extras,
)
from .response import DecodedResponse, decode_error_of, decoded_response, response_info, status_error_of

M = TypeVar("M")


class PlatformSender:
    """Sends the values of a request and returns a success; every operation and every page takes this way.

    Args:
        transport: makes the attempts; its responses are read to their end.
        service: what all requests to the service share.
        options: the options of the calls.
    """

    __slots__ = ("options", "service", "transport")

    def __init__(self, *, transport: httpx.AsyncBaseTransport, service: Service, options: CallOptions) -> None:
        self.transport = transport
        self.service = service
        self.options = options

    async def send(self, values: RequestValues) -> DecodedResponse:
        """Send a request and return its response, decoded.

        Raises:
            UsageError: the request breaks a rule that always holds.
            APIStatusError: the status of the response is 300 or above.
        """
        options = self.options
        info = CallInfo(method=values.method, route=values.route, policy=options.policy)
        extensions: dict[str, object] = {"timeout": options.timeout, KEY: info}
        try:
            return await self.exchange(
                make_request(
                    self.with_extras(values), service=self.service, added=options.headers, extensions=extensions
                )
            )
        except PlatformError as error:
            error.method, error.route = info.method, info.route
            raise

    def with_extras(self, values: RequestValues) -> RequestValues:
        """Return a request with what the caller adds to its query and its body."""
        options = self.options
        if not options.query and not options.body:
            return values
        return with_extras(values, query=options.query, body=options.body)

    async def exchange(self, request: httpx.Request) -> DecodedResponse:
        """Send a request that follows the rules, report its response, and raise the typed error for its status."""
        clock = asyncio.get_running_loop().time
        started = clock()
        try:
            received = await self.transport.handle_async_request(request)
            response = decoded_response(received, limit=self.service.max_response_bytes)
        except ResponseDecodeError as error:
            # The body was rejected, but the status and the headers arrived.
            known = CallResult(attempts=error.attempts, seconds=clock() - started)
            headers = dict(error.headers)
            self._report(httpx.Response(error.status, headers=headers, extensions={KEY: known}), request)
            raise
        self._report(response, request)
        if response.status_code >= 300:
            raise status_error_of(response)
        return response

    def _report(self, response: httpx.Response, request: httpx.Request) -> None:
        response.request = request
        if self.options.on_response is None:
            return
        try:
            self.options.on_response(response_info(response))
        except Exception:  # noqa: BLE001  # a response must not be lost because a callback failed, or a log handler
            with suppress(Exception):
                LOG.exception("on_response failed")


class PlatformHTTPClient(httpx.AsyncClient):
    """An `httpx.AsyncClient` for the generated functions, and for requests that no operation covers.

    The generated functions call `send_values`. All else that an AsyncClient offers goes through the same attempts, with
    the same rules and the same errors; cookies and redirects are off.
    """

    def __init__(self, sender: PlatformSender) -> None:
        super().__init__(
            transport=_RulesTransport(sender),
            base_url=sender.service.base_url,
            timeout=httpx.Timeout(**sender.options.timeout),
            headers=merged_headers(FIXED_HEADERS, sender.options.headers),
            cookies=CookieJar(DefaultCookiePolicy(allowed_domains=[])),  # stores none, and sends none
            trust_env=False,
        )
        self._sender = sender

    def __repr__(self) -> str:
        return f"PlatformHTTPClient({self._sender.service.address!r})"

    async def send_values(self, values: RequestValues) -> httpx.Response:
        """Send a request as the operations do."""
        return await self._sender.send(values)

    async def request(self, method: str, url: httpx.URL | str, *, json: object = None, **others: Any) -> httpx.Response:
        """Send a request as an AsyncClient does, with JSON written as the operations write it.

        Raises:
            UsageError: the body is not JSON, or the address cannot be sent.
        """
        if isinstance(url, str) and url.startswith("/"):
            check_path(url, route=url.partition("?")[0])
        if json is not None:
            others["content"] = write_json(json)
            others["headers"] = httpx.Headers(others.get("headers"))
            others["headers"].setdefault("Content-Type", "application/json")
        try:
            return await super().request(method, url, **others)
        except (httpx.InvalidURL, UnicodeError) as error:
            raise cannot_be_sent(error) from None


class _RulesTransport(httpx.AsyncBaseTransport):
    """Applies the rules that always hold to the requests of an AsyncClient. The client's owner closes the sender."""

    def __init__(self, sender: PlatformSender) -> None:
        self._sender = sender

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        service = self._sender.service
        info = call_info(request, policy=self._sender.options.policy)
        try:
            check_request(request, service=service)
            accept = request.headers.get("accept", "")
            if "{vendor}" in accept:
                request.headers["accept"] = accept.replace("{vendor}", service.vendor)
            request.headers.pop("cookie", None)
            request.extensions = {**request.extensions, KEY: info}
            return await self._sender.exchange(request)
        except PlatformError as error:
            error.method, error.route = info.method, info.route
            raise


def items_of(response: httpx.Response, value: list[M] | None, kind: type[M], *, name: str) -> list[M]:
    """Return the items of a page.

    Raises:
        ResponseDecodeError: they are no list, or one of them is no object.
    """
    items: list[M] = unwrap(response, value, list)
    for index, item in enumerate(items):
        if not isinstance(item, kind):
            raise decode_error_of(response, reason=f"{name}[{index}]: an object was expected")
    return items


def unwrap(response: httpx.Response, value: M | None, kind: type[M]) -> M:
    """Return a value that the specification requires.

    Raises:
        ResponseDecodeError: the value is missing, or something else; the response stays on the error.
    """
    if isinstance(value, kind):
        return value
    raise decode_error_of(response, reason=f"the response has no {kind.__name__}, which the specification requires")
