"""The page in the browser, whose content comes from strangers."""

import httpx
import pytest
from itwin_platform_sandbox import Sandbox

pytestmark = pytest.mark.itwin_sandbox(itwins=3, objects=3)

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


async def test_the_page_shows_what_is_stored_asked_and_to_come(http: httpx.AsyncClient, sandbox: Sandbox) -> None:
    """Stored data, the latest requests with status and time, and the form for faults are on one page."""
    await http.get("/itwins/?$top=7")
    await http.get("/nowhere")
    sandbox.fault("stall", operation="create_scene", count=None, skip=3)
    page = (await http.get("/")).text
    for text in (
        *("Northwind Engineering", "City orthophotos", "Design review", "RepositoryResource 0", "scene objects: 3"),
        *("GET /itwins/?$top=7", " ms</td>", "all, after 3", 'action="/sandbox/faults">'),
    ):
        assert text in page
    assert page.index("/nowhere") < page.index("/itwins/?$top=7")


async def test_the_page_escapes_everything(http: httpx.AsyncClient, sandbox: Sandbox) -> None:
    """Markup from strangers comes out as text, nothing may be loaded or run, and the page cannot be framed."""
    await store_scripts(http, sandbox)
    response = await http.get("/")
    assert "<script" not in response.text
    assert "<img" not in response.text
    assert "&lt;script&gt;" in response.text
    assert {"default-src 'none'", "frame-ancestors 'none'"} <= {
        *response.headers["content-security-policy"].split("; ")
    }
    assert response.headers["x-frame-options"] == "DENY"


async def test_text_that_cannot_be_written_does_not_break_the_page(http: httpx.AsyncClient) -> None:
    """A lone surrogate in a name is shown as something else."""
    body = b'{"name": "\\ud800", "type": "PhotoObjectDetector"}'
    await http.post("/reality-analysis/detectors", content=body, headers={"Content-Type": "application/json"})
    assert (await http.get("/")).status_code == 200
