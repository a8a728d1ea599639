"""Run the package `@itwin/itwins-client` against the sandbox, in Node.js and in a page in headless Chromium."""

import asyncio
import json
import shutil
import subprocess
import tempfile
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

from itwin_platform_sandbox import Sandbox

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome", "chrome"))), None)
# client, call, result, and whether the result is correct
Row = tuple[str, str, str, bool]


def ids_of(sandbox: Sandbox, suffix: str) -> str:
    """Return the ids for the JavaScript as JSON; resources get names with the suffix."""
    names = ("account_id", "itwin_id", "repository_id")
    return json.dumps({**{name: getattr(sandbox, name) for name in names}, "suffix": suffix})


def rows_of(client: str, results: list[dict[str, Any]], *, as_seen: bool) -> list[Row]:
    """Return a row of the table for each call; by the specification the query scope `all` does not exist."""
    rows = []
    for result in results:
        rejected = not as_seen and "queryScope all" in result["name"]
        good = result["status"] == 422 if rejected else result["status"] in (200, 201) and result["count"] > 0
        error = f" {result['error']}" if result["error"] else ""
        rows.append((client, result["name"], f"{result['status']}{error}, {result['count']} items", good))
    return rows


async def check(node: Path) -> bool:
    """Run the client in both places, by the specification and as observed, and print a table."""
    clean = True
    for as_seen in (False, True):
        print(f"@itwin/itwins-client, sandbox {'as seen' if as_seen else 'by the specification'}:")
        rows = [*await in_node(node, as_seen=as_seen), *await in_a_page(node, as_seen=as_seen)]
        for client, call, result, good in rows:
            print(f"  {'ok' if good else 'WRONG':<6}{client:<32}{call:<42}{result}")
            clean = clean and good
    return clean


async def in_node(node: Path, *, as_seen: bool) -> list[Row]:
    """Run the client in Node.js."""
    async with Sandbox(itwins=200, as_seen=as_seen) as sandbox:
        command = ["node", "itwins_client.js", sandbox.base_url, ids_of(sandbox, "node")]
        completed = await asyncio.to_thread(
            subprocess.run, command, cwd=node, capture_output=True, text=True, check=False
        )
    if completed.returncode:
        return [("itwins-client 1.6.1, Node.js", "start", completed.stderr, False)]
    return rows_of("itwins-client 1.6.1, Node.js", json.loads(completed.stdout), as_seen=as_seen)


async def in_a_page(node: Path, *, as_seen: bool) -> list[Row]:
    """Run the same client in a page of another origin, in headless Chromium."""
    name = "itwins-client 1.6.1, Chromium"
    if CHROMIUM is None:
        return []
    bundle = node / "page.js"
    options = ("--bundle", "--platform=browser", f"--outfile={bundle}", "--log-level=error")
    command = [str(node / "node_modules" / ".bin" / "esbuild"), str(node / "itwins_client.js"), *options]
    await asyncio.to_thread(subprocess.run, command, check=True)
    pages: dict[str, bytes] = {"/page.js": bundle.read_bytes()}
    server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(pages))
    origin = f"http://127.0.0.1:{server.server_port}"
    Thread(target=server.serve_forever, daemon=True).start()
    try:
        async with Sandbox(itwins=200, as_seen=as_seen, cors=origin) as sandbox:
            pages["/"] = _page(sandbox.base_url, ids_of(sandbox, "page"))
            document = await _in_chromium(CHROMIUM, origin + "/")
    finally:
        server.shutdown()
        server.server_close()
    shown = document.partition("<pre>")[2].partition("</pre>")[0].replace("&amp;", "&")
    if not shown.startswith("["):
        return [(name, "start", shown or document[:200], False)]
    return rows_of(name, json.loads(shown), as_seen=as_seen)


def _page(base_url: str, ids: str) -> bytes:
    script = (
        f"runITwinsClient({json.dumps(base_url)}, {ids})"
        ".then((results) => JSON.stringify(results), (error) => String(error))"
        ".then((text) => { document.querySelector('pre').textContent = text; });"
    )
    return f"<!doctype html><pre></pre><script src='/page.js'></script><script>{script}</script>".encode()


def _handler(pages: dict[str, bytes]) -> type[BaseHTTPRequestHandler]:
    class Pages(BaseHTTPRequestHandler):
        """A handler for the page and its script."""

        def do_GET(self) -> None:
            """Respond with the page or the script."""
            content = pages.get(self.path)
            self.send_response(404 if content is None else 200)
            self.send_header("content-type", "text/javascript" if self.path.endswith(".js") else "text/html")
            self.end_headers()
            self.wfile.write(content or b"")

        def log_message(self, format: str, *args: object) -> None:
            """Log nothing."""

    return Pages


async def _in_chromium(chromium: str, url: str) -> str:
    with tempfile.TemporaryDirectory() as profile:
        browser = await asyncio.create_subprocess_exec(
            *(chromium, "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run"),
            *("--disable-background-networking", "--disable-component-update", "--disable-sync", "--no-proxy-server"),
            *(f"--user-data-dir={profile}", "--virtual-time-budget=30000", "--dump-dom", url),
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.DEVNULL,
        )
        output, _ = await asyncio.wait_for(browser.communicate(), timeout=60)
        return output.decode()
