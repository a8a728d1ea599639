"""The pages of the documentation: every page has a way in, what they name is there, and their facts are the code's."""

import dataclasses
import inspect
import logging
import math
import re
from datetime import timedelta

import griffe
import itwin_platform
import pytest
from itwin_platform import BackoffPolicy, EventType
from itwin_platform._operations.itwins import ITWINS_PER_PAGE
from itwin_platform._operations.scenes import OBJECTS_PER_PAGE
from itwin_platform_sandbox.__main__ import command_line
from itwin_platform_transport import MAX_RESPONSE_BYTES, policy
from itwin_platform_transport.attempts import tokens

from tests.support.code_blocks import PAGES, PROJECT, blocks_of
from tests.support.operations import OPERATIONS
from tests.support.public_face import CALLABLES, EXPORTED, GROUPS, NAMES
from tools.site.check_search import misses, questions
from tools.site.specification_links import SpecificationLinks, linked
from tools.site.specification_page import PAGE

DOCS = PROJECT / "docs"
CLASSES = ("ITwins", "Repositories", "Scenes", "Detectors", "Webhooks")
OF_THE_REPOSITORY = ("SECURITY.md", ".github/CONTRIBUTING.md", ".github/PULL_REQUEST_TEMPLATE.md")
TEXTS = {page: page.read_text(encoding="utf-8") for page in (*PAGES, *(PROJECT / name for name in OF_THE_REPOSITORY))}
REFERENCE = "".join(page.read_text(encoding="utf-8") for page in sorted((DOCS / "reference").glob("*.md")))


def test_every_page_is_in_the_navigation_once() -> None:
    """A page that is written has a way in, and a way leads to a page."""
    ways = re.findall(r"\]\((.+)\)$", (DOCS / ".navigation.md").read_text(encoding="utf-8"), re.MULTILINE)
    written = {page.relative_to(DOCS).as_posix() for page in DOCS.rglob("*.md") if not page.name.startswith(".")}
    assert sorted(ways) == sorted(written | {PAGE.relative_to(DOCS).as_posix()})
    lost = (PROJECT / "tools" / "site" / "theme" / "404.html").read_text(encoding="utf-8")
    named = {f"{page}.md" for page in re.findall(r'\("([a-z/-]+)/", ', lost)}
    assert "quickstart.md" in named <= written


def test_every_public_name_and_operation_is_in_the_reference_once() -> None:
    """What `itwin_platform` exports, and each method of each group, stands on one page of the reference."""
    assert sorted(re.findall(r"^::: itwin_platform\.(\w+)$", REFERENCE, re.MULTILINE)) == NAMES
    methods = sorted(name for name in CALLABLES if name.partition(".")[0] in GROUPS)
    assert sorted(re.findall(r"^      heading: (\w+\.\w+)$", REFERENCE, re.MULTILINE)) == methods


def commands() -> set[str]:
    """The lines of the pages' shell blocks, and what stands in the text as code."""
    shell = [block.text.replace("\\\n", "") for page in TEXTS for block in blocks_of(page, "sh")]
    code = [code for text in TEXTS.values() for code in re.findall(r"`([^`\n]+)`", text)]
    return {line for text in shell for line in text.splitlines()} | {*code}


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


#: Names of others that pages have in backticks: environment variables, states of Redis, classes of other libraries.
FOREIGN = {
    "LOADING",
    "HTTPS_PROXY",
    "NOREPLICAS",
    "CLUSTERDOWN",
    "PING",
    "SUBSCRIBE",
    "UNSUBSCRIBE",
    "HTTPClient",
    "HTTPTransport",
    "to_parquet",
    "response_model",
}
#: What names things: Python, Lua, Jinja, documents and settings.
CODE = (".py", ".lua", ".jinja", ".yaml", ".yml", ".toml", ".js", ".txt", "Makefile", "Containerfile")
#: Names that pages make up, for what the service may add.
MADE_UP = {"sort_by"}


def test_every_name_in_backticks_is_in_the_code() -> None:
    """A class, a function or a constant that a page names exists: a page that outlives its code misleads."""
    folders = ("wrapper", "transport", "generated", "sandbox", "templates", "tests", "tools", "examples", "measure")
    files = [
        path for folder in (*folders, "docs", ".github") for path in (PROJECT / folder).rglob("*") if path.is_file()
    ]
    files += [path for path in PROJECT.iterdir() if path.is_file() and path.name != "CHANGELOG.md"]
    prose = [path for path in files if path.suffix == ".md"]
    code = [path for path in files if path.name.endswith(CODE)]
    words = {word for path in code for word in re.findall(r"\w+", path.read_text(encoding="utf-8"))}
    words |= {path.stem for path in files} | FOREIGN | MADE_UP
    missing: list[str] = []
    for page in prose:
        for code_span in re.findall(r"`([^`\n]+)`", re.sub(r"(?s)```.*?```", "", page.read_text(encoding="utf-8"))):
            names = re.findall(r"(?<![\w/.-])_*[A-Za-z]\w*[A-Z_]\w*(?![\w/-])", code_span)
            missing += [f"{page.relative_to(PROJECT)}: {name}" for name in names if name not in words]
    assert len(prose) > 30
    assert missing == []


