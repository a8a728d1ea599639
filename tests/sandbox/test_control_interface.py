"""Faults over HTTP while the sandbox runs, in JSON and by the form of the page."""

from urllib.parse import urlsplit

import httpx
import pytest
from itwin_platform_sandbox import FAULTS, Fault, Sandbox

# As a browser sends the form of the page.
FORM = {"Content-Type": "application/x-www-form-urlencoded", "Accept": "text/html,*/*;q=0.8"}


async def test_a_fault_is_added_listed_and_removed(http: httpx.AsyncClient, sandbox: Sandbox) -> None:
    """POST adds, GET returns pending faults and the catalogue, DELETE removes."""
    body = {"name": "html_502", "operation": "list_itwins", "count": None}
    added = await http.post("/sandbox/faults", json=body)
    listed = (await http.get("/sandbox/faults")).json()
    assert added.status_code == 201
    assert [fault["name"] for fault in listed["faults"]] == ["html_502"]
    assert listed["kinds"].keys() == FAULTS.keys()
    assert (await http.get("/itwins/")).status_code == 502
    assert (await http.delete("/sandbox/faults")).status_code == 204
    assert (await http.get("/itwins/")).status_code == 200


async def test_the_form_of_the_page_adds_and_removes(http: httpx.AsyncClient, sandbox: Sandbox) -> None:
    """The fields of the form make the fault, empty ones count as omitted, and the page is shown again."""
    form = b"name=stall&operation=&count=forever&skip=2&seconds=1.5&retry_after=seconds"
    added = await http.post("/sandbox/faults", content=form, headers=FORM)
    assert (added.status_code, added.headers["location"]) == (303, "/")
    assert list(sandbox.faults) == [Fault(name="stall", count=None, skip=2, seconds=1.5)]
    removed = await http.post("/sandbox/faults/clear", headers=FORM)
    assert (removed.status_code, len(sandbox.faults)) == (303, 0)


async def test_a_wrong_value_of_the_form_is_explained_in_place(http: httpx.AsyncClient, sandbox: Sandbox) -> None:
    """The page comes back with 422, what was entered, and the message beside the field."""
    form = b"name=stall&operation=&count=many&skip=2&seconds=&retry_after=seconds&origin="
    response = await http.post("/sandbox/faults", content=form, headers=FORM)
    assert response.status_code == 422
    assert 'value="many" aria-invalid="true"' in response.text
    assert 'id="error-count" role="alert">count: &#39;many&#39; is not a number<' in response.text
    assert 'value="2"' in response.text
    assert sandbox.faults == ()


@pytest.mark.parametrize(
    ("content", "status", "target"),
    [
        (b'{"name": "stall"}', 201, None),
        (b"name=stall&count=2", 201, None),
        (b"name=explode", 422, "name"),
        (b"stall", 422, None),
        (b"", 422, None),
    ],
)
async def test_curl_gets_json(http: httpx.AsyncClient, content: bytes, status: int, target: str | None) -> None:
    """`curl -d` names every body a form; only a browser, which accepts HTML, gets the page."""
    headers = {**FORM, "Accept": "*/*"}
    response = await http.post("/sandbox/faults", content=content, headers=headers)
    assert response.status_code == status
    assert response.json().get("error", {}).get("target") == target


@pytest.mark.parametrize(("method", "path"), [("POST", ""), ("DELETE", ""), ("POST", "/clear")])
async def test_a_page_of_another_site_switches_nothing(
    http: httpx.AsyncClient, sandbox: Sandbox, method: str, path: str
) -> None:
    """A browser sends the origin of a form; only the page of the sandbox may control it."""
    sandbox.fault("stall")
    url = f"/sandbox/faults{path}"
    foreign = await http.request(method, url, json={"name": "empty"}, headers={"Origin": "http://evil.example"})
    assert foreign.status_code == 403
    assert [fault.name for fault in sandbox.faults] == ["stall"]
    own = f"http://{urlsplit(sandbox.base_url).netloc}"
    allowed = await http.request(method, url, json={"name": "empty"}, headers={"Origin": own})
    assert allowed.status_code in (201, 204, 303)


async def test_refusing_connections_can_be_switched_on_over_http(http: httpx.AsyncClient) -> None:
    """The request that adds the fault gets its response, and the next connection is refused."""
    response = await http.post("/sandbox/faults", json={"name": "refuse", "seconds": 3600})
    assert (response.status_code, response.json()["name"]) == (201, "refuse")
    with pytest.raises(httpx.ConnectError):
        await http.get("/itwins/")


async def test_control_requests_are_not_recorded(http: httpx.AsyncClient, sandbox: Sandbox) -> None:
    """`sandbox.requests` has the requests of the service, not those of the control interface."""
    await http.get("/sandbox/faults")
    await http.get("/")
    assert sandbox.requests == []


async def test_the_control_endpoint_lies_beside_the_path_prefix() -> None:
    """A prefix moves the service and not the control interface."""
    async with Sandbox(itwins=1, path_prefix="/api") as sandbox, httpx.AsyncClient() as http:
        origin = sandbox.base_url.removesuffix("/api")
        assert (await http.get(f"{origin}/sandbox/faults")).status_code == 200
        assert (await http.get(f"{sandbox.base_url}/sandbox/faults")).status_code == 401
