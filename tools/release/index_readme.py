"""Adapt the README to a package index, on which relative links do not work: a metadata hook of hatchling.

With a source address in `[project.urls]`, relative links become absolute. Without one, relative links become plain text
and relative images are removed.
"""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from hatchling.metadata.plugin.interface import MetadataHookInterface

#: A link or an image in Markdown with a relative target.
_RELATIVE = re.compile(r"\[([^\]]*)\]\((?!https?://|#|mailto:)([^)\s]+)\)")
#: A paragraph that consists of a relative image.
_IMAGE = re.compile(rf"^!{_RELATIVE.pattern}\n\n?", re.MULTILINE)


def readme_for_an_index(text: str, *, source: str | None) -> str:
    """Return the README with links that work outside the repository.

    Args:
        text: the README, in Markdown.
        source: the base address of the repository's files; None if the project has none.
    """
    if source is not None:
        return _RELATIVE.sub(rf"[\1]({source.rstrip('/')}/\2)", text)
    return _RELATIVE.sub(r"\1", _IMAGE.sub("", text))


class IndexReadme(MetadataHookInterface):
    """Writes the README into the metadata of a build."""

    def update(self, metadata: dict[str, Any]) -> None:
        """Add the readme."""
        urls: Mapping[str, str] = metadata.get("urls", {})
        text = (Path(self.root) / "README.md").read_text(encoding="utf-8")
        metadata["readme"] = {
            "content-type": "text/markdown",
            "text": readme_for_an_index(text, source=urls.get("Source")),
        }