def test_every_file_that_is_named_is_there() -> None:
    """A file or folder of the project that a page names or takes over exists, the reader's own service aside."""
    folders = "wrapper|transport|generated|sandbox|tests|tools|examples|docs|templates|measure"
    named = {path for code in commands() for path in re.findall(rf"^(?:cp -r )?((?:{folders})/[\w./-]*)", code)}
    included = {path for text in TEXTS.values() for path in re.findall(r'^--8<-- "([\w./]+)', text, re.MULTILINE)}
    assert named
    assert included == {"CHANGELOG.md", "wrapper/ARCHITECTURE.md"}
    assert [path for path in sorted(named | included) if not (PROJECT / path).exists()] == []


def test_every_guide_is_searched_for_and_a_miss_is_reported() -> None:
    """Each guide answers a question, and must be among the first two results for it, by any section."""
    pages = {page for pages in questions().values() for page in pages}
    guides = {f"{page.stem}/" for page in DOCS.glob("*.md") if page.name[0] != "."}
    assert guides - pages == {"index/", "changelog/", "design/"}
    assert pages - guides == set()
    found = {"csv": ["index/", "export/#to-a-csv-file"], "proxy": ["a/", "b/", "proxies/"], "retry": []}
    asked = {"csv": ["data/", "export/"], "proxy": ["proxies/"], "retry": ["retries/", "errors/"]}
    assert misses(asked, found) == [
        "search: 'proxy' finds a/, b/, and not proxies/",
        "search: 'retry' finds nothing, and not retries/ or errors/",
    ]


@pytest.fixture(scope="module")
def modules() -> griffe.ModulesCollection:
    """The packages as the documentation site reads them."""
    folders = [PROJECT / name for name in ("wrapper", "transport", "generated", "sandbox")]
    loader = griffe.GriffeLoader(search_paths=folders, extensions=griffe.load_extensions(SpecificationLinks()))
    for package in ("itwin_platform", "itwin_platform_transport", "itwin_platform_api", "itwin_platform_sandbox"):
        loader.load(package)
    loader.resolve_aliases(external=True)
    return loader.modules_collection


def test_no_docstring_is_misread(modules: griffe.ModulesCollection, caplog: pytest.LogCaptureFixture) -> None:
    """Every docstring of the public names, and of their members, is read without a complaint of the parser."""
    package = modules["itwin_platform"]
    groups = [modules[f"itwin_platform._operations.{name.lower()}.{name}"] for name in CLASSES]
    read = 0
    with caplog.at_level(logging.WARNING):
        for value in [*(package[name] for name in NAMES), *groups, modules["itwin_platform_sandbox.Sandbox"]]:
            members = value.all_members.values() if value.is_class else ()
            for item in [value, *members]:
                if item.docstring is not None and not item.name.startswith("_"):
                    read += len(item.docstring.parse("google"))
    assert read > len(NAMES)
    assert [record.getMessage() for record in caplog.records] == []


def test_a_field_shows_all_that_is_said_of_it(modules: griffe.ModulesCollection) -> None:
    """The list of a model's fields shows one line of each docstring, so that line has all words."""
    said = modules["itwin_platform.SceneObject"]["related_id"].docstring.value
    assert said.endswith("not allowed for others.")
    assert "\n" not in said


def test_a_model_leads_to_its_schema(modules: griffe.ModulesCollection) -> None:
    """The page links each model to the specification, and lists its fields once: not in the docstring as well."""
    said = modules["itwin_platform.SceneObject"].docstring.value
    assert said.endswith("Specification: [SceneObject](specification.md#schema-SceneObject).")
    assert "Attributes:" not in said


def test_a_docstring_names_its_operation_of_the_specification() -> None:
    """An editor shows no link: the docstring of each operation says where to read, and the site links that instead."""
    text = "".join(path.read_text(encoding="utf-8") for path in (PROJECT / "wrapper").rglob("*.py"))
    named = re.findall(r"(Source: section 4\.\d+, (\w+) on the specification page of the documentation\.)", text)
    assert {name for _, name in named} == set(OPERATIONS)
    assert [name for line, name in named if linked(line) != f"Specification: [{name}](specification.md#{name})."] == []


#: A default that is the most there is.
AT_MOST = "{0}, at most {0}"


def page(name: str) -> str:
    """The text of a page."""
    return TEXTS[DOCS / f"{name}.md"]


def rows(name: str, head: str) -> list[list[str]]:
    """The cells of the table with this head, without the marks of code."""
    table = page(name).partition(f"| {head} |")[2].partition("\n\n")[0]
    lines = [line for line in table.splitlines()[2:] if line.startswith("|")]
    return [[cell.strip().replace("`", "") for cell in line[1:-1].split("|")] for line in lines]


ERRORS = {name: each for name, each in EXPORTED.items() if isinstance(each, type) and issubclass(each, BaseException)}


