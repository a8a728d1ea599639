"""Every page has a way in, once; every command and file that a page names is there."""

import re
from pathlib import Path

import itwin_platform
import pytest
from itwin_platform_sandbox.__main__ import command_line

from tests.support.code_blocks import PAGES, PROJECT, blocks_of
from tests.support.public_face import NAMES
from tools.site.check_search import SEARCHED, misses
from tools.site.specification_page import PAGE

DOCS = PROJECT / "docs"
NAVIGATION = (DOCS / ".navigation.md").read_text(encoding="utf-8")
REFERENCE = "".join(page.read_text(encoding="utf-8") for page in sorted((DOCS / "reference").glob("*.md")))


def pages_of_navigation() -> list[str]:
    """The pages that the navigation leads to, in its order."""
    return re.findall(r"\]\((.+)\)$", NAVIGATION, re.MULTILINE)


def test_every_page_is_in_the_navigation_once() -> None:
    """A page that is written has a way in, and a way leads to a page."""
    written = {page.relative_to(DOCS).as_posix() for page in DOCS.rglob("*.md") if not page.name.startswith(".")}
    assert sorted(pages_of_navigation()) == sorted(written | {PAGE.relative_to(DOCS).as_posix()})


def test_every_public_name_is_in_the_reference_once() -> None:
    """What `itwin_platform` exports stands on one page of the reference."""
    documented = re.findall(r"^::: itwin_platform\.(\w+)$", REFERENCE, re.MULTILINE)
    assert sorted(documented) == NAMES


def test_every_operation_is_in_the_reference_once() -> None:
    """Each method of each group of the client stands on one page of the reference."""
    documented = re.findall(r"^      heading: (\w+\.\w+)$", REFERENCE, re.MULTILINE)
    groups = ("itwins", "repositories", "scenes", "detectors", "webhooks")
    platform = itwin_platform.PlatformClient("https://localhost", vendor="sandbox", token="any-word")
    methods = [f"{group}.{name}" for group in groups for name in vars(type(getattr(platform, group)))]
    assert sorted(documented) == sorted(name for name in methods if "._" not in name)


def commands() -> set[str]:
    """The lines of the pages' shell blocks, and what stands in the text as code."""
    shell = [block.text.replace("\\\n", "") for page in PAGES for block in blocks_of(page, "sh")]
    lines = {line for text in shell for line in text.splitlines()}
    return lines | {code for page in PAGES for code in re.findall(r"`([^`\n]+)`", page.read_text(encoding="utf-8"))}


def test_every_target_that_is_named_is_there() -> None:
    """Every `make` command of the documentation is a target."""
    makefile = (PROJECT / "Makefile").read_text(encoding="utf-8")
    named = {target for line in commands() for target in re.findall(r"^make ([a-z-]+)", line)}
    assert named >= {"demo", "generate", "vendor", "docs"}
    assert [target for target in sorted(named) if f"\n{target}:" not in makefile] == []


def test_every_sandbox_option_that_is_named_is_there(capsys: pytest.CaptureFixture[str]) -> None:
    """`python -m itwin_platform_sandbox` takes each command line that a page shows."""
    found = re.compile(r"python -m itwin_platform_sandbox(?! takes)([^&`]*)")
    lines = {match[1].strip() for line in commands() if (match := found.search(line))}
    assert any("--port" in line for line in lines)
    for line in lines:
        command_line().parse_args(line.split())
    assert capsys.readouterr().err == ""


def test_every_file_that_is_named_is_there() -> None:
    """A file or folder of the project that a page names exists, those of the reader's own service aside."""
    folders = "wrapper|generated|sandbox|tests|tools|examples|docs|templates|measure"
    named = {path for code in commands() for path in re.findall(rf"^(?:cp -r )?((?:{folders})/[\w./-]*)", code)}
    missing = [path for path in sorted(named) if not (PROJECT / path).exists()]
    assert named
    assert missing == []


def test_every_included_file_is_there() -> None:
    """What a page takes over from elsewhere exists."""
    named = {path for page in PAGES for path in re.findall(r'^--8<-- "([\w./]+)', page.read_text(), re.MULTILINE)}
    assert named == {"CHANGELOG.md", "wrapper/ARCHITECTURE.md"}
    assert all(Path(PROJECT / path).is_file() for path in named)


def test_a_search_that_misses_its_page_is_reported() -> None:
    """The page must be among the first three results, whichever of its sections is found."""
    found = {"csv": ["index/", "export/#to-a-csv-file"], "proxy": ["a/", "b/", "c/", "proxies/"], "retry": []}
    missed = list(misses({"csv": "export/", "proxy": "proxies/", "retry": "retries/"}, found))
    assert missed == [
        "search: 'proxy' finds a/, b/, c/, and not proxies/",
        "search: 'retry' finds nothing, and not retries/",
    ]


def test_every_guide_is_searched_for() -> None:
    """Each page that the search must find is there, and the words of the list are those that users type."""
    assert [page for page in SEARCHED.values() if not (DOCS / f"{page.removesuffix('/')}.md").is_file()] == []
    assert SEARCHED.keys() >= {"pagination", "FastAPI", "quickstart", "shutdown", "csv", "retry", "timeout", "proxy"}
