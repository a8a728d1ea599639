"""The client fixture where pytest-asyncio is not active: the test enters the client with `async with`."""

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from itwin_platform import PlatformClient

    from . import Sandbox


@pytest.fixture
def itwin_platform_client(itwin_sandbox: "Sandbox") -> "PlatformClient":
    """A client of `itwin_sandbox` that has not been entered."""
    from itwin_platform import PlatformClient

    return PlatformClient(itwin_sandbox.base_url, vendor="sandbox", token=itwin_sandbox.token)