def test_every_error_has_its_place() -> None:
    """The page for when something goes wrong has each exported exception, with what it means and what to do."""
    sections = page("troubleshooting").split("\n## ")[1:]
    assert sorted(section.partition("\n")[0] for section in sections) == sorted(ERRORS)
    assert [text for text in sections[1:] if "\n**Means:**" not in text or "\n**Do:**" not in text] == []


def test_the_tree_of_errors_is_the_tree() -> None:
    """The tree on the page of errors names each class below the one that it inherits from."""
    block = page("errors").partition("```text\nPlatformError")[2].partition("```")[0]
    above = ["PlatformError"]
    for marks, name in re.findall(r"^([ │├└─]+)(\w+)", block, re.MULTILINE):
        above = [*above[: len(marks) // 4], name]
        assert ERRORS[name].__mro__[1] is ERRORS[above[-2]]
    named = {*re.findall(r"\w+Error", block), "PlatformError"} - {"ValueError"}
    assert named == {name for name, each in ERRORS.items() if issubclass(each, itwin_platform.PlatformError)}


def test_limits_of_backoff_are_its_defaults() -> None:
    """The table names each field of BackoffPolicy, in its order, and its default."""
    documented = [(name, default) for name, default, _ in rows("retries", "`BackoffPolicy(...)` | Default | Means")]
    assert documented == [(field.name, str(field.default)) for field in dataclasses.fields(BackoffPolicy)]


def test_what_is_retried_is_the_table_of_the_code() -> None:
    """Attempts and costs in the table are those of the rules, and jitter is what the page says."""
    table = rows("retries", "What happened | GET, PATCH | POST | attempts at most")
    names = (
        *("429", "502, 503, 504", "certainly not sent (no connection)"),
        "nothing listens on loopback, or the host is unknown, and no response ever came",
        "no response, possibly sent",
        "bytes that are not HTTP, or a connection cut over plain http, and no response ever came",
        "408 on a connection that was idle before",
    )
    most = [rule.most_attempts for rule in policy.RULES.values()]
    counts = ["max_attempts" if count == math.inf else str(count) for count in most]
    assert {row[0]: row[3] for row in table if row[3]} == dict(zip(names, ["any", *counts[1:]], strict=True))
    assert not policy.RULES[policy.Outcome.RATE_LIMITED].uses_attempt
    shares = f"{policy.JITTER_SHARE:.0%}", f"{policy.JITTER_SECONDS} s", f"{policy.RETRY_AFTER_JITTER_SHARE:.0%}"
    assert all(share.replace("%", " %") in page("retries") for share in shares)


def test_times_of_tokens_are_those_of_the_code() -> None:
    """The two windows, and how long a failure is shared, are as the page of tokens says."""
    minutes, seconds = tokens.EARLY_WINDOW // timedelta(minutes=1), tokens.EXPIRY_MARGIN.seconds
    assert [row[0] for row in rows("authentication", "Time until expiry | What happens")] == [
        f"less than {minutes} minutes, or {tokens.EARLY_SHARE * 100:g} % of its lifetime",
        f"less than {seconds} seconds, or {tokens.EXPIRY_SHARE * 100:g} % of its lifetime",
    ]
    assert f"for {tokens.FAILURE_SHARED:g} second," in page("authentication")


def test_limits_are_those_of_the_code() -> None:
    """The page of pagination has the page sizes and the cap of listings, that of performance what protects a client."""
    listings = rows("pagination", "Keyword | Means | Default for iTwins | Default for scene objects")
    sizes = [AT_MOST.format(size) for size in (ITWINS_PER_PAGE, OBJECTS_PER_PAGE)]
    assert [row[2:] for row in listings if row[0] == "page_size"] == [sizes]
    assert [row[2] for row in listings if row[0] == "max_return"] == ["9999, at most 10000"]
    documented = {argument: default for _, default, argument in rows("performance", "Limit | Default | Argument")}
    timeout = f"{inspect.signature(itwin_platform.PlatformClient).parameters['timeout'].default:g} s"
    assert documented["max_response_bytes="] == f"{MAX_RESPONSE_BYTES / 2**20:g} MiB"
    assert documented["BackoffPolicy(deadline=...)"] == f"{BackoffPolicy().deadline:g} s"
    assert documented["timeout="] == timeout
    assert f"`timeout=` of the client is for one attempt, {timeout}" in page("retries")


def test_events_are_those_of_the_enum() -> None:
    """The page of webhooks names every event type, once."""
    documented = [event for _, cell in rows("webhooks", "Area | `event_types`") for event in cell.split(", ")]
    assert sorted(documented) == sorted(EventType)


@pytest.mark.parametrize(("kind", "listed"), rows("repositories", "Type | Fields"))
def test_fields_of_complete_objects_are_those_of_the_code(kind: str, listed: str) -> None:
    """The page of replacement names the fields that each type asks for."""
    fields = [name for name in inspect.signature(EXPORTED[kind]).parameters if name != "additional_properties"]
    assert listed.partition(";")[0].split(", ") == fields
