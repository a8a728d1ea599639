"""Each example runs on its own, states its promise, is listed, and keeps the promises that it is about."""

import ast
import contextlib
import json
import os
import re
import subprocess
import sys
from collections import Counter
from collections.abc import AsyncIterator, Callable, Mapping
from html.parser import HTMLParser
from http import HTTPStatus
from pathlib import Path
from typing import Any

import httpx
import pytest
import pytest_asyncio
from authlib.integrations.httpx_client import AsyncOAuth2Client  # type: ignore[import-untyped]  # has no types
from itwin_platform import AuthenticationError, NotFoundError, PlatformClient, TokenError
from itwin_platform_sandbox import Sandbox

from examples import web_service
from examples.nightly_export import export
from examples.rotating_tokens import ClientCredentials, token_server
from examples.scene_page import HARM, HOSTILE_OBJECTS, is_web_address
from examples.switch_webhooks import switch
from tests.support.processes import PROJECT, ended

EXAMPLES = PROJECT / "examples"


def run(
    name: str, *arguments: str, folder: Path, variables: Mapping[str, str] | None = None, code: int = 0
) -> subprocess.CompletedProcess[str]:
    """Run an example in a folder, where each warning is an error; it ends as it should and complains of nothing."""
    command = [sys.executable, "-W", "error", str(EXAMPLES / f"{name}.py"), *arguments]
    process = ended(*command, folder=folder, variables=variables, status=code)
    assert "Traceback" not in process.stdout + process.stderr
    assert "Warning" not in process.stderr
    return process


#: What each says once in the end, besides what the tests of its own look at.
SAYS = {
    "tour": [r"8 operations, \d+ requests\."],
    "progress": [r"5000 iTwins in 50 pages"],
    "switch_webhooks": [r"1998 webhooks activated, 2 failed:\n  lost-699: PATCH .*: 404 Webhook.*\n  lost-1399: PATCH"],
    "web_service": [r"received list_itwins: cancelled(.*\n)+/account 503 RateLimitError Retry-After (30|2\d)\n"],
    "several_workers": [r"the browser saw \{200: 60\}\nworkers that responded: [1-4]\nthe platform saw \{200: 60"],
    "nightly_export": [r"13200 iTwins in itwins\.csv"],
    "four_programs": [
        r"GET /itwins/2 -> 503, Retry-After: 3\n",
        r"CSV: 250 rows, 250 ids, 20 columns\n",
        r"levels 3 to 20, query parameters kept: \{'key': 'made-up'\}\n",
        r"password changed: BasicAuthentication\(type_='Basic', username=<hidden>, password=<hidden>\)\n",
        r"OutcomeUnknownError, scene_id kept: True\n",
        r"BadRequestError, so the first request had arrived: sceneData\.objects\[0\]\.id is not unique\.\n",
        r"objects of the scene: \['Layer', 'RepositoryResource'\]\n",
        r"5 responses \{200: 5\} with 8 requests\n",
    ],
    "receive_webhooks": [
        r"POST /events -> 204\n(.*\n)*POST /events -> 204\n(.*\n)*POST /events -> 401\n",
        *("handled: ", "came before: ", "rejected: "),
    ],
    "traces": ['"http.response.status_code": 429', '"http.request.resend_count": 1', '"parent_id": null'],
}
#: These have tests of their own that run them.
ELSEWHERE = {"rotating_tokens", "scene_page", "test_with_sandbox"}
NAMES = sorted(path.stem for path in EXAMPLES.glob("*.py") if path.stem != "__main__")


@pytest.mark.parametrize("name", SAYS)
def test_runs_by_itself(name: str, tmp_path: Path) -> None:
    """Without arguments and environment it ends well, has done what it is for, and shows no secret."""
    said = run(name, folder=tmp_path).stdout
    assert [expected for expected in SAYS[name] if len(re.findall(expected, said)) != 1] == []
    assert not re.search("made-up-|a made-up secret|Bearer", said)


def test_the_test_file_passes_where_nothing_is_configured(tmp_path: Path) -> None:
    """Copied into a folder with no configuration of pytest, the test file runs all its tests."""
    (tmp_path / "test_copied.py").write_text((EXAMPLES / "test_with_sandbox.py").read_text(encoding="utf-8"))
    # Without this option pytest-asyncio always warns.
    options = ["--rootdir", str(tmp_path), "-o", "asyncio_default_fixture_loop_scope=function"]
    process = ended("python", "-W", "error", "-m", "pytest", "-q", "-p", "no:cacheprovider", *options, folder=tmp_path)
    assert "4 passed" in process.stdout


