"""Everything that Python controls can be controlled over HTTP, for tests in other languages."""

import httpx
import pytest
from itwin_platform_sandbox import Sandbox


@pytest.fixture
def size() -> int:
    """As many iTwins and scene objects as fill several pages."""
    return 250


async def test_the_overview_names_what_a_test_starts_with(http: httpx.AsyncClient, sandbox: Sandbox) -> None:
    """Address, token, ids and settings are one request away."""
    overview = (await http.get("/sandbox")).json()
    assert (overview["base_url"], overview["token"]) == (sandbox.base_url, sandbox.token)
    ids = overview["ids"]
    names = ("account_id", "itwin_id", "repository_id", "scene_id", "webhook_id")
    assert {name: ids[name] for name in names} == {name: getattr(sandbox, name) for name in names}
    assert ids["repository_ids"] == sandbox.repository_ids
    assert overview["counts"]["itwins"] == 275
    assert overview["settings"]["rate"] is None


async def test_the_journal_is_filtered_and_cleared(http: httpx.AsyncClient, sandbox: Sandbox) -> None:
    """Filters by operation, method, path and status narrow the journal; DELETE empties it."""
    for url in ("/itwins/", "/itwins/myprimaryaccount", "/itwins/?$top=0", "/nowhere"):
        await http.get(url)

    async def journal(query: str) -> list[str]:
        return [record["path"] for record in (await http.get(f"/sandbox/requests?{query}")).json()["requests"]]

    assert len(await journal("")) == 4
    assert await journal("operation=get_primary_account") == ["/itwins/myprimaryaccount"]
    assert await journal("status=422") == ["/itwins/"]
    assert await journal("status=404&method=GET") == ["/nowhere"]
    assert await journal("path=/nowhere") == ["/nowhere"]
    assert await journal("skip=1&limit=2") == ["/itwins/myprimaryaccount", "/itwins/"]
    assert (await http.delete("/sandbox/requests")).status_code == 204
    assert sandbox.requests == []


async def test_a_snapshot_brings_the_data_back(http: httpx.AsyncClient, sandbox: Sandbox) -> None:
    """Each restore brings back the data of the snapshot."""
    url = f"/itwins/{sandbox.itwin_id}/repositories/{sandbox.repository_id}"
    before = (await http.patch(url, json={})).json()
    assert (await http.post("/sandbox/snapshots", json={"name": "before"})).status_code == 201
    for name in ("first", "second"):
        await http.patch(url, json={"displayName": name})
        assert (await http.post("/sandbox/restore", json={"name": "before"})).status_code == 200
        assert (await http.patch(url, json={})).json() == before
    assert (await http.get("/sandbox/snapshots")).json() == {"snapshots": ["before"]}


async def test_python_has_snapshots_too(http: httpx.AsyncClient, sandbox: Sandbox) -> None:
    """snapshot() and restore() do the same."""
    snapshot = sandbox.snapshot()
    url = f"/itwins/{sandbox.itwin_id}/repositories/{sandbox.repository_id}/resources"
    body = {"id": "a", "displayName": "A"}
    statuses = [(await http.post(url, json=body)).status_code, (await http.post(url, json=body)).status_code]
    sandbox.restore(snapshot)
    assert [*statuses, (await http.post(url, json=body)).status_code] == [201, 409, 201]


async def test_a_reset_goes_back_to_the_start(http: httpx.AsyncClient, sandbox: Sandbox) -> None:
    """Data, tokens, faults, rate limit, latency and journal are as they were."""
    detector = {"name": "d", "type": "PhotoObjectDetector"}
    first = (await http.post("/reality-analysis/detectors", json=detector)).json()
    sandbox.add_token("narrow", scopes=[])
    sandbox.fault("stall", count=None)
    sandbox.set_rate("1/60")
    sandbox.set_latency(5)
    overview = (await http.post("/sandbox/reset")).json()
    assert overview["counts"]["detectors"] == overview["counts"]["requests"] == 0
    assert (sandbox.faults, sandbox.requests) == ((), [])
    for _ in range(2):
        assert (await http.get("/itwins/", headers={"Authorization": "Bearer narrow"})).status_code == 200
    assert (await http.post("/reality-analysis/detectors", json=detector)).json() == first
    assert (await http.get("/sandbox")).json()["ids"]["itwin_id"] == sandbox.itwin_id


