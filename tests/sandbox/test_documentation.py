"""What docs/sandbox.md says is what the sandbox does."""

import re
from pathlib import Path

from itwin_platform_sandbox import FAULTS

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "sandbox.md").read_text()


def test_every_fault_is_documented() -> None:
    """The page's table names each fault and says of it what the sandbox says."""
    told = dict(re.findall(r"^\| `(\w+)` \| (.*) \|$", PAGE, re.MULTILINE))
    assert told == {name: kind.does for name, kind in FAULTS.items()}