def test_none_is_forgotten() -> None:
    """`make examples` runs each, README.md names each, and each is run by a test."""
    runner = ast.parse((EXAMPLES / "__main__.py").read_text(encoding="utf-8"))
    run_by_make = {node.value for node in ast.walk(runner) if isinstance(node, ast.Constant)}
    readme = (EXAMPLES / "README.md").read_text(encoding="utf-8")
    assert [name for name in NAMES if name not in run_by_make] == []
    assert [name for name in NAMES if f"examples/{name}.py" not in readme] == []
    assert set(NAMES) == {*SAYS, *ELSEWHERE}


def test_tokens_rotate_while_a_listing_is_read(tmp_path: Path) -> None:
    """Several tokens serve one listing without a single 401; a revoked one costs one 401 and one token."""
    said = run("rotating_tokens", folder=tmp_path).stdout
    listing, revoked = said.split("A token that is revoked before it expires:")
    assert listing.count("issued") >= 2
    assert "800 iTwins, statuses ['200']" in listing
    assert revoked.count("issued") >= 1  # on a slow machine the listing ends with a token whose time has come, too
    assert re.search(r"Northwind Engineering, statuses \[401, 200\]", revoked)


async def test_a_source_that_fails_is_a_token_error(itwin_sandbox: Sandbox, capsys: pytest.CaptureFixture[str]) -> None:
    """Nothing is sent to the platform, the cause is kept, and no message names the client's secret."""
    async with token_server(itwin_sandbox) as token_endpoint:
        oauth = AsyncOAuth2Client("my-service", "planted-secret", token_endpoint_auth_method="client_secret_post")
        source = ClientCredentials(oauth, token_endpoint)  # the server knows HTTP Basic only
        async with PlatformClient(itwin_sandbox.base_url, vendor="sandbox", token=source) as platform:
            with pytest.raises(TokenError) as caught:
                await platform.itwins.get_primary_account()
        await oauth.aclose()  # pyright: ignore[reportAttributeAccessIssue]  # as in the example
    assert "invalid_client" in repr(caught.value.__cause__)
    assert "planted-secret" not in f"{caught.value!r} {caught.value} {caught.value.__cause__!r}"
    assert not itwin_sandbox.requests
    assert "issued" not in capsys.readouterr().out


def variables(sandbox: Sandbox) -> dict[str, str]:
    """The environment of a program whose platform is the sandbox."""
    values = {"BASE_URL": sandbox.base_url, "VENDOR": "sandbox", "TOKEN": sandbox.token}
    return {f"ITWIN_PLATFORM_{name}": value for name, value in values.items()}


WORKERS = 5
COUNT = 300


