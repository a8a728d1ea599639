"""A client of a service that the test plays, and a profile of many more schedules."""

from collections.abc import AsyncIterator

import pytest
from hypothesis import settings
from itwin_platform import BackoffPolicy, PlatformClient

from tests.support.prepared_pages import BASE_URL

# `--hypothesis-profile=thorough` tries many more than an ordinary run has time for.
settings.register_profile("thorough", max_examples=5_000, deadline=None)


@pytest.fixture
async def platform() -> AsyncIterator[PlatformClient]:
    """A client whose base URL has a path, and which never retries."""
    policy = BackoffPolicy(max_attempts=1)
    async with PlatformClient(BASE_URL, vendor="vendor", token="planted-secret", backoff=policy) as client:
        yield client
