"""Each example runs on its own, is listed, and keeps its promises."""

import asyncio
import json
import os
import re
import subprocess
import sys
from collections.abc import AsyncIterator, Callable, Mapping
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import httpx
import pytest
import pytest_asyncio
from itwin_platform import PlatformClient, WebhookDelivery, sign_delivery, verify_delivery
from itwin_platform_sandbox import Sandbox

from examples import web_service
from examples.__main__ import ORDER
from examples.nightly_export import export
from examples.receive_webhooks import Inbox
from examples.scene_page import HARM, HOSTILE_OBJECTS, is_web_address, template_environment
from tests.support.processes import PROJECT, ended
from tests.support.sandboxes import variables_of

EXAMPLES = PROJECT / "examples"


def run(
    name: str, *arguments: str, folder: Path, variables: Mapping[str, str] | None = None, code: int = 0
) -> subprocess.CompletedProcess[str]:
    """Run an example in a folder; a warning, a traceback or another exit status fails the test."""
    command = [sys.executable, "-W", "error", str(EXAMPLES / f"{name}.py"), *arguments]
    process = ended(*command, folder=folder, variables=variables, status=code)
    assert "Traceback" not in process.stdout + process.stderr
    assert "Warning" not in process.stderr
    return process


#: Patterns that occur once in the output of each example.
SAYS = {
    "tour": [r"8 operations, \d+ requests\."],
    "progress": [r"5000 iTwins in 50 pages"],
    "switch_webhooks": [
        r"1998 webhooks activated, 2 failed:\n  lost-699: PATCH .*: 404 Webhook.*\n  lost-1399: PATCH",
        r"at most (20|1?\d) in flight",
    ],
    "web_service": [r"received list_itwins: cancelled(.*\n)+/account 503 RateLimitError Retry-After (30|2\d)\n"],
    "several_workers": [r"the browser saw \{200: 60\}\nworkers that responded: [1-4]\nthe platform saw \{200: 60"],
    "rotating_tokens": [
        r"issued(?s:.*)issued(?s:.*)800 iTwins, statuses \['200'\]",
        r"revoked before it expires:(?s:.*)issued(?s:.*)Northwind Engineering, statuses \[401, 200\]",
    ],
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
#: Examples that other tests run.
ELSEWHERE = {"scene_page", "test_with_sandbox"}


@pytest.mark.parametrize("name", SAYS)
def test_runs_by_itself(name: str, tmp_path: Path) -> None:
    """An example succeeds without arguments and environment, prints its result, and shows no secret."""
    said = run(name, folder=tmp_path).stdout
    assert [expected for expected in SAYS[name] if len(re.findall(expected, said)) != 1] == []
    assert not re.search("made-up-|a made-up secret|Bearer", said)


def test_the_test_file_passes_where_nothing_is_configured(tmp_path: Path) -> None:
    """The tests of the file pass in a folder without a configuration of pytest."""
    (tmp_path / "test_copied.py").write_text((EXAMPLES / "test_with_sandbox.py").read_text(encoding="utf-8"))
    # Without this option pytest-asyncio always warns.
    options = ["--rootdir", str(tmp_path), "-o", "asyncio_default_fixture_loop_scope=function"]
    process = ended("python", "-W", "error", "-m", "pytest", "-q", "-p", "no:cacheprovider", *options, folder=tmp_path)
    assert "4 passed" in process.stdout


def test_each_example_is_run_and_listed() -> None:
    """`make examples`, README.md and the tests name each example."""
    names = {path.stem for path in EXAMPLES.glob("*.py")} - {"__main__"}
    readme = (EXAMPLES / "README.md").read_text(encoding="utf-8")
    assert names == {*ORDER} == {*SAYS, *ELSEWHERE}
    assert [name for name in names if f"examples/{name}.py" not in readme] == []


@pytest.mark.itwin_sandbox(any_token=False)
@pytest.mark.parametrize(("token", "code"), [("sandbox-token", 1), ("withdrawn", 2)])
def test_the_webhooks_of_a_file_are_activated(token: str, code: int, itwin_sandbox: Sandbox, tmp_path: Path) -> None:
    """The webhooks of a file are activated on the platform of the environment, and failures set the exit status.

    After a rejected token, no other webhook is tried.
    """
    names = (f"nobody-{number}" for number in range(100))
    (tmp_path / "webhooks.csv").write_text("".join(f"{name},s\n" for name in [itwin_sandbox.webhook_id, *names]))
    environment = variables_of(itwin_sandbox) | {"ITWIN_PLATFORM_TOKEN": token}
    said = run("switch_webhooks", "webhooks.csv", folder=tmp_path, variables=environment, code=code).stdout
    assert ("1 webhooks activated, 100 failed:" in said and "nobody-0: PATCH /webhooks/" in said) is (code == 1)
    paths = [request.path for request in itwin_sandbox.requests]
    assert len(paths) == len(set(paths)) <= (101 if code == 1 else 20)


@pytest_asyncio.fixture
async def browser(itwin_sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[httpx.AsyncClient]:
    """A client of the running service, which calls the sandbox."""
    for name, value in variables_of(itwin_sandbox).items():
        monkeypatch.setenv(name, value)
    async with web_service.running() as client:
        yield client


@pytest.mark.parametrize("body", ["Internal Server Error", {"statusCode": 500, "message": "Invalid JWT."}])
async def test_the_platforms_failure_is_a_bad_gateway(
    body: object, itwin_sandbox: Sandbox, browser: httpx.AsyncClient
) -> None:
    """A failure of the platform is a 502 without the platform's text."""
    itwin_sandbox.fault("respond", body=body, count=None)
    response = await browser.get("/account")
    assert (response.status_code, set(response.json())) == (502, {"error", "correlation_id"})


class Parsed(HTMLParser):
    """The elements of a page with their attributes, and its strings."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[str] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Keep an element."""
        self.elements.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        """Keep a string."""
        self.texts += filter(None, [data.strip()])

    def values(self, name: str, tag: str) -> list[str | None]:
        """Return the values of an attribute."""
        return [attributes[name] for each, attributes in self.elements if each == tag and name in attributes]


def test_a_hostile_scene_is_shown_and_injects_nothing(tmp_path: Path) -> None:
    """The page of a hostile scene has the elements of a harmless one, and shows names, kinds and data as text."""
    page = Parsed(run("scene_page", folder=tmp_path).stdout)
    template, web = template_environment().get_template("scene.html"), {"url": "https://example.com"}
    items = [{"kind": "k", "displayName": "n", "data": data} for data in ({}, {}, {}, web, web)]
    harmless = Parsed(template.render(name="n", objects=items))
    assert [(tag, [*names]) for tag, names in page.elements] == [(tag, [*names]) for tag, names in harmless.elements]
    assert page.values("href", "a") == ['https://example.com/"><script>alert(7)//', "https://example.com/?a=1&b=2"]
    assert page.values("title", "li") == [item["kind"] for item in HOSTILE_OBJECTS]
    names = [str(item.get("displayName", "(no name)")) for item in HOSTILE_OBJECTS]
    *texts, data = page.texts
    assert texts == [f"Harbour {HARM}"] * 2 + [*names[:4], "more", names[4], "more"]
    assert [item["data"] for item in json.loads(data)] == [item["data"] for item in HOSTILE_OBJECTS]


@pytest.mark.parametrize(
    "address",
    [
        *("javascript:alert(1)", "JaVaScRiPt:alert(1)", " javascript:alert(1)", "java\tscript:alert(1)"),
        *("\x01javascript:alert(1)", "data:text/html,<script>", "vbscript:x", "//example.com", "/path", "", "https:"),
        *("https:///path", "http://[", "javascript://example.com/%0aalert(1)", "\nhttps://example.com", 7, None, ["x"]),
    ],
)
def test_an_address_that_is_no_web_address(address: object) -> None:
    """An address that is not http or https with a host is no link."""
    assert not is_web_address(address)


async def test_a_delivery_that_cannot_be_handled_stops_no_other(caplog: pytest.LogCaptureFixture) -> None:
    """An error of the handler is logged, and later deliveries are handled."""

    async def handle(delivery: WebhookDelivery) -> None:
        handled.append(delivery.message_id)
        raise ConnectionError

    inbox, handled = Inbox(handle), list[str]()
    for name in "ab":
        body = json.dumps({"content": {}, "eventType": "e", "messageId": name, "webhookId": "w"}).encode()
        inbox.add(verify_delivery(body, sign_delivery(body, secret=name), secret=name))
    running = asyncio.create_task(inbox.run())
    await asyncio.wait((running, asyncio.create_task(inbox.queue.join())), return_when=asyncio.FIRST_COMPLETED)
    running.cancel()
    assert (handled, [record.exc_info is None for record in caplog.records]) == (["a", "b"], [False, False])


PAGE_SIZE = 12
OF_30_ITWINS = pytest.mark.itwin_sandbox(itwins=30)


class CrashError(BaseException):
    """Ends the program as a power cut does: nothing catches it."""


class Disk:
    """Counts the operations on the disk, and crashes before number `at`."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.steps, self.at = 0, 0
        for owner, name in ((os, "fsync"), (Path, "replace"), (Path, "unlink")):
            monkeypatch.setattr(owner, name, self._counted(getattr(owner, name)))

    def _counted(self, real: Callable[..., Any]) -> Callable[..., Any]:
        def counted(*arguments: Any) -> Any:
            self.steps += 1
            if self.steps == self.at:
                raise CrashError
            return real(*arguments)

        return counted

    def crash(self, at: int) -> None:
        """Crash before step `at` from now on."""
        self.steps, self.at = 0, at


def content(target: Path) -> bytes:
    """The bytes of an export; nothing else is left in its folder."""
    assert [path.name for path in target.parent.iterdir()] == [target.name]
    return target.read_bytes()


async def exported(platform: PlatformClient, target: Path) -> bytes:
    """Run a complete export in small steps, in its own folder."""
    target.parent.mkdir(exist_ok=True)
    await export(platform, target, page_size=PAGE_SIZE)
    return content(target)


async def test_half_of_a_surrogate_pair_does_not_end_an_export(tmp_path: Path) -> None:
    """What UTF-8 cannot encode is written as a question mark."""
    body = rb'{"iTwins": [{"id": "a", "displayName": "cut \ud83d"}], "_links": {}}'
    transport = httpx.MockTransport(lambda _: httpx.Response(200, content=body))
    async with PlatformClient("http://127.0.0.1", vendor="v", token="t", transport=transport) as platform:
        assert b"cut ?," in await exported(platform, tmp_path / "itwins.csv")


@OF_30_ITWINS
async def test_a_crash_at_any_step_neither_loses_nor_doubles(
    itwin_sandbox: Sandbox, itwin_platform_client: PlatformClient, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After a crash at any step, the next run gives the same bytes and requests only the missing pages.

    The old file stays until the new one is complete.
    """
    disk = Disk(monkeypatch)
    complete = await exported(itwin_platform_client, tmp_path / "whole" / "itwins.csv")
    steps, requests, needed = disk.steps, itwin_sandbox.requests, list[int]()
    assert steps > 4 * len(complete.splitlines()) / PAGE_SIZE
    for at in range(1, steps + 1):
        target = tmp_path / str(at) / "itwins.csv"
        target.parent.mkdir()
        target.write_bytes(b"yesterday")
        disk.crash(at)
        with pytest.raises(CrashError):
            await exported(itwin_platform_client, target)
        assert target.read_bytes() == (complete if at == steps else b"yesterday")
        requests.clear()
        assert await exported(itwin_platform_client, target) == complete, f"crash before step {at}"
        needed.append(sum("$orderby" in request.query for request in requests))
    assert {*needed} == {0, 1, 2, 3}, "each page that is recorded saves one request"
