"""The client fixture where pytest-asyncio is active, in strict and in auto mode."""

from collections.abc import AsyncIterator
from typing import TYPE_CHECKING

import pytest_asyncio

if TYPE_CHECKING:
    from itwin_platform import PlatformClient

    from . import Sandbox


@pytest_asyncio.fixture
async def itwin_platform_client(itwin_sandbox: "Sandbox") -> "AsyncIterator[PlatformClient]":
    """A client of `itwin_sandbox`, closed after the test."""
    from itwin_platform import PlatformClient

    async with PlatformClient(itwin_sandbox.base_url, vendor="sandbox", token=itwin_sandbox.token) as platform:
        yield platform
