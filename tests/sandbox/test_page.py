"""The page in the browser, whose content comes from strangers."""

import asyncio
import shutil
from collections.abc import AsyncIterator
from pathlib import Path

import httpx
import pytest
from itwin_platform_sandbox import Sandbox

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome", "chrome"))), None)
SCRIPT = "<script>document.title = 'script ran'</script>"
ATTRIBUTE = '"><img src=x onerror="document.title = \'script ran\'">'


async def store_scripts(http: httpx.AsyncClient, sandbox: Sandbox) -> None:
    """Put markup wherever a stranger can."""
    itwin = {"iTwinId": sandbox.itwin_id}
    texts = {SCRIPT: ATTRIBUTE, ATTRIBUTE: SCRIPT}
    item = {"displayName": SCRIPT, "kind": SCRIPT, "version": "1.0.0", "data": texts}
    scene = {"displayName": SCRIPT, "description": SCRIPT, "sceneData": {"objects": [item]}}
    repository = f"/itwins/{sandbox.itwin_id}/repositories/{sandbox.repository_id}"
    responses = [
        await http.post("/scenes/", params=itwin, json=scene),
        await http.patch(repository, json={"displayName": SCRIPT, "uri": ATTRIBUTE}),
        await http.post(f"{repository}/resources", json={"id": ATTRIBUTE, "displayName": SCRIPT}),
        await http.post("/reality-analysis/detectors", json={"name": SCRIPT, "type": "PhotoObjectDetector"}),
        await http.patch(f"/webhooks/{sandbox.webhook_id}", json={"callbackUrl": f"javascript:{ATTRIBUTE}"}),
        await http.get("/itwins/", params={"$search": SCRIPT, ATTRIBUTE: SCRIPT}),
    ]
    assert all(response.status_code < 300 for response in responses)


@pytest.fixture
async def small() -> AsyncIterator[Sandbox]:
    """A sandbox whose page shows everything that is stored."""
    async with Sandbox(itwins=3, objects=3) as running:
        yield running


@pytest.fixture
async def client(small: Sandbox) -> AsyncIterator[httpx.AsyncClient]:
    """A client of it."""
    headers = {"Authorization": "Bearer page-test-token"}
    async with httpx.AsyncClient(base_url=small.base_url, headers=headers) as running:
        yield running


async def test_the_page_shows_what_is_stored_asked_and_to_come(client: httpx.AsyncClient, small: Sandbox) -> None:
    """Stored things, the last requests with status and wait, and the switches for faults are on one page."""
    await client.get("/itwins/?$top=7")
    await client.get("/nowhere")
    small.fault("stall", operation="create_scene", count=None, skip=3)
    page = (await client.get("/")).text
    for text in (
        "Northwind Engineering",
        "City orthophotos",
        "Design review",
        "RepositoryResource 0",
        "3 scene objects",
    ):
        assert text in page
    assert "GET /itwins/?$top=7" in page
    assert page.index("/nowhere") < page.index("/itwins/?$top=7")
    assert " ms</td>" in page
    assert "forever, after 3" in page
    assert 'action="/sandbox/faults">' in page


async def test_the_page_shows_no_secret(client: httpx.AsyncClient, small: Sandbox) -> None:
    """Neither tokens nor what is stored for authentication is on the page, only its type."""
    await client.patch(f"/webhooks/{small.webhook_id}", json={"secret": "hook-secret"})
    page = (await client.get("/")).text
    assert "Basic" in page
    for secret in ("seeded-password", "seeded-value", "hook-secret", "page-test-token", "map.reader"):
        assert secret not in page


async def test_the_page_escapes_everything(client: httpx.AsyncClient, small: Sandbox) -> None:
    """Markup in stored data and in requests comes out as text, and nothing may be loaded or run."""
    await store_scripts(client, small)
    response = await client.get("/")
    assert "<script" not in response.text
    assert "<img" not in response.text
    assert "&lt;script&gt;" in response.text
    assert "default-src 'none'" in response.headers["content-security-policy"]


async def test_text_that_cannot_be_written_does_not_break_the_page(client: httpx.AsyncClient) -> None:
    """A lone surrogate in a name is shown as something else."""
    body = b'{"name": "\\ud800", "type": "PhotoObjectDetector"}'
    await client.post("/reality-analysis/detectors", content=body, headers={"Content-Type": "application/json"})
    assert (await client.get("/")).status_code == 200


@pytest.mark.skipif(CHROMIUM is None, reason="no Chromium is installed (Debian: apt-get install chromium)")
async def test_a_script_in_a_display_name_does_not_run(
    client: httpx.AsyncClient, small: Sandbox, tmp_path: Path
) -> None:
    """A real browser shows the markup as text: its title is the page's own, whatever the names say."""
    await store_scripts(client, small)
    shown = await shown_in_browser(small.base_url + "/", tmp_path)
    assert "<title>itwin-platform sandbox</title>" in shown
    assert "&lt;script&gt;document.title = 'script ran'&lt;/script&gt;" in shown


@pytest.mark.skipif(CHROMIUM is None, reason="no Chromium is installed (Debian: apt-get install chromium)")
async def test_the_browser_would_run_a_script_that_is_not_escaped(tmp_path: Path) -> None:
    """The test above can fail: the same markup on a page of its own does run."""
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


@pytest.mark.skipif(CHROMIUM is None, reason="no Chromium is installed (Debian: apt-get install chromium)")
@pytest.mark.parametrize(("allowed", "title"), [(True, "2 2 true"), (False, "TypeError: Failed to fetch")])
async def test_an_app_in_a_browser_needs_cors(tmp_path: Path, *, allowed: bool, title: str) -> None:
    """A page of another origin reads, writes and sees headers of the service if its origin is named, else nothing."""
    pages: list[str] = []

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(f"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nConnection: close\r\n\r\n{pages[0]}".encode())
        await writer.drain()
        writer.close()

    async with await asyncio.start_server(serve, "127.0.0.1", 0) as server:
        origin = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        async with Sandbox(itwins=3, objects=0, cors=[origin] if allowed else []) as sandbox:
            pages.append(PAGE_OF_AN_APP.format(base_url=sandbox.base_url, webhook_id=sandbox.webhook_id))
            shown = await shown_in_browser(f"{origin}/", tmp_path, "--virtual-time-budget=10000")
    assert f"<title>{title}</title>" in shown


async def shown_in_browser(url: str, profile: Path, *options: str) -> str:
    """The document as headless Chromium has it after running what it runs."""
    assert CHROMIUM is not None
    browser = await asyncio.create_subprocess_exec(
        CHROMIUM,
        "--headless",
        "--no-sandbox",
        "--disable-gpu",
        "--disable-dev-shm-usage",
        "--no-proxy-server",
        f"--user-data-dir={profile / 'profile'}",
        *options,
        "--dump-dom",
        url,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
    )
    output, _ = await asyncio.wait_for(browser.communicate(), timeout=60)
    return output.decode("utf-8")
