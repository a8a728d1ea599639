"""Clients of other teams work with the sandbox, as described and as seen, from Node.js and from a page in a browser.

`@itwin/itwins-client` runs itself. The requests of `scenes-client` 0.13 and of the Python SDK `reality-capture` 2.6 are
written by hand exactly as these send them, with the checks that they make of a response.
"""

import asyncio
import json
import shutil
import subprocess
import tempfile
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import httpx
from itwin_platform_sandbox import Sandbox

V1 = "application/vnd.bentley.itwin-platform.v1+json"
V2 = "application/vnd.bentley.itwin-platform.v2+json"
CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome", "chrome"))), None)
Row = tuple[str, str, str, bool]


def ids_of(sandbox: Sandbox, suffix: str) -> str:
    """Return what the JavaScript needs, as JSON; resources get names with the suffix."""
    names = ("account_id", "itwin_id", "repository_id")
    return json.dumps({**{name: getattr(sandbox, name) for name in names}, "suffix": suffix})


def rows_of(client: str, results: list[dict[str, Any]], *, as_seen: bool) -> list[Row]:
    """Return a row of the table for each call; by the description the query scope `all` does not exist."""
    rows = []
    for result in results:
        rejected = not as_seen and "queryScope all" in result["name"]
        good = result["status"] == 422 if rejected else result["status"] in (200, 201) and result["count"] > 0
        error = f" {result['error']}" if result["error"] else ""
        rows.append((client, result["name"], f"{result['status']}{error}, {result['count']} items", good))
    return rows


async def itwins_client(node: Path, *, as_seen: bool) -> list[Row]:
    """Run the client in Node.js."""
    async with Sandbox(itwins=200, as_seen=as_seen) as sandbox:
        command = ["node", "itwins_client.js", sandbox.base_url, ids_of(sandbox, "node")]
        ended = await asyncio.to_thread(subprocess.run, command, cwd=node, capture_output=True, text=True, check=False)
    if ended.returncode:
        return [("itwins-client 1.6.1, Node.js", "start", ended.stderr, False)]
    return rows_of("itwins-client 1.6.1, Node.js", json.loads(ended.stdout), as_seen=as_seen)


async def itwins_client_in_a_page(node: Path, *, as_seen: bool) -> list[Row]:
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
        """Serves the page and its script."""

        def do_GET(self) -> None:
            """Send one of them."""
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


def is_scene_object(value: Any) -> bool:
    """Tell what scenes-client checks of an object."""
    optional: dict[str, type | tuple[type, ...]] = {
        "displayName": str,
        "order": (int, float),
        "displayOrder": (int, float),
        "visible": bool,
    }
    optional |= {"parentId": str, "relatedId": str}
    stamps = ("id", "sceneId", "createdById", "creationTime", "lastModified", "version", "kind")
    return (
        all(isinstance(value.get(name), str) for name in stamps)
        and all(isinstance(value[name], kind) for name, kind in optional.items() if name in value)
        and isinstance(value.get("data"), dict)
    )


def is_page_of_objects(body: Any) -> bool:
    """Tell what scenes-client checks of a page: a null link is none."""
    links, context = body["_links"], body["sceneContext"]
    named = all(isinstance(links[name]["href"], str) for name in ("self", "prev", "next") if name in links)
    described = all(isinstance(context[name], str) for name in ("displayName", "lastModified"))
    return named and described and all(map(is_scene_object, body["objects"]))


def is_scene(body: Any, *, as_seen: bool) -> bool:
    """Tell what scenes-client checks of a scene; the description has no tags."""
    scene = body["scene"]
    names = ("id", "displayName", "createdById", "iTwinId", "creationTime", "lastModified")
    tags = isinstance(scene.get("tags"), list) or not as_seen
    return (
        tags and all(isinstance(scene[name], str) for name in names) and isinstance(scene["sceneData"]["objects"], list)
    )


def is_new_detector(body: Any) -> bool:
    """Tell what reality-capture checks of a detector, and that a new one has no versions."""
    detector = body["detector"]
    types = ("PhotoObjectDetector", "PhotoSegmentationDetector", "OrthophotoSegmentationDetector")
    return detector["name"] == "@team/cracks" and detector["type"] in types and detector["versions"] == []


