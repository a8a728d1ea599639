"""The aiohttp-backed transport of the extra `fast`: less processor time for each request, at any number of tasks."""

from importlib import import_module

import httpx


def fast_transport() -> httpx.AsyncBaseTransport:
    """Returns a transport to give as `PlatformClient(transport=...)`.

    It is explicit, so that tools which watch httpx's own transport keep seeing the calls of those who do not ask.

    Raises:
        ImportError: the extra is not installed; `pip install 'itwin-platform[fast]'` does it.
    """
    try:
        # By name: the types hold in a vendored copy too, where the extra may not be installed.
        not_connected: type[Exception] = import_module("aiohttp").ClientConnectorError
        make = import_module("httpx_aiohttp").AiohttpTransport
    except ImportError as error:
        raise ImportError("fast_transport() needs the extra: pip install 'itwin-platform[fast]'") from error
    transport = make(trust_env=False, limits=httpx.Limits(max_connections=0, keepalive_expiry=60.0))
    return FastTransport(transport, not_connected=not_connected)


class FastTransport(httpx.AsyncBaseTransport):
    """Tells a lost answer from a connection that was never made: the one beneath calls both a failure to connect."""

    def __init__(self, transport: httpx.AsyncBaseTransport, *, not_connected: type[Exception]) -> None:
        self._transport = transport
        self._not_connected = not_connected

    def __repr__(self) -> str:
        return "fast_transport()"

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        try:
            return await self._transport.handle_async_request(request)
        except (httpx.ConnectError, httpx.ConnectTimeout) as error:
            if isinstance(error.__cause__, self._not_connected):
                raise
            raise httpx.ReadError(str(error)) from error.__cause__

    async def aclose(self) -> None:
        await self._transport.aclose()
