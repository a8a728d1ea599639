"""An httpx client for the generated functions, and for requests that no operation covers."""

from http.cookiejar import CookieJar, DefaultCookiePolicy
from typing import Any

import httpx
from itwin_platform_api.request import RequestValues
from itwin_platform_transport import CallInfo, Request

from .request import FIXED_HEADERS, cannot_be_sent, check_path, check_request, merged_headers, write_json
from .sender import DecodedResponse, ErrorsOfCall, PlatformSender


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

    async def send_values(self, values: RequestValues) -> DecodedResponse:
        """Send a request as the operations do."""
        return await self._sender.send(values)

    async def request(self, method: str, url: httpx.URL | str, *, json: object = None, **others: Any) -> httpx.Response:
        """Send a request as an AsyncClient does, with JSON written as the operations write it.

        Raises:
            UsageError: the body is not JSON, or the address cannot be sent.
        """
        with ErrorsOfCall(method, str(url).partition("?")[0]):
            if isinstance(url, str) and url.startswith("/"):
                check_path(url, route=url.partition("?")[0])
            if json is not None:
                others["content"] = write_json(json, name="json")
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
        service, policy = self._sender.service, self._sender.options.policy
        info = CallInfo(method=request.method, route=request.url.path, policy=policy, has_template=False)
        with ErrorsOfCall(info.method, info.route, request.url.raw_path.partition(b"?")[0].decode("ascii")):
            check_request(request, service=service)
            request.headers["accept"] = request.headers.get("accept", "*/*").replace("{vendor}", service.vendor)
            for name in ("authorization", "cookie"):
                request.headers.pop(name, None)
            response = await self._sender.send_request(await Request.of(request), info)
        stream, extensions = httpx.ByteStream(response.content), {**response.extensions}
        return httpx.Response(response.status_code, headers=response.headers, stream=stream, extensions=extensions)
