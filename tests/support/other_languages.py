"""The blocks of the page on the sandbox from other languages."""

import re

from tests.support.processes import PROJECT

PAGE = PROJECT / "docs" / "sandbox-from-other-languages.md"
OTHER_LANGUAGES = PAGE.read_text(encoding="utf-8")


def block(heading: str, language: str) -> str:
    """Return the first block of a language under a heading of the page."""
    section = OTHER_LANGUAGES.partition(f"## {heading}\n")[2]
    found = re.search(rf"^```{language}\n(.*?)^```", section, re.DOTALL | re.MULTILINE)
    assert found is not None
    return found[1]
