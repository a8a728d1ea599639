"""Tokens of an OAuth2 provider rotate without failing calls, and a failing provider does not show its secret."""

import re
from pathlib import Path

import pytest
from authlib.integrations.httpx_client import AsyncOAuth2Client  # type: ignore[import-untyped]  # has no types
from itwin_platform import PlatformClient, TokenError
from itwin_platform_sandbox import Sandbox

from examples.rotating_tokens import ClientCredentials, token_server
from tests.support.programs import run


def test_tokens_rotate_while_a_listing_is_read(tmp_path: Path) -> None:
    """Several tokens serve one listing without a single 401; a revoked one costs one 401 and one token."""
    listing, revoked = run("rotating_tokens", folder=tmp_path).stdout.split(
        "A token that is revoked before it expires:"
    )
    assert listing.count("issued") >= 2
    assert "800 iTwins, statuses ['200']" in listing
    assert revoked.count("issued") >= 1  # on a slow machine the listing ends with a token whose time has come, too
    assert re.search(r"Northwind Engineering, statuses \[401, 200\]", revoked)


async def test_a_source_that_fails_is_a_token_error(itwin_sandbox: Sandbox, capsys: pytest.CaptureFixture[str]) -> None:
    """Nothing is sent to the platform, the cause is kept, and no message names the client's secret."""
    async with token_server(itwin_sandbox) as token_endpoint:
        oauth = AsyncOAuth2Client("my-service", "planted-secret", token_endpoint_auth_method="client_secret_post")
        source = ClientCredentials(oauth, token_endpoint)  # the server knows HTTP Basic only
        async with PlatformClient(itwin_sandbox.base_url, vendor="sandbox", token=source) as platform:
            with pytest.raises(TokenError) as caught:
                await platform.itwins.get_primary_account()
        await oauth.aclose()  # pyright: ignore[reportAttributeAccessIssue]  # as in the example
    assert "invalid_client" in repr(caught.value.__cause__)
    assert "planted-secret" not in f"{caught.value!r} {caught.value} {caught.value.__cause__!r}"
    assert not itwin_sandbox.requests
    assert "issued" not in capsys.readouterr().out
