"""Make the README fit for a package index, where a relative link leads nowhere: a metadata hook of hatchling.

With a source address in `[project.urls]`, each relative link becomes absolute. Without one, its text stays and the link
goes, and so do relative images.
"""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from hatchling.metadata.plugin.interface import MetadataHookInterface

#: A link or an image in Markdown whose target is neither absolute nor an anchor of the page.
_RELATIVE = re.compile(r"\[([^\]]*)\]\((?!https?://|#|mailto:)([^)\s]+)\)")
#: A paragraph that is one such image.
_IMAGE = re.compile(rf"^!{_RELATIVE.pattern}\n\n?", re.MULTILINE)


def readme_for_an_index(text: str, *, source: str | None) -> str:
    """Return the README with links that work outside the repository.

    Args:
        text: the README, in Markdown.
        source: the address below which the files of the repository are shown; None when there is none.
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
