"""A listing far beyond the cap of the service."""

import pytest
from itwin_platform import PlatformClient, TruncatedWarning
from itwin_platform_sandbox import Sandbox


@pytest.mark.parametrize("partition_by", ["createdDateTime", "lastModifiedDateTime"])
async def test_35_000_itwins(partition_by: str) -> None:
    """Beyond X-Max-Return, list_all gives each of 35,000 iTwins once, where list warns that it cannot."""
    async with Sandbox(itwins=35_000, objects=0) as sandbox:
        async with PlatformClient(sandbox.base_url, vendor="vendor", token=sandbox.token) as platform:
            with pytest.warns(TruncatedWarning):
                assert len(await platform.itwins.list().collect()) == 10_000
            sandbox.requests.clear()
            ids = {itwin.id async for itwin in platform.itwins.list_all(partition_by=partition_by, concurrency=4)}
        assert len(ids) == 35_000
        assert len(sandbox.requests) < 80