async def test_a_token_is_registered_shown_and_removed(http: httpx.AsyncClient) -> None:
    """The fields are the arguments of add_token."""
    body = {"token": "a/b=", "organization_administrator": False, "member_of": [], "expires_in": 60}
    added = await http.post("/sandbox/tokens", json=body)
    assert added.status_code == 201
    listed = {entry["token"]: entry for entry in (await http.get("/sandbox/tokens")).json()["tokens"]}
    assert listed["a/b="]["member_of"] == []
    assert 59 < listed["a/b="]["expires_in"] <= 60
    headers = {"Authorization": "Bearer a/b="}
    assert (await http.get("/itwins/", headers=headers)).json()["iTwins"] == []
    assert (await http.delete("/sandbox/tokens/a%2Fb=")).status_code == 204
    assert len((await http.get("/itwins/", headers=headers)).json()["iTwins"]) == 100
    assert (await http.delete("/sandbox/tokens/unknown")).status_code == 404


async def test_the_rate_limit_is_set_and_lifted(http: httpx.AsyncClient) -> None:
    """PUT begins to count anew; null lifts the limit."""
    assert (await http.put("/sandbox/rate", json={"rate": "1/60", "retry_after": "decimals"})).status_code == 200
    responses = [await http.get("/itwins/") for _ in range(2)]
    assert [response.status_code for response in responses] == [200, 429]
    assert "." in responses[1].headers["retry-after"]
    assert (await http.get("/sandbox/rate")).json()["requests"] == 1
    assert (await http.put("/sandbox/rate", json={"requests": 5, "per": 0.5})).json()["per"] == 0.5
    assert (await http.put("/sandbox/rate", json=None, content=b"null")).json() is None
    assert [(await http.get("/itwins/")).status_code for _ in range(3)] == [200] * 3


async def test_the_latency_is_set() -> None:
    """From then on every response waits for it."""
    waits: list[float] = []

    async def sleep(seconds: float) -> None:
        waits.append(seconds)

    headers = {"Authorization": "Bearer a"}
    async with (
        Sandbox(itwins=1, sleep=sleep) as sandbox,
        httpx.AsyncClient(base_url=sandbox.base_url, headers=headers) as http,
    ):
        assert (await http.put("/sandbox/latency", json={"latency": 0.2, "jitter": 0.1})).status_code == 200
        await http.get("/itwins/")
        assert (await http.get("/sandbox/latency")).json() == {"latency": 0.2, "jitter": 0.1}
    assert len(waits) == 1
    assert 0.2 <= waits[0] <= 0.3


async def test_another_method_is_rejected_in_json(http: httpx.AsyncClient) -> None:
    """405 with the same form of error."""
    response = await http.put("/sandbox/reset")
    assert (response.status_code, response.json()["error"]["code"]) == (405, "NotSupported")


async def test_an_unknown_path_of_the_control_interface_is_rejected_by_it(http: httpx.AsyncClient) -> None:
    """404 lists the paths; the service would reject the request for its missing token."""
    response = await http.get("/sandbox/fault", headers={"Authorization": ""})
    assert response.status_code == 404
    assert "/sandbox/faults" in response.json()["error"]["message"]


async def test_snapshots_are_bounded(http: httpx.AsyncClient) -> None:
    """Twenty snapshots are kept; another one is rejected."""
    statuses = [(await http.post("/sandbox/snapshots")).status_code for _ in range(21)]
    assert statuses == [201] * 20 + [422]


async def test_a_snapshot_without_a_name_takes_the_place_of_no_other(http: httpx.AsyncClient) -> None:
    """It gets a number that no other snapshot has as its name."""
    await http.post("/sandbox/snapshots", json={"name": "2"})
    assert (await http.post("/sandbox/snapshots")).json() == {"name": "3"}
