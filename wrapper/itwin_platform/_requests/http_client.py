"""An httpx client for the generated functions, and for requests that no operation covers."""

from http.cookiejar import CookieJar, DefaultCookiePolicy
from typing import Any

import httpx
from itwin_platform_api.request import RequestValues
from itwin_platform_transport import CallInfo, Request

from .request import FIXED_HEADERS, check_address, check_path, merged_headers
from .sender import DecodedResponse, ErrorsOfCall, PlatformSender


class PlatformHTTPClient(httpx.AsyncClient):
    """An `httpx.AsyncClient` for the generated functions, and for requests that no operation covers.

    The generated functions call `send_values`. Requests that the caller makes go through the same attempts, with the
    same errors, and only to addresses of the service; cookies and redirects are off.
    """

    def __init__(self, sender: PlatformSender) -> None:
        super().__init__(
            transport=_PlatformTransport(sender),
            base_url=sender.service.base_url,
            timeout=httpx.Timeout(**sender.options.extensions["timeout"]),
            headers=merged_headers(FIXED_HEADERS, sender.options.headers),
            cookies=CookieJar(DefaultCookiePolicy(allowed_domains=[])),  # stores none, and sends none
        )
        self._sender = sender

    async def send_values(self, values: RequestValues) -> DecodedResponse:
        """Send a request as the operations do."""
        return await self._sender.send(values)

    async def request(self, method: str, url: httpx.URL | str, **others: Any) -> httpx.Response:
        """Send a request as an AsyncClient does.

        Raises:
            UsageError: a segment of the path is empty, '.' or '..': httpx would resolve it.
        """
        with ErrorsOfCall(method, path := str(url).partition("?")[0]):
            if path.startswith("/"):
                check_path(path)
            return await super().request(method, url, **others)


class _PlatformTransport(httpx.AsyncBaseTransport):
    """Checks the address of a request, and replaces its Accept and credentials. It does not close the sender."""

    def __init__(self, sender: PlatformSender) -> None:
        self._sender = sender

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        service, policy = self._sender.service, self._sender.options.policy
        info = CallInfo(method=request.method, route=request.url.path, policy=policy, has_template=False)
        with ErrorsOfCall(info.method, info.route, request.url.raw_path.partition(b"?")[0].decode("ascii")):
            check_address(request.url, base_url=service.base_url)
            request.headers["accept"] = request.headers.get("accept", "*/*").replace("{vendor}", service.vendor)
            for name in ("authorization", "cookie"):
                request.headers.pop(name, None)
            own = await Request.of(request)
            response = self._sender.decoded(await self._sender.transport.send(own, info), own, info)
        stream, extensions = httpx.ByteStream(response.content), {**response.extensions}
        return httpx.Response(response.status_code, headers=response.headers, stream=stream, extensions=extensions)
