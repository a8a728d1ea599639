"""A client of a service that the test plays."""

from collections.abc import AsyncIterator

import pytest
from itwin_platform import BackoffPolicy, PlatformClient

from tests.support.prepared_pages import BASE_URL


@pytest.fixture
async def platform() -> AsyncIterator[PlatformClient]:
    """A client whose base URL has a path, and which never retries."""
    policy = BackoffPolicy(max_attempts=1)
    async with PlatformClient(BASE_URL, vendor="vendor", token="planted-secret", backoff=policy) as client:
        yield client
