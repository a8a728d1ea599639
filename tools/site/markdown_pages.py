"""Write each page of the built site as Markdown, and `llms.txt`, an index of them for assistants.

Run as `python -m tools.site.markdown_pages` after the site has been built, as `make docs` does. The Markdown is made
from the pages that readers see, because most of the reference is in docstrings. The page `retries/` becomes
`retries.md`. The format of the index is that of https://llmstxt.org.
"""

import posixpath
import re
import tomllib
from pathlib import Path

from bs4 import BeautifulSoup
from bs4.element import NavigableString, Tag
from markdownify import MarkdownConverter

PROJECT = Path(__file__).resolve().parents[2]
SITE = PROJECT / "site"
NAVIGATION = PROJECT / "docs" / ".navigation.md"
#: A line of the navigation: its indentation, and a page with its title, or the title of a section.
_ENTRY = re.compile(r"^( *)\* (?:\[(.+)\]\((.+)\)|(.+))$", re.MULTILINE)
#: Parts of a page that are no content: permanent links of headings, buttons, scripts and styles.
_NO_CONTENT = ".headerlink, .md-content__button, button, script, style"


def markdown(html: str, page: str) -> str:
    """Return a page of the site as Markdown.

    Args:
        html: The HTML of the page.
        page: The path of its Markdown from the top of the site, such as `reference/client.md`. Links to other pages
            become links to their Markdown.

    Raises:
        ValueError: The page has no article.
    """
    article = BeautifulSoup(html, "html.parser").find("article")
    if article is None:
        raise ValueError(f"{page} has no <article>: has the theme of the site changed?")
    for element in article.select(_NO_CONTENT):
        element.decompose()
    for element in article.select("li.doc-section-item"):
        _join_lines(element)
    for attribute in ("href", "src"):
        for element in article.select(f"[{attribute}]"):
            element[attribute] = _target(str(element[attribute]), page)
    text = MarkdownConverter(
        heading_style="ATX",
        bullets="-",
        code_language_callback=_language,
        escape_asterisks=False,
        escape_underscores=False,
    ).convert_soup(article)
    return re.sub(r"\n{3,}", "\n\n", re.sub(r" +$", "", text, flags=re.MULTILINE)).strip() + "\n"


def _join_lines(item: Tag) -> None:
    """Join a parameter, its type and its description into one line; the templates of the reference use several."""
    for paragraph in item.select(".doc-md-description > p:only-child"):
        paragraph.unwrap()
    for text in item.find_all(string=True):
        if text.find_parent("pre") is None:
            text.replace_with(NavigableString(re.sub(r"\s+", " ", text)))
    for description in item.select(".doc-md-description"):
        if description.find(["p", "pre", "ul", "ol", "table"]) is None:
            description.unwrap()


def _language(code: Tag) -> str | None:
    """Return the language of a code block; a signature of the reference has no name of its own."""
    classes = [str(name) for name in code.parent.get("class") or ()] if code.parent is not None else []
    if "doc-signature" in classes:
        return "python"
    return next((name.removeprefix("language-") for name in classes if name.startswith("language-")), None)


def _target(address: str, page: str) -> str:
    """Return the address in the Markdown of a page for an address in its HTML."""
    path, mark, anchor = address.partition("#")
    if not path or ":" in path or path.startswith("/"):
        return address
    folder = "" if page == "index.md" else page.removesuffix(".md")
    target = posixpath.normpath(posixpath.join(folder, path))
    if not posixpath.splitext(target)[1]:
        target = "index.md" if target == "." else f"{target}.md"
    return posixpath.relpath(target, posixpath.dirname(page) or ".") + mark + anchor


def index(navigation: str, *, name: str, about: str) -> str:
    """Return the text of `llms.txt`: the links of the navigation, under its sections."""
    lines = [f"# {name}", "", f"> {about}.", ""]
    for indentation, title, page, section in _ENTRY.findall(navigation):
        if page:
            lines.append(f"- [{title}]({page})")
        elif not indentation:
            lines += ["", f"## {section}", ""]
    return "\n".join(lines) + "\n"


def main() -> None:
    """Write the Markdown of each page and the index into the site."""
    # The page `folder/index.md` is published as `folder.md`.
    navigation = NAVIGATION.read_text(encoding="utf-8").replace("/index.md)", ".md)")
    pages = [page for _, _, page, _ in _ENTRY.findall(navigation) if page]
    for page in pages:
        html = SITE / ("index.html" if page == "index.md" else f"{page.removesuffix('.md')}/index.html")
        (SITE / page).write_text(markdown(html.read_text(encoding="utf-8"), page), encoding="utf-8")
    project = tomllib.loads((PROJECT / "zensical.toml").read_text(encoding="utf-8"))["project"]
    text = index(navigation, name=project["site_name"], about=project["site_description"])
    (SITE / "llms.txt").write_text(text, encoding="utf-8")
    print(f"llms.txt lists {len(pages)} pages as Markdown")


if __name__ == "__main__":
    main()
