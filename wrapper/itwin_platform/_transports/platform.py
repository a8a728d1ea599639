"""Sends requests to the platform: the vendor in Accept, only to the service, a typed error for each failure."""

from typing import Any, TypeVar

import httpx

from .._api import DECODE_ERROR, RequestValues
from .._errors import ResponseDecodeError
from .._json import write_json
from .request import FIXED_HEADERS, Service, cannot_be_sent, check_path, check_request, make_request
from .status_errors import error_of

M = TypeVar("M")


class PlatformSender:
    """Sends the values of a request and returns a success; every operation and every page takes this way.

    Args:
        transport: makes the attempts; its responses are read to their end.
        service: what all requests share.
    """

    __slots__ = ("service", "transport")

    def __init__(self, *, transport: httpx.AsyncBaseTransport, service: Service) -> None:
        self.transport = transport
        self.service = service

    async def send(self, values: RequestValues) -> httpx.Response:
        """Send a request and return its response, read.

        Raises:
            UsageError: the request breaks a rule that always holds.
            APIStatusError: the status of the response is 300 or above.
        """
        return await self.exchange(make_request(values, service=self.service))

    async def exchange(self, request: httpx.Request) -> httpx.Response:
        """Send a request that follows the rules, and raise the typed error for its status."""
        response = await self.transport.handle_async_request(request)
        response.request = request
        if response.status_code >= 300:
            raise error_of(response)
        response.extensions[DECODE_ERROR] = ResponseDecodeError
        return response


class PlatformHTTPClient(httpx.AsyncClient):
    """An `httpx.AsyncClient` for the generated functions, and for requests that no operation covers.

    The generated functions call `send_values`. All else that an AsyncClient offers goes through the same attempts, with
    the same rules and the same errors; cookies and redirects are off.
    """

    def __init__(self, sender: PlatformSender) -> None:
        super().__init__(
            transport=_RulesTransport(sender),
            base_url=sender.service.base_url,
            timeout=sender.service.timeout,
            headers=FIXED_HEADERS,
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
        check_request(request, service=self._sender.service)
        accept = request.headers.get("accept", "")
        if "{vendor}" in accept:
            request.headers["accept"] = accept.replace("{vendor}", self._sender.service.vendor)
        return await self._sender.exchange(request)


def unwrap(response: httpx.Response, value: object, kind: type[M]) -> M:
    """Return a value that the description promises.

    Raises:
        ResponseDecodeError: the value is missing, or something else; the response stays on the error.
    """
    if isinstance(value, kind):
        return value
    raise ResponseDecodeError(
        response.status_code,
        response.headers,
        response.content,
        reason=f"the response has no {kind.__name__} where the description promises one",
    )
