"""What the service has been seen to send beyond its description, with `as_seen=True`."""

import re
from collections.abc import AsyncIterator
from typing import Any

import httpx
import pytest
from itwin_platform_sandbox import Sandbox

ACCEPT = "application/vnd.acme.itwin-platform.v1+json"


@pytest.fixture
async def seen() -> AsyncIterator[Sandbox]:
    """A sandbox that behaves as seen."""
    async with Sandbox(itwins=250, objects=100, as_seen=True) as running:
        yield running


@pytest.fixture
async def client(seen: Sandbox) -> AsyncIterator[httpx.AsyncClient]:
    """A client of it."""
    headers = {"Authorization": f"Bearer {seen.token}", "Accept": ACCEPT, "Accept-Encoding": "gzip"}
    async with httpx.AsyncClient(base_url=seen.base_url, headers=headers, verify=False) as running:  # noqa: S501
        yield running


async def test_times_of_itwins_have_no_zone_and_two_to_seven_digits(client: httpx.AsyncClient) -> None:
    """All six numbers of digits occur."""
    response = await client.get("/itwins/", headers={"Prefer": "return=representation"})
    times = [itwin["createdDateTime"] for itwin in response.json()["iTwins"]]
    matches = [re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.(\d{2,7})", time) for time in times]
    assert {len(match[1]) for match in matches if match} == {2, 3, 4, 5, 6, 7}
    assert all(matches)


async def test_a_listing_is_read_to_its_end_by_its_links(client: httpx.AsyncClient) -> None:
    """Pages are smaller than requested, links start with a space, and the last one is null."""
    url, sizes, next_links = "/itwins/", [], []
    while url:
        body = (await client.get(url)).json()
        sizes.append(len(body["iTwins"]))
        next_links.append(body["_links"]["next"])
        url = (next_links[-1] or {}).get("href", "").strip()
    assert sizes == [67, 67, 67, 49]
    assert all(link["href"].startswith(" http") for link in next_links[:-1])
    assert next_links[-1] is None


async def test_headers_are_as_seen(client: httpx.AsyncClient) -> None:
    """Correlation id, media type, region and tier come with every response, gzip where it is accepted."""
    sent = await client.get("/itwins/", headers={"X-Correlation-Id": "mine"})
    made = await client.get("/itwins/", headers={"Accept-Encoding": "identity"})
    assert sent.headers["x-correlation-id"] == "mine"
    assert sent.headers["content-encoding"] == "gzip"
    assert sent.headers["X-ITwinPlatform-Media-Type"] == ACCEPT
    assert {"X-ITwinPlatform-Region", "Tier"} <= {name.title().replace("Itwinp", "ITwinP") for name in sent.headers}
    assert re.fullmatch(r"[0-9a-f-]{36}", made.headers["x-correlation-id"])
    assert "content-encoding" not in made.headers


async def twice(client: httpx.AsyncClient, method: str, url: str, body: object) -> list[Any]:
    """The responses of two requests, so that both of two variants are seen."""
    return [(await client.request(method, url, json=body, headers={"Accept": "*/*"})).json() for _ in range(2)]


async def test_a_webhook_comes_bare_or_wrapped(client: httpx.AsyncClient, seen: Sandbox) -> None:
    """The response alternates between the webhook and a wrapper without its times; event types are not described."""
    responses = await twice(client, "PATCH", f"/webhooks/{seen.webhook_id}", {})
    (wrapped,) = [response["webhook"] for response in responses if "webhook" in response]
    (bare,) = [response for response in responses if "webhook" not in response]
    assert bare.keys() - wrapped.keys() == {"created", "modified"}
    assert "accessControl.memberRoleUpdated.v1" in bare["eventTypes"]
    assert re.fullmatch(r".*\.\d{7}Z", bare["modified"])


async def test_a_new_scene_has_tags_and_a_list_of_objects(client: httpx.AsyncClient, seen: Sandbox) -> None:
    """A created scene has tags; its objects are the list that was posted, as the platform's own client expects."""
    responses = await twice(client, "POST", f"/scenes/?iTwinId={seen.itwin_id}", {"displayName": "S"})
    assert all(response["scene"]["tags"] == [] for response in responses)
    assert all(response["scene"]["sceneData"]["objects"] == [] for response in responses)


async def test_a_new_detector_has_empty_strings_and_no_versions(client: httpx.AsyncClient) -> None:
    """Nothing is an empty string, and a detector that was just created has no version."""
    body = {"name": "a@b/c", "type": "PhotoObjectDetector"}
    detectors = [response["detector"] for response in await twice(client, "POST", "/reality-analysis/detectors", body)]
    assert [(detector["description"], detector["versions"]) for detector in detectors] == [("", [])] * 2


async def test_repositories_and_resources_have_gaps_and_other_classes(client: httpx.AsyncClient, seen: Sandbox) -> None:
    """Classes go beyond the description, and fields that it requires are not there."""
    url = f"/itwins/{seen.itwin_id}/repositories/{seen.repository_id}"
    repositories = [response["repository"] for response in await twice(client, "PATCH", url, {})]
    assert {repository["class"] for repository in repositories} <= {"Cesium", "Google", "Issues", "ProjectWise"}
    assert {"displayName" in repository for repository in repositories} == {True, False}
    body = {"id": "a", "displayName": "A", "type": "T"}
    (created, conflict) = await twice(client, "POST", f"{url}/resources", body)
    assert created["resource"] == {"id": "a", "class": "Cesium", "displayName": "A"}
    assert conflict["error"]["code"] == "iTwinRepositoryResourceExists"


async def test_the_primary_account_has_no_status(client: httpx.AsyncClient) -> None:
    """The status is omitted."""
    assert "status" not in (await client.get("/itwins/myprimaryaccount")).json()["iTwin"]


async def test_scene_objects_are_as_seen(client: httpx.AsyncClient, seen: Sandbox) -> None:
    """Many kinds, one of them in two versions, integers as integers, with more fields and with fewer."""
    url, objects = f"/scenes/{seen.scene_id}/objects?iTwinId={seen.itwin_id}", []
    while url:
        body = (await client.get(url)).json()
        objects += body["objects"]
        url = body["_links"].get("next", {}).get("href", "").strip()
        assert "$continuationToken=" in url or not url
    views = [item["data"] for item in objects if item["kind"] == "View3d"]
    resources = [item["data"] for item in objects if item["kind"] == "RepositoryResource"]
    assert len(objects) == 100
    assert len({item["kind"] for item in objects}) > 10
    assert all({"displayOrder", "lastModifiedById"} <= item.keys() for item in objects)
    assert all(isinstance(view["far"], int) and "fov" not in view for view in views)
    assert {"iTwinId" in data for data in resources} == {True, False}
    assert {item["creationTime"][-1] for item in objects} == {"Z"}
    assert {len(item["creationTime"]) for item in objects} == {20, 24}


async def test_errors_are_as_seen(client: httpx.AsyncClient) -> None:
    """Codes go beyond the description, details have no target, and the gateway rejects in its own form."""
    rejected = (await client.get("/itwins/?$top=0")).json()["error"]
    assert rejected["details"][0].keys() == {"code", "message"}
    unknown = await client.patch("/itwins/none/repositories/none", json={})
    assert unknown.json()["error"]["code"] == "iTwinNotFound"
    headers = {"Authorization": "Basic YTpi"}
    bodies = [(await client.get("/itwins/", headers=headers)).json() for _ in range(2)]
    assert {"statusCode": 401, "message": "Invalid JWT."} in bodies
    assert [body["error"]["code"] for body in bodies if "error" in body] == ["Unauthorized"]


async def test_a_rate_limit_says_what_it_limits() -> None:
    """429 has the code TooManyRequests and the limit's own headers."""
    headers = {"Authorization": "Bearer a"}
    async with (
        Sandbox(itwins=1, rate="1/60", as_seen=True) as sandbox,
        httpx.AsyncClient(base_url=sandbox.base_url, headers=headers) as http,
    ):
        await http.get("/itwins/")
        response = await http.get("/itwins/")
    assert response.json()["error"]["code"] == "TooManyRequests"
    assert response.headers["ITwinPlatform-RateLimited-Operation"] == "list_itwins"


async def test_the_query_scope_all_is_taken(client: httpx.AsyncClient) -> None:
    """A scope that is not described is accepted, as was observed."""
    assert (await client.get("/itwins/", headers={"X-iTwin-Query-Scope": "all"})).status_code == 200