async def hand_written(*, as_seen: bool) -> list[Row]:
    """Send the requests of the two clients that are not installed here, in their own forms."""
    rows: list[Row] = []

    def judge(client: str, name: str, response: httpx.Response, fits: Callable[[Any], bool]) -> None:
        try:
            good = response.is_success and fits(response.json())
        except (KeyError, TypeError, AttributeError):
            good = False
        rows.append((client, name, str(response.status_code), good))

    async with Sandbox(itwins=20, objects=250, as_seen=as_seen) as sandbox, httpx.AsyncClient() as http:
        scenes, itwin_id = f"{sandbox.base_url}/scenes", sandbox.itwin_id
        # scenes-client: its fetch in Node.js sends `Accept` as given, and no charset with its JSON.
        headers = {"Authorization": "Bearer any-word", "Accept": V1}
        url = f"{scenes}/{sandbox.scene_id}/objects?iTwinId={itwin_id}&$top=100&$skip=0&orderBy=kind"
        page, objects = 0, 0
        while url:
            page += 1
            response = await http.get(url.strip(), headers=headers)
            judge("scenes-client 0.13", f"getAllObjects, page {page}", response, is_page_of_objects)
            body = response.json()
            objects += len(body["objects"])
            url = body["_links"].get("next", {}).get("href", "")
        rows.append(("scenes-client 0.13", "getAllObjects, all pages", f"{objects} objects", objects == 250))
        for order in ("kind", "displayName", "order"):
            url = f"{scenes}/{sandbox.scene_id}/objects?iTwinId={itwin_id}&$top=20&$skip=10&orderBy={order}"
            judge(
                "scenes-client 0.13",
                f"getObjects orderBy {order}",
                await http.get(url, headers=headers),
                is_page_of_objects,
            )
        view = {
            "position": {"x": 1, "y": 2, "z": 3},
            "direction": {"x": 0, "y": 1, "z": 0},
            "up": {"x": 0, "y": 0, "z": 1},
        }
        styled = "7f2c1f8e-0000-4332-a87a-5b7c00000000"
        resource = {"iTwinId": itwin_id, "repositoryId": "iModels", "id": "x", "class": "iModels"}
        posted = [
            {"kind": "RepositoryResource", "version": "1.0.0", "id": styled, "data": resource},
            {"kind": "View3d", "version": "1.0.0", "displayName": "Front", "order": 1, "data": view},
            {"kind": "ExpressionStyling", "version": "1.0.0", "relatedId": styled, "data": {"stylings": []}},
            {"kind": "GoogleTilesStyling", "version": "1.0.0", "data": {"quality": 0.3}},
        ]
        scene = {"displayName": "Review", "description": "d", "sceneData": {"objects": posted}}
        sent = {**headers, "Content-Type": "application/json"}
        for name, body in (("postScene", scene), ("postScene without objects", {"displayName": "Empty"})):
            response = await http.post(f"{scenes}?iTwinId={itwin_id}", headers=sent, content=json.dumps(body))
            judge("scenes-client 0.13", name, response, lambda body: is_scene(body, as_seen=as_seen))
        # reality-capture: `Content-type` on every request, v2 in Accept, null for what is not set.
        headers = {"Authorization": "Bearer any-word", "User-Agent": "Reality Capture Python SDK/2.6.0"}
        headers |= {"Content-type": "application/json", "Accept": V2}
        detector = {"displayName": None, "description": None, "documentationUrl": None, "name": "@team/cracks"}
        content = json.dumps({**detector, "type": "PhotoObjectDetector"})
        for _ in range(2):
            response = await http.post(
                f"{sandbox.base_url}/reality-analysis/detectors", headers=headers, content=content
            )
            judge("reality-capture 2.6", "create_detector", response, is_new_detector)
        wrong = await http.post(
            f"{sandbox.base_url}/reality-analysis/detectors", headers={**headers, "Accept": V1}, content=content
        )
        rows.append(
            (
                "reality-capture 2.6",
                "create_detector with v1 in Accept",
                str(wrong.status_code),
                wrong.status_code == 404,
            )
        )
    return rows


async def check(node: Path | None) -> bool:
    """Run every client and print a table; without `node` only the hand-written requests."""
    clean = True
    for as_seen in (False, True):
        rows = await hand_written(as_seen=as_seen)
        if node is not None:
            rows = [
                *await itwins_client(node, as_seen=as_seen),
                *await itwins_client_in_a_page(node, as_seen=as_seen),
                *rows,
            ]
        print(f"Clients of other teams, sandbox {'as seen' if as_seen else 'by the description'}:")
        for client, call, result, good in rows:
            print(f"  {'ok' if good else 'WRONG':<6}{client:<32}{call:<42}{result}")
            clean = clean and good
    return clean
