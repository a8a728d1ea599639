"""The sandbox's page, and an app of another origin, in a real browser."""

import asyncio
import shutil
from pathlib import Path

import pytest

from tests.sandbox.test_page import SCRIPT, store_scripts
from tests.support.real_time import LONGEST
from tests.support.sandboxes import serving

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome", "chrome"))), None)
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="no Chromium is installed (Debian: apt-get install chromium)")


async def test_a_script_in_a_display_name_does_not_run(tmp_path: Path) -> None:
    """A real browser shows stored markup as text and does not run it."""
    async with serving(itwins=3, objects=3) as (sandbox, http):
        await store_scripts(http, sandbox)
        shown = await shown_in_browser(sandbox.base_url + "/", tmp_path)
    assert "<title>itwin-platform sandbox</title>" in shown
    assert "&lt;script&gt;document.title = 'script ran'&lt;/script&gt;" in shown


async def test_the_browser_would_run_a_script_that_is_not_escaped(tmp_path: Path) -> None:
    """The same markup runs on a page that does not escape it, so the test above can fail."""
    page = tmp_path / "page.html"
    page.write_text(f"<title>before</title>{SCRIPT}", encoding="utf-8")
    assert "<title>script ran</title>" in await shown_in_browser(page.as_uri(), tmp_path)


PAGE_OF_AN_APP = """<!doctype html><title>waiting</title><script>
const headers = {{ "Authorization": "Bearer a", "Content-Type": "application/json", "X-Max-Return": "2" }};
async function app() {{
  const listing = await fetch("{base_url}/itwins/", {{ headers }});
  const page = await listing.json();
  const body = JSON.stringify({{ active: true }});
  const webhook = await (await fetch("{base_url}/webhooks/{webhook_id}", {{ method: "PATCH", headers, body }})).json();
  return [page.iTwins.length, listing.headers.get("X-Max-Return"), webhook.active].join(" ");
}}
app().then((text) => {{ document.title = text; }}, (error) => {{ document.title = String(error); }});
</script>"""


@pytest.mark.parametrize(("allowed", "title"), [(True, "2 2 true"), (False, "TypeError: Failed to fetch")])
async def test_an_app_in_a_browser_needs_cors(tmp_path: Path, *, allowed: bool, title: str) -> None:
    """A page of another origin can call the sandbox only if `cors` names its origin."""
    pages: list[str] = []

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(f"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nConnection: close\r\n\r\n{pages[0]}".encode())
        await writer.drain()
        writer.close()

    async with await asyncio.start_server(serve, "127.0.0.1", 0) as server:
        origin = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        async with serving(itwins=3, cors=[origin] if allowed else []) as (sandbox, _):
            pages.append(PAGE_OF_AN_APP.format(base_url=sandbox.base_url, webhook_id=sandbox.webhook_id))
            shown = await shown_in_browser(f"{origin}/", tmp_path, "--virtual-time-budget=10000")
    assert f"<title>{title}</title>" in shown


async def shown_in_browser(url: str, profile: Path, *options: str) -> str:
    """Return the document of a page after headless Chromium has run its scripts."""
    assert CHROMIUM is not None
    browser = await asyncio.create_subprocess_exec(
        *(CHROMIUM, "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-proxy-server"),
        *(f"--user-data-dir={profile / 'profile'}", *options, "--dump-dom", url),
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
    )
    output, _ = await asyncio.wait_for(browser.communicate(), timeout=LONGEST)
    return output.decode("utf-8")