async def test_each_webhook_is_changed_once_with_few_in_flight(
    itwin_sandbox: Sandbox, itwin_platform_client: PlatformClient
) -> None:
    """Whatever fails, each webhook is asked for once, by as many requests at a time as there are workers."""
    webhooks = [(f"lost-{number}", f"secret-{number}") for number in range(COUNT - 1)]
    webhooks.insert(COUNT // 2, (itwin_sandbox.webhook_id, "secret"))
    outcome = await switch(itwin_platform_client, iter(webhooks), active=True, workers=WORKERS)
    asked = Counter(request.path for request in itwin_sandbox.requests)
    assert (outcome.switched, len(outcome.failed)) == (1, COUNT - 1)
    assert {type(error) for error in outcome.failed.values()} == {NotFoundError}
    assert len(asked) == asked.total() == COUNT
    assert max(request.in_flight for request in itwin_sandbox.requests) <= WORKERS


@pytest.mark.itwin_sandbox(any_token=False)
async def test_a_rejected_token_ends_the_run(itwin_sandbox: Sandbox) -> None:
    """The other thousands are not tried with a token that is rejected."""
    async with PlatformClient(itwin_sandbox.base_url, vendor="sandbox", token="withdrawn") as platform:
        with pytest.raises(ExceptionGroup) as caught:
            await switch(platform, ((f"w-{number}", "secret") for number in range(COUNT)), active=True, workers=WORKERS)
    assert caught.group_contains(AuthenticationError)
    assert len(itwin_sandbox.requests) <= WORKERS


def test_a_file_is_switched_on_the_platform(itwin_sandbox: Sandbox, tmp_path: Path) -> None:
    """A file is switched on the platform that the environment names; the exit status tells of failures."""
    (tmp_path / "webhooks.csv").write_text(f"{itwin_sandbox.webhook_id},s-1\nnobody,s-2\n")
    said = run("switch_webhooks", "webhooks.csv", folder=tmp_path, variables=variables(itwin_sandbox), code=1).stdout
    assert "1 webhooks activated, 1 failed:\n  nobody: PATCH /webhooks/{webhook_id}: 404" in said
    paths = {request.path for request in itwin_sandbox.requests}
    assert paths == {f"/webhooks/{itwin_sandbox.webhook_id}", "/webhooks/nobody"}


@pytest_asyncio.fixture
async def browser(itwin_sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[httpx.AsyncClient]:
    """A browser of the running service, whose platform is the sandbox."""
    for name, value in variables(itwin_sandbox).items():
        monkeypatch.setenv(name, value)
    async with web_service.running() as client:
        yield client


@pytest.mark.parametrize(
    "fault",
    [
        {"name": "respond", "body": "Internal Server Error"},
        {"name": "respond", "status": 401, "body": {"statusCode": 401, "message": "Invalid JWT."}},
        {"name": "truncated_json"},
    ],
    ids=["text", "gateway", "truncated"],
)
async def test_the_platforms_failure_is_a_bad_gateway(
    fault: dict[str, Any], itwin_sandbox: Sandbox, browser: httpx.AsyncClient
) -> None:
    """What fails behind the service is not the caller's doing, and its text is not shown to the caller."""
    itwin_sandbox.fault(**fault, count=None)
    response = await browser.get("/account")
    assert (response.status_code, set(response.json())) == (HTTPStatus.BAD_GATEWAY, {"error", "correlation_id"})


async def test_a_rate_limit_says_when_to_come_again(itwin_sandbox: Sandbox, browser: httpx.AsyncClient) -> None:
    """A rate limited call and one that would wait for it fail immediately, and the second is not sent."""
    itwin_sandbox.fault("rate_limited", seconds=3_000)
    responses = [await browser.get("/account"), await browser.get("/projects")]
    assert [response.status_code for response in responses] == [503, 503]
    assert all(2_500 <= int(response.headers["retry-after"]) <= 3_000 for response in responses)
    assert len(itwin_sandbox.requests) == 1


#: All that the template itself holds: elements, and the attributes that each may have.
OWN = dict.fromkeys(("title", "h1", "ul"), frozenset[str]()) | {
    "html": {"lang"},
    "meta": {"charset", "http-equiv", "content"},
    "li": {"title"},
    "a": {"href", "rel"},
    "script": {"type", "id"},
}


class Parsed(HTMLParser):
    """What a page consists of: elements with their attributes, and the strings within each."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.texts: dict[str, list[str]] = {}
        self._open: list[str] = []
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Keep an element."""
        self.elements.append((tag, dict(attrs)))
        if tag != "meta":
            self._open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        """Make sure that elements end as they were begun."""
        assert self._open.pop() == tag

    def handle_data(self, data: str) -> None:
        """Keep a string."""
        if self._open and data.strip():
            self.texts.setdefault(self._open[-1], []).append(data.strip())

    def handle_comment(self, data: str) -> None:
        """There is none."""
        raise AssertionError(f"a comment was injected: {data}")


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Parsed:
    """The page of the example."""
    return Parsed(run("scene_page", folder=tmp_path_factory.mktemp("page")).stdout)


def test_no_element_and_no_attribute_is_injected(page: Parsed) -> None:
    """The page has the template's own elements and attributes, as often as there are objects; no link runs."""
    tags = [tag for tag, _ in page.elements]
    assert set(tags) == set(OWN)
    assert [each for each in page.elements if not set(each[1]) <= OWN[each[0]]] == []
    assert (tags.count("li"), tags.count("script")) == (len(HOSTILE_OBJECTS), 1)
    links = [attributes["href"] for tag, attributes in page.elements if tag == "a"]
    assert links == ['https://example.com/"><script>alert(7)//', "https://example.com/?a=1&b=2"]


def test_what_was_written_is_shown_as_it_is(page: Parsed) -> None:
    """Names and kinds come through unchanged, as strings; the script does not run, and holds the data as stored."""
    assert page.texts["li"] == [str(item.get("displayName", "(no name)")) for item in HOSTILE_OBJECTS]
    assert page.texts["h1"] == page.texts["title"] == [f"Harbour {HARM}"]
    titles = [attributes["title"] for tag, attributes in page.elements if tag == "li"]
    assert titles == [item["kind"] for item in HOSTILE_OBJECTS]
    assert [attributes["type"] for tag, attributes in page.elements if tag == "script"] == ["application/json"]
    (text,) = page.texts["script"]
    assert [item["data"] for item in json.loads(text)] == [item["data"] for item in HOSTILE_OBJECTS]


@pytest.mark.parametrize(
    "address",
    [
        *("javascript:alert(1)", "JaVaScRiPt:alert(1)", " javascript:alert(1)", "java\tscript:alert(1)"),
        *("\x01javascript:alert(1)", "data:text/html,<script>", "vbscript:x", "//example.com", "/path", "", "https:"),
        *("https:///path", "http://[", "javascript://example.com/%0aalert(1)", "\nhttps://example.com", 7, None, ["x"]),
    ],
)
def test_an_address_that_is_no_web_address(address: object) -> None:
    """What is not plainly http or https, with a host, is no link."""
    assert not is_web_address(address)


PAGE_SIZE = 12
OF_30_ITWINS = pytest.mark.itwin_sandbox(itwins=30)


class CrashError(BaseException):
    """Ends the program as a power cut does: nothing catches it."""


class Disk:
    """Counts what is done to the disk, and crashes before step number `at`; a string that is written gets half-way."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.steps = 0
        self.at: int | None = None
        for owner, name in ((os, "fsync"), (Path, "replace"), (Path, "unlink"), (Path, "write_text"), (Path, "open")):
            monkeypatch.setattr(owner, name, self._counted(name, getattr(owner, name)))

    def _counted(self, name: str, real: Callable[..., Any]) -> Callable[..., Any]:
        def counted(*arguments: Any, **keywords: Any) -> Any:
            # Path.write_text opens its file by Path.open: what is counted is what the export does.
            if name == "open" and arguments[1:2] != ("ab",):
                return real(*arguments, **keywords)
            self.steps += 1
            if self.steps == self.at:
                if name == "write_text":
                    real(arguments[0], arguments[1][: len(arguments[1]) // 2])
                if name == "open":
                    with real(*arguments) as file:
                        file.write(b"half a row,")
                raise CrashError
            return real(*arguments, **keywords)

        return counted

    @contextlib.contextmanager
    def crash(self, at: int) -> Any:
        """Crashes before step `at` from now on, and is gone afterwards."""
        self.steps, self.at = 0, at
        try:
            yield
        finally:
            self.at = None


def content(target: Path) -> bytes:
    """The bytes of an export; nothing else is left in its folder."""
    assert [path.name for path in target.parent.iterdir()] == [target.name]
    return target.read_bytes()


async def exported(platform: PlatformClient, target: Path) -> bytes:
    """Run a complete export in small steps, in its own folder."""
    target.parent.mkdir(exist_ok=True)
    await export(platform, target, page_size=PAGE_SIZE)
    return content(target)


@OF_30_ITWINS
async def test_a_crash_at_any_step_neither_loses_nor_doubles(
    itwin_platform_client: PlatformClient, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Wherever it crashes, yesterday's file stays until today's is complete, and the next run gives the same bytes."""
    disk = Disk(monkeypatch)
    complete = await exported(itwin_platform_client, tmp_path / "whole" / "itwins.csv")
    steps = disk.steps
    assert steps > 6 * len(complete.splitlines()) / PAGE_SIZE
    for at in range(1, steps + 1):
        target = tmp_path / str(at) / "itwins.csv"
        target.parent.mkdir()
        target.write_bytes(b"yesterday")
        with disk.crash(at), pytest.raises(CrashError):
            await exported(itwin_platform_client, target)
        assert target.read_bytes() == (complete if at == steps else b"yesterday")
        assert await exported(itwin_platform_client, target) == complete, f"crash before step {at}"


@OF_30_ITWINS
async def test_an_export_resumes(
    itwin_sandbox: Sandbox, itwin_platform_client: PlatformClient, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Crashing again and again after each page, it still gets to the end, and reads no page from the beginning."""
    disk, target, crashes = Disk(monkeypatch), tmp_path / "new" / "itwins.csv", 0
    complete = await exported(itwin_platform_client, tmp_path / "whole" / "itwins.csv")
    pages = sum("$orderby" in request.query for request in itwin_sandbox.requests)
    itwin_sandbox.requests.clear()
    while not target.exists():
        crashes += 1
        with disk.crash(at=7), contextlib.suppress(CrashError):
            await exported(itwin_platform_client, target)
    assert target.read_bytes() == complete
    assert crashes >= pages
    assert sum("$orderby" in request.query for request in itwin_sandbox.requests) <= 2 * pages
