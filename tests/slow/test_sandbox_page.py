"""The page of the sandbox in a real browser, driven by chromedriver: on a desktop and on a phone."""

import re
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import httpx
import pytest
from itwin_platform_sandbox import Sandbox

from tests.support.real_time import LONGEST

DRIVER, CHROMIUM = shutil.which("chromedriver"), shutil.which("chromium")
pytestmark = pytest.mark.skipif(
    DRIVER is None or CHROMIUM is None, reason="no chromedriver (Debian: apt-get install chromium chromium-driver)"
)
DESKTOP, PHONE = (1280, 900), (390, 844)
HOSTILE = "<img src=x onerror=\"document.title='script ran'\"><script>document.title='script ran'</script>"


class Browser:
    """A tab of a headless browser of some size."""

    def __init__(self, http: httpx.Client, session: str) -> None:
        self._http = http
        self._session = session

    def call(self, command: str, **values: Any) -> Any:
        """Send a command of WebDriver."""
        response = self._http.post(f"/session/{self._session}/{command}", json=values)
        assert response.is_success, response.text
        return response.json()["value"]

    def run(self, script: str) -> Any:
        """Return the value of a script in the page."""
        return self.call("execute/sync", script=f"return {script}", args=[])

    def until(self, script: str) -> Any:
        """Wait until a script in the page gives something true, and return it."""
        end = time.monotonic() + LONGEST
        while not (found := self.run(script)):
            assert time.monotonic() < end, script
            time.sleep(0.05)
        return found

    def type(self, selector: str, text: str) -> None:
        """Type into a field."""
        found = self.call("element", using="css selector", value=selector)
        (element,) = found.values()
        self.call(f"element/{element}/value", text=text)


@contextmanager
def browser(url: str, size: tuple[int, int]) -> Iterator[Browser]:
    """Open a page in a headless browser."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    arguments = ["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-proxy-server"]
    options: dict[str, Any] = {"binary": CHROMIUM, "args": arguments}
    options["mobileEmulation"] = {"deviceMetrics": {"width": size[0], "height": size[1], "pixelRatio": 1}}
    capabilities = {"alwaysMatch": {"goog:chromeOptions": options, "goog:loggingPrefs": {"browser": "ALL"}}}
    command = [str(DRIVER), f"--port={port}", "--silent"]
    with subprocess.Popen(command) as process, httpx.Client(timeout=LONGEST, trust_env=False) as http:  # noqa: S603
        http.base_url = httpx.URL(f"http://127.0.0.1:{port}")
        try:
            end = time.monotonic() + LONGEST
            while True:
                try:
                    started = http.post("/session", json={"capabilities": capabilities}).json()["value"]
                    break
                except httpx.ConnectError:
                    assert time.monotonic() < end
                    time.sleep(0.05)
            tab = Browser(http, started["sessionId"])
            tab.call("url", url=url)
            yield tab
            http.delete(f"/session/{started['sessionId']}")
        finally:
            process.terminate()


@pytest.fixture
def used(itwin_sandbox: Sandbox) -> Sandbox:
    """A sandbox with a hostile name in what is stored, and with a failed request among many good ones."""
    headers = {"Authorization": "Bearer a"}
    with httpx.Client(base_url=itwin_sandbox.base_url, headers=headers) as http:
        http.post("/reality-analysis/detectors", json={"name": HOSTILE, "type": "PhotoObjectDetector"})
        http.get("/itwins/", params={"$top": "0", HOSTILE: HOSTILE})
        for _ in range(60):
            http.get("/itwins/?$top=1")
    return itwin_sandbox


@pytest.mark.parametrize("size", [DESKTOP, PHONE], ids=["desktop", "phone"])
def test_the_failed_request_is_on_the_first_screen_and_nothing_is_wider(used: Sandbox, size: tuple[int, int]) -> None:
    """The reason of the last failed request needs no scrolling, however many good ones came after it."""
    with browser(used.base_url, size) as page:
        text = page.until('document.getElementById("failed").textContent')
        assert text.startswith("Last failed of 1: 422 GET /itwins/?$top=0")
        assert "InvalidiTwinsRequest" in text
        top, bottom, width, height, scroll = page.run(
            '(() => { const box = document.getElementById("failed").getBoundingClientRect();'
            " return [box.top, box.bottom, innerWidth, innerHeight, document.documentElement.scrollWidth] })()"
        )
    assert 0 <= top < bottom <= height
    assert scroll <= width


def test_what_is_typed_stays_and_takes_effect(used: Sandbox) -> None:
    """Text in a form is there after several refreshes; sent, it adds a fault, and a wrong value is explained."""
    with browser(used.base_url, DESKTOP) as page:
        page.until('document.querySelector("form[data-path=faults]").elements.name.options.length > 30')
        page.type("form[data-path=faults] input[name=seconds]", "3.5")
        page.type("form[data-path=faults] input[name=skip]", "many")
        with httpx.Client(base_url=used.base_url, headers={"Authorization": "Bearer a"}) as http:
            http.get("/itwins/?$top=2")
        page.until('document.getElementById("requests").textContent.includes("$top=2")')  # a refresh has come
        assert page.run('document.querySelector("form[data-path=faults] input[name=seconds]").value') == "3.5"
        send = 'document.querySelector("form[data-path=faults]").requestSubmit()'
        page.run(send)
        assert "skip" in page.until('document.querySelector("form[data-path=faults] output").textContent')
        page.run('document.querySelector("form[data-path=faults] input[name=skip]").value = ""')
        page.run('document.querySelector("form[data-path=faults] select[name=name]").value = "stall"')
        page.run(send)
        page.until('document.getElementById("faults").textContent.includes("stall")')
    assert [(fault.name, fault.seconds, fault.skip) for fault in used.faults] == [("stall", 3.5, 0)]
    used.clear_faults()


def test_a_hostile_name_is_text(used: Sandbox) -> None:
    """Markup in a request and in stored data is shown as text, runs nothing and breaks no policy of the page."""
    with browser(used.base_url, DESKTOP) as page:
        page.until('document.getElementById("requests").rows.length > 10')
        page.run('document.querySelector("#filter [name=status]").value = "failed"')
        page.run('document.querySelector("#filter [name=status]").dispatchEvent(new Event("change", {bubbles: true}))')
        page.until('document.getElementById("requests").textContent.includes("<img src=x")')
        page.run('document.querySelector("#kind select").value = "detector"')
        page.run('document.querySelector("#kind select").dispatchEvent(new Event("change", {bubbles: true}))')
        page.until('document.getElementById("stored").textContent.includes("<script>")')
        assert page.run("document.title") == "itwin-platform sandbox"
        assert page.run('document.querySelectorAll("img, td script").length') == 0
        log = page.call("se/log", type="browser")
    assert [entry["message"] for entry in log if not re.search("favicon", entry["message"])] == []
