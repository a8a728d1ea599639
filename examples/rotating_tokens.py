"""Tokens that rotate: OAuth2 client credentials with Authlib as the token provider of a client.

Run it with `python examples/rotating_tokens.py`. A token endpoint on loopback plays the authorization server. Its
tokens expire after three seconds, so that they rotate during one listing. The local sandbox accepts no others.

Copy `ClientCredentials` into your application. The client calls it once for all tasks and refreshes the token before it
expires. After a 401 the client gets another token and retries the request once.
"""

import asyncio
import itertools
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime

import uvicorn
from authlib.integrations.httpx_client import AsyncOAuth2Client  # type: ignore[import-untyped]  # has no types
from itwin_platform import AccessToken, PlatformClient
from itwin_platform_sandbox import Sandbox
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

#: Seconds after which a token expires.
LIFETIME = 3


class ClientCredentials:
    """A token provider: each call fetches a token."""

    def __init__(self, oauth: AsyncOAuth2Client, token_endpoint: str) -> None:
        self._oauth = oauth
        self._token_endpoint = token_endpoint

    async def __call__(self) -> AccessToken:
        """Fetch a token; an error raised here becomes the cause of a TokenError."""
        token = await self._oauth.fetch_token(self._token_endpoint, grant_type="client_credentials")
        return AccessToken(token["access_token"], datetime.fromtimestamp(token["expires_at"], UTC))


@asynccontextmanager
async def token_server(sandbox: Sandbox) -> AsyncIterator[str]:
    """Run a token endpoint that issues tokens which the sandbox accepts, and yield its address."""
    numbers = itertools.count(1)

    async def issue(request: Request) -> JSONResponse:
        # Authlib sends the client's id and secret as HTTP Basic; a real server compares them.
        if not request.headers.get("authorization", "").startswith("Basic "):
            return JSONResponse({"error": "invalid_client"}, 401)
        token = f"short-lived-{next(numbers)}"
        sandbox.add_token(token, expires_in=LIFETIME)
        print(f"  token endpoint: {token} issued")
        return JSONResponse({"access_token": token, "token_type": "Bearer", "expires_in": LIFETIME})

    app = Starlette(routes=[Route("/token", issue, methods=["POST"])])
    listening = socket.create_server(("127.0.0.1", 0))
    server = uvicorn.Server(uvicorn.Config(app, log_level="warning", lifespan="off", ws="none"))
    serving = asyncio.create_task(server.serve([listening]))
    try:
        yield f"http://127.0.0.1:{listening.getsockname()[1]}/token"
    finally:
        server.should_exit = True
        await serving


async def main() -> None:
    """Read a listing for longer than a token is valid, and revoke a token."""
    # Here the token endpoint is on loopback, which needs no proxy of the environment.
    settings = {"scope": "itwin-platform", "trust_env": False}
    # pyright does not know the base class of Authlib's client, which is chosen when it is imported.
    async with (
        Sandbox(itwins=800, latency=0.2, any_token=False) as sandbox,
        token_server(sandbox) as token_endpoint,
        AsyncOAuth2Client("my-service", "a made-up secret", **settings) as oauth,  # pyright: ignore[reportGeneralTypeIssues]
        PlatformClient(sandbox.base_url, vendor="sandbox", token=ClientCredentials(oauth, token_endpoint)) as platform,
    ):
        print(f"A listing that takes longer than the {LIFETIME} s for which a token is valid:")
        itwins = await platform.itwins.list(page_size=50).collect()
        print(f"  {len(itwins)} iTwins, statuses {sorted({str(request.status) for request in sandbox.requests})}")

        print("A token that is revoked before it expires:")
        sandbox.requests.clear()
        sandbox.fault("token_expires")
        account = await platform.itwins.get_primary_account()
        print(f"  {account.display_name}, statuses {[request.status for request in sandbox.requests]}")


if __name__ == "__main__":
    asyncio.run(main())
