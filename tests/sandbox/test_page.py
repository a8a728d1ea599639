"""The page in the browser, whose content comes from strangers."""

from collections.abc import AsyncIterator

import httpx
import pytest
from itwin_platform_sandbox import Sandbox

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
    """Stored data, the latest requests with status and time, and the form for faults are on one page."""
    await client.get("/itwins/?$top=7")
    await client.get("/nowhere")
    small.fault("stall", operation="create_scene", count=None, skip=3)
    page = (await client.get("/")).text
    for text in (
        "Northwind Engineering",
        "City orthophotos",
        "Design review",
        "RepositoryResource 0",
        "scene objects: 3",
    ):
        assert text in page
    assert "GET /itwins/?$top=7" in page
    assert page.index("/nowhere") < page.index("/itwins/?$top=7")
    assert " ms</td>" in page
    assert "all, after 3" in page
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
