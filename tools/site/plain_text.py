"""Write the site as plain text for language models: llms.txt, llms-full.txt, and a Markdown copy of each page.

Run as `python -m tools.site.plain_text` after the site has been built, as `make docs` does. The copy of
`pagination/index.html` is `pagination.md`. In the reference, an entry replaces each directive.
"""

import re
from pathlib import Path

import yaml

from .plain_reference import entry

PROJECT = Path(__file__).resolve().parents[2]
DOCS, SITE = PROJECT / "docs", PROJECT / "site"
_ENTRY = re.compile(r"^( *)\* (?:\[(.+)\]\((.+)\)|(.+))$", re.MULTILINE)
_DIRECTIVE = re.compile(r"^::: ([\w.]+)\n((?:    .*\n?)*)", re.MULTILINE)
_INCLUDED = re.compile(r'^--8<-- "([\w./]+)(?::(\d+))?"$', re.MULTILINE)


def navigation() -> list[tuple[str, str]]:
    """Return title and file of each page, in the order of the navigation; a section has no file."""
    text = (DOCS / ".navigation.md").read_text(encoding="utf-8")
    return [(match[2] or match[4], match[3] or "") for match in _ENTRY.finditer(text)]


def markdown_of(page: str) -> str:
    """Return a page as Markdown without directives."""
    text = (DOCS / page).read_text(encoding="utf-8")
    text = _INCLUDED.sub(lambda match: _included(match[1], int(match[2] or 1)), text)
    return _DIRECTIVE.sub(lambda match: entry(match[1], members=_members(match[2])), text)


def _members(options: str) -> list[str] | None:
    """Return the members that the options of a directive select; None for all."""
    chosen: list[str] | bool = (yaml.safe_load(options) or {"options": {}})["options"].get("members", True)
    return None if chosen is True else chosen or []


def first_sentence(text: str) -> str:
    """Return the first sentence below the title of a page."""
    paragraph = next((part for part in text.split("\n\n") if re.match(r"\w|`(?!``)", part)), "")
    words = re.sub(r"\[([^]]+)\]\([^)]+\)", r"\1", " ".join(paragraph.split()))
    return words.partition(". ")[0].rstrip(".:") + "."


def _included(name: str, line: int) -> str:
    return "\n".join((PROJECT / name).read_text(encoding="utf-8").splitlines()[line - 1 :])


def main() -> None:
    """Write the files into the built site."""
    outline = ["# itwin-platform", "", "> An asyncio Python client for an iTwin platform service.", ""]
    full: list[str] = []
    for title, page in navigation():
        if not page:
            outline += ["", f"## {title}", ""]
            continue
        text = markdown_of(page)
        target = SITE / page
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, encoding="utf-8")
        outline.append(f"- [{title}]({page}): {first_sentence(text)}")
        full.append(text)
    (SITE / "llms.txt").write_text("\n".join(outline) + "\n", encoding="utf-8")
    (SITE / "llms-full.txt").write_text("\n\n".join(full), encoding="utf-8")


if __name__ == "__main__":
    main()
