"""The caller's own `httpx.AsyncClient` as a transport."""

import httpx

from .._errors import UsageError
from .lazy import with_known_length

#: What a caller may pass to send through, under a name that does not say which HTTP library it comes from.
HTTPTransport = httpx.AsyncBaseTransport


def check_kind(name: str, value: object, kind: type) -> None:
    """Reject an object of another library where a call would fail on it.

    Raises:
        UsageError: it is not of this kind.
    """
    if not isinstance(value, kind):
        raise UsageError(
            f"{name} must be an httpx.{kind.__name__}, not {type(value).__module__}.{type(value).__qualname__}: "
            "clients and transports of other libraries, such as httpx2, are not supported"
        )


class ClientTransport(httpx.AsyncBaseTransport):
    """Sends through the caller's `httpx.AsyncClient`, with its own defaults, and never closes it."""

    def __init__(self, client: httpx.AsyncClient) -> None:
        check_kind("http_client", client, httpx.AsyncClient)
        self._client = client

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Send one attempt: our headers win, redirects are not followed, the client's credentials are not used.

        Raises:
            UsageError: the client is closed.
        """
        if self._client.is_closed:
            raise UsageError("the given http_client is closed: close it after this client")
        outgoing = self._client.build_request(
            request.method,
            request.url,
            # Its own default parameters would take the place of the query otherwise.
            params=request.url.params if self._client.params else None,
            headers=with_known_length(request.headers),
            content=request.content,
            extensions=dict(request.extensions),
        )
        try:
            return await self._client.send(outgoing, stream=True, auth=None, follow_redirects=False)
        except UnicodeError as error:
            # Even without following it, httpx reads where a redirect leads, and a host may be one that it cannot read.
            raise httpx.RemoteProtocolError("the response redirects to what is not a URL") from error
        except httpx.HTTPStatusError as error:
            # One of its hooks raised for the status, which still decides what follows; the body is there
            # if it was read.
            failed, headers = error.response, error.response.headers.copy()
            headers.pop("content-encoding", None)
            content = failed.content if failed.is_stream_consumed else None
            return httpx.Response(failed.status_code, headers=headers, content=content)
