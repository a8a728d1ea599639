"""A test file with the fixtures of the sandbox: a function of an application, tested against the service and faults.

Run it with `pytest examples/test_with_sandbox.py`. The extra `sandbox` registers the fixtures: you import and configure
nothing for them. `docs/sandbox.md` lists the faults.
"""

import pytest
from itwin_platform import BackoffPolicy, NotFoundError, PlatformClient, ServerError
from itwin_platform_sandbox import Sandbox

pytestmark = pytest.mark.asyncio


async def project_names(platform: PlatformClient) -> list[str]:
    """Return the names of all projects: the function under test."""
    return [itwin.display_name async for itwin in platform.itwins.list(sub_class="Project", page_size=5)]


@pytest.mark.itwin_sandbox(itwins=30)
async def test_reads_all_pages(itwin_platform_client: PlatformClient, itwin_sandbox: Sandbox) -> None:
    """Each page is requested once, and every project is listed once."""
    names = await project_names(itwin_platform_client)
    assert len(names) == len(set(names)) == 11
    assert [request.query.get("$skip", "0") for request in itwin_sandbox.requests] == ["0", "5", "10"]


@pytest.mark.itwin_sandbox(itwins=60)
async def test_a_listing_survives_a_short_outage(itwin_platform_client: PlatformClient, itwin_sandbox: Sandbox) -> None:
    """A listing continues after a 503, and after a connection that broke in the middle of a response."""
    itwin_sandbox.fault("unavailable", seconds=0)
    itwin_sandbox.fault("reset_in_body", skip=1)
    assert await project_names(itwin_platform_client)
    assert [request.status for request in itwin_sandbox.requests[:4]] == [503, 200, None, 200]


async def test_a_long_outage_ends_in_an_error(itwin_sandbox: Sandbox) -> None:
    """Without retries the listing fails immediately, with the string that resumes it later."""
    itwin_sandbox.fault("unavailable", count=None)
    without_retries = BackoffPolicy(max_attempts=1)
    async with PlatformClient(
        itwin_sandbox.base_url, vendor="sandbox", token=itwin_sandbox.token, backoff=without_retries
    ) as platform:
        with pytest.raises(ServerError) as caught:
            await project_names(platform)
    assert caught.value.retryable
    assert caught.value.resume is not None


async def test_an_unknown_webhook_is_not_found(itwin_platform_client: PlatformClient) -> None:
    """A webhook that does not exist raises NotFoundError."""
    with pytest.raises(NotFoundError, match="WebhookNotFound"):
        await itwin_platform_client.webhooks.activate("nobody", secret="made-up-secret-of-32-characters!")
