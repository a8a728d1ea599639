"""Check the built documentation site for problems that the build does not report.

Run as `python -m tools.site.check_site`. It checks that every page is linked, that every link within the site has its
page and anchor, also in the Markdown copies and in llms.txt, that nothing is loaded from another site, and that every
public name is in the reference.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from html.parser import HTMLParser
from importlib import import_module
from pathlib import Path
from urllib.parse import unquote, urljoin, urlsplit

PROJECT = Path(__file__).resolve().parents[2]
#: The root that links are resolved against.
ROOT = "http://site/"
#: Elements that load what they name.
LOADING = frozenset({"script", "img", "iframe", "source", "link"})
#: A link in Markdown, and the code in which there is none.
MARKDOWN_LINK = re.compile(r"\]\(([^)#\s]+)(?:#[^)\s]*)?\)")
CODE = re.compile(r"^```.*?^```|`[^`\n]+`", re.DOTALL | re.MULTILINE)
#: Directives that the build left in the text.
LEFT_OVER = (":::", "--8<--")


@dataclass
class Page(HTMLParser):
    """A page: its anchors, the targets of its links, what it loads, and its text."""

    address: str
    anchors: set[str] = field(default_factory=set)
    links: set[str] = field(default_factory=set)
    loads: set[str] = field(default_factory=set)
    words: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        super().__init__()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Collect the anchors and targets of an element."""
        values = dict(attrs)
        for name in ("id", "name"):
            if anchor := values.get(name):
                self.anchors.add(anchor)
        target = values.get("href") or values.get("src")
        if target and not target.startswith(("data:", "mailto:")):
            (self.loads if tag in LOADING else self.links).add(urljoin(ROOT + self.address, target))

    def handle_data(self, data: str) -> None:
        """Collect the text."""
        self.words.append(data)


def read(site: Path) -> dict[str, Page]:
    """Read all pages, by their addresses below the root."""
    pages: dict[str, Page] = {}
    for file in sorted(site.rglob("*.html")):
        address = file.relative_to(site).as_posix().removesuffix("index.html")
        pages[address] = page = Page(address)
        page.feed(file.read_text(encoding="utf-8"))
    return pages


def problems(site: Path, names: list[str]) -> Iterator[str]:
    """Yield a line for each problem."""
    pages = read(site)
    for page in pages.values():
        yield from _dead_links(page, pages, site)
        for target in page.loads:
            if not target.startswith(ROOT):
                yield f"{page.address}: loads {target}"
        for text in LEFT_OVER:
            if any(line.startswith(text) for words in page.words for line in words.splitlines()):
                yield f"{page.address}: shows {text} as text"
    for address in pages.keys() - _reached(pages) - {"404.html"}:
        yield f"{address}: no page links to it"
    yield from _dead_links_of_text(site)
    anchors = set().union(*(page.anchors for page in pages.values()))
    for name in names:
        if f"itwin_platform.{name}" not in anchors:
            yield f"{name}: not in the reference"


def _dead_links(page: Page, pages: dict[str, Page], site: Path) -> Iterator[str]:
    for link in page.links | page.loads:
        parts = urlsplit(link)
        if not link.startswith(ROOT) or page.address == "404.html":
            continue
        path = unquote(parts.path).lstrip("/")
        if path not in pages and not (site / path).is_file():
            yield f"{page.address}: links to {path}, which does not exist"
        elif path in pages and parts.fragment and unquote(parts.fragment) not in pages[path].anchors:
            yield f"{page.address}: links to {path}#{parts.fragment}, which is not on that page"


def _dead_links_of_text(site: Path) -> Iterator[str]:
    for file in [*sorted(site.rglob("*.md")), site / "llms.txt"]:
        for target in MARKDOWN_LINK.findall(CODE.sub("", file.read_text(encoding="utf-8"))):
            if "://" not in target and not (file.parent / target).is_file():
                yield f"{file.relative_to(site)}: links to {target}, which does not exist"


def _reached(pages: dict[str, Page]) -> set[str]:
    reached, waiting = set[str](), [""]
    while waiting:
        address = waiting.pop()
        if address in pages and address not in reached:
            reached.add(address)
            waiting += [unquote(urlsplit(link).path).lstrip("/") for link in pages[address].links]
    return reached


def public_names() -> list[str]:
    """Return the names that users import."""
    return list(import_module("itwin_platform").__all__)


def main() -> None:
    """Print the problems, and exit with status 1 if there are any."""
    site = PROJECT / "site"
    if found := list(problems(site, public_names())):
        raise SystemExit("\n".join(found))


if __name__ == "__main__":
    main()
