"""The programs that newcomers run: those in README.md. The examples are run by tests/examples."""

import asyncio
import inspect
import re
from pathlib import Path
from typing import Any

import pytest
from itwin_platform import PlatformClient, UsageError
from itwin_platform_sandbox import Sandbox

PROJECT = Path(__file__).resolve().parents[2]
_BLOCK = re.compile(r"^```python\n(.*?)^```", re.DOTALL | re.MULTILINE)
BLOCKS = [block for block in _BLOCK.findall((PROJECT / "README.md").read_text(encoding="utf-8")) if "import" in block]


def test_readme_has_programs() -> None:
    """There is something to paste."""
    assert any("asyncio.run" in block for block in BLOCKS)


@pytest.mark.itwin_sandbox(itwins=30, objects=12)
@pytest.mark.parametrize("code", BLOCKS, ids=[f"block {number}" for number in range(1, len(BLOCKS) + 1)])
def test_readme_runs_as_pasted(code: str, itwin_sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each block runs against the sandbox with no more than the three variables; its functions are called, too."""
    monkeypatch.setenv("ITWIN_PLATFORM_BASE_URL", itwin_sandbox.base_url)
    monkeypatch.setenv("ITWIN_PLATFORM_VENDOR", "sandbox")
    monkeypatch.setenv("ITWIN_PLATFORM_TOKEN", itwin_sandbox.token)
    names: dict[str, Any] = {"__name__": "__main__"}
    exec(compile(code, "README.md", "exec"), names)  # noqa: S102  # what the page says
    arguments = {
        "itwin_id": itwin_sandbox.itwin_id,
        "repository_id": itwin_sandbox.repository_ids["UrlTemplate"],
        "scene_id": itwin_sandbox.scene_id,
        "webhook_id": itwin_sandbox.webhook_id,
    }
    for value in [each for each in names.values() if inspect.iscoroutinefunction(each)]:
        wanted = [*inspect.signature(value).parameters][1:]
        if "platform" in inspect.signature(value).parameters:
            asyncio.run(_called(value, [arguments[name] for name in wanted], refused="UsageError" in code))
    assert itwin_sandbox.requests
    assert all(request.status is not None and request.status < 300 for request in itwin_sandbox.requests)


async def _called(function: Any, arguments: list[str], *, refused: bool) -> None:
    async with PlatformClient() as platform:
        if not refused:
            await function(platform, *arguments)
            return
        with pytest.raises(UsageError):
            await function(platform, *arguments)
