"""The pages of the documentation: the navigation has each, and the names and defaults on them are those of the code."""

import dataclasses
import inspect
import re

import pytest
from itwin_platform import BackoffPolicy, EventType, PlatformClient
from itwin_platform_sandbox.__main__ import command_line

from tests.support.calls import ITWINS_PER_PAGE, OBJECTS_PER_PAGE
from tests.support.code_blocks import PAGES, PROJECT, blocks_of
from tests.support.public_face import CALLABLES, EXPORTED, GROUPS, NAMES
from tools.site.specification_page import PAGE

DOCS = PROJECT / "docs"
OF_THE_REPOSITORY = ("SECURITY.md", ".github/CONTRIBUTING.md", ".github/PULL_REQUEST_TEMPLATE.md")
TEXTS = {page: page.read_text(encoding="utf-8") for page in (*PAGES, *(PROJECT / name for name in OF_THE_REPOSITORY))}
REFERENCE = "".join(page.read_text(encoding="utf-8") for page in sorted((DOCS / "reference").glob("*.md")))


def test_every_page_is_in_the_navigation_once() -> None:
    """Every page is in the navigation once, which the strict build of the site does not check."""
    ways = re.findall(r"\]\((.+)\)$", (DOCS / ".navigation.md").read_text(encoding="utf-8"), re.MULTILINE)
    written = {page.relative_to(DOCS).as_posix() for page in DOCS.rglob("*.md") if not page.name.startswith(".")}
    assert sorted(ways) == sorted(written | {PAGE.relative_to(DOCS).as_posix()})


def test_every_public_name_and_operation_is_in_the_reference_once() -> None:
    """Each export of `itwin_platform` and each method of a group is on one page of the reference."""
    assert sorted(re.findall(r"^::: itwin_platform\.(\w+)$", REFERENCE, re.MULTILINE)) == NAMES
    methods = sorted(name for name in CALLABLES if name.partition(".")[0] in GROUPS)
    assert sorted(re.findall(r"^      heading: (\w+\.\w+)$", REFERENCE, re.MULTILINE)) == methods


def commands() -> set[str]:
    """Return the lines of the shell blocks and the inline code of all pages."""
    shell = [block.text.replace("\\\n", "") for page in TEXTS for block in blocks_of(page, "sh")]
    code = [code for text in TEXTS.values() for code in re.findall(r"`([^`\n]+)`", text)]
    return {line for text in shell for line in text.splitlines()} | {*code}


def test_every_target_and_file_that_is_named_is_there() -> None:
    """Every `make` command of the documentation is a target, and every path of the project exists."""
    makefile = (PROJECT / "Makefile").read_text(encoding="utf-8")
    targets = {target for line in commands() for target in re.findall(r"^make ([a-z-]+)", line)}
    folders = "wrapper|transport|generated|sandbox|tests|tools|examples|docs|templates|measure"
    files = {path for code in commands() for path in re.findall(rf"^(?:cp -r )?((?:{folders})/[\w./-]*)", code)}
    files |= {path for text in TEXTS.values() for path in re.findall(r'^--8<-- "([\w./]+)', text, re.MULTILINE)}
    assert targets
    assert files
    assert [target for target in sorted(targets) if f"\n{target}:" not in makefile] == []
    assert [path for path in sorted(files) if not (PROJECT / path).exists()] == []


def test_every_sandbox_option_that_is_named_is_there(capsys: pytest.CaptureFixture[str]) -> None:
    """`python -m itwin_platform_sandbox` takes each command line that a page shows."""
    found = re.compile(r"python -m itwin_platform_sandbox(?! takes)([^&`]*)")
    lines = {match[1].strip() for line in commands() if (match := found.search(line))}
    assert any("--port" in line for line in lines)
    for line in lines:
        command_line().parse_args(line.split())
    assert capsys.readouterr().err == ""


POLICY, TIMEOUT = BackoffPolicy(), inspect.signature(PlatformClient).parameters["timeout"].default
#: Defaults and limits of the code, each with the page that states it.
STATED = [
    *(("retries", f"| `{field.name}` | {field.default} |") for field in dataclasses.fields(BackoffPolicy)),
    ("retries", f"`timeout=` of the client is for one attempt, {TIMEOUT:g} s"),
    (
        "pagination",
        f"| {ITWINS_PER_PAGE}, at most {ITWINS_PER_PAGE} | {OBJECTS_PER_PAGE}, at most {OBJECTS_PER_PAGE} |",
    ),
    ("performance", f"| {POLICY.deadline:g} s | `BackoffPolicy(deadline=...)` |"),
    ("performance", f"| {TIMEOUT:g} s | `timeout=` |"),
    *(("webhooks", f"`{event}`") for event in EventType),
    *(("troubleshooting", f"\n## {name}\n") for name, each in EXPORTED.items() if str(each).endswith("Error'>")),
]


@pytest.mark.parametrize(("page", "stated"), STATED)
def test_a_page_states_the_values_of_the_code(page: str, stated: str) -> None:
    """Defaults, limits, event types and exceptions are on the page that explains them."""
    assert stated in TEXTS[DOCS / f"{page}.md"]
