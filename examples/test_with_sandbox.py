"""A test file with the sandbox's fixtures: an application's own function, tried against the service and its faults.

Run it with `pytest examples/test_with_sandbox.py`. The fixtures come with the extra `sandbox`: nothing is
imported or configured for them. `docs/sandbox.md` lists the faults.
"""

import pytest
from itwin_platform import BackoffPolicy, NotFoundError, PlatformClient, ServerError
from itwin_platform_sandbox import Sandbox

pytestmark = pytest.mark.asyncio


async def project_names(platform: PlatformClient) -> list[str]:
    """The function under test, as an application has it."""
    return [itwin.display_name async for itwin in platform.itwins.list(sub_class="Project", page_size=5)]


@pytest.mark.itwin_sandbox(itwins=30)
async def test_reads_all_pages(itwin_platform_client: PlatformClient, itwin_sandbox: Sandbox) -> None:
    """Each page is asked for, and every project comes once."""
    names = await project_names(itwin_platform_client)
    assert len(names) == len(set(names)) == 11
    assert [request.query.get("$skip", "0") for request in itwin_sandbox.requests] == ["0", "5", "10"]


@pytest.mark.itwin_sandbox(itwins=60)
async def test_an_outage_is_waited_out(itwin_platform_client: PlatformClient, itwin_sandbox: Sandbox) -> None:
    """A listing goes on after a 503, and after a connection that broke in the middle of an answer."""
    itwin_sandbox.fault("unavailable", seconds=0)
    itwin_sandbox.fault("reset_in_body", skip=1)
    assert await project_names(itwin_platform_client)
    assert [request.status for request in itwin_sandbox.requests[:4]] == [503, 200, None, 200]


async def test_a_long_outage_ends_in_an_error(itwin_sandbox: Sandbox) -> None:
    """Where nobody can wait, the application learns of the outage at once, with what it needs to go on later."""
    itwin_sandbox.fault("unavailable", count=None)
    impatient = BackoffPolicy(max_attempts=1)
    async with PlatformClient(
        itwin_sandbox.base_url, vendor="sandbox", token=itwin_sandbox.token, backoff=impatient
    ) as platform:
        with pytest.raises(ServerError) as caught:
            await project_names(platform)
    assert caught.value.retryable
    assert caught.value.resume is not None


async def test_what_is_not_there(itwin_platform_client: PlatformClient) -> None:
    """A webhook that does not exist is an error of its own class."""
    with pytest.raises(NotFoundError, match="WebhookNotFound"):
        await itwin_platform_client.webhooks.activate("nobody")
