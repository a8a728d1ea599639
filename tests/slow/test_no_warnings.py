"""The packages import and run without a warning, also where Python is asked to look closely."""

import subprocess
import sys

EVERYTHING = """
import importlib, pkgutil, sys
import itwin_platform, itwin_platform_api, itwin_platform_sandbox

for package in (itwin_platform, itwin_platform_api, itwin_platform_sandbox):
    for module in pkgutil.walk_packages(package.__path__, package.__name__ + "."):
        if not module.name.endswith("__main__"):
            importlib.import_module(module.name)
from itwin_platform import *
from itwin_platform_api.models import *
platform = itwin_platform.PlatformClient("https://s.example", vendor="v", token="t")
print([getattr(platform, group) for group in ("itwins", "repositories", "scenes", "detectors", "webhooks")])
import asyncio
asyncio.run(platform.aclose())
"""


def test_everything_imports_without_a_warning() -> None:
    """Every module and every late name, in the development mode, encodings watched, each warning an error."""
    command = [sys.executable, "-X", "dev", "-X", "warn_default_encoding", "-W", "error", "-c", EVERYTHING]
    ended = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603  # our own program
    assert ended.returncode == 0, ended.stderr
    assert "Warning" not in ended.stderr  # one in a destructor raises nothing and is only printed
