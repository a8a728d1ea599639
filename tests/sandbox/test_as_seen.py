"""What the service has been seen to send beyond its description, with `as_seen=True`."""

import re
from typing import Any

import httpx
import pytest
from itwin_platform_sandbox import Sandbox

from tests.support.sandboxes import requests_of, serving

pytestmark = pytest.mark.itwin_sandbox(itwins=250, objects=100, as_seen=True)

ACCEPT = "application/vnd.acme.itwin-platform.v1+json"


async def twice(http: httpx.AsyncClient, sandbox: Sandbox, operation: str, body: object) -> list[Any]:
    """The responses of two requests, so that both of two variants are seen."""
    return [(await http.request(*requests_of(sandbox)[operation], json=body)).json() for _ in range(2)]


async def everything(http: httpx.AsyncClient, url: str) -> list[Any]:
    """The pages of a listing, whose links start with a space."""
    pages = []
    while url:
        pages.append((await http.get(url, headers={"Prefer": "return=representation"})).json())
        link = pages[-1]["_links"].get("next") or {"href": ""}
        assert link["href"].startswith(" http") or not link["href"]
        url = link["href"].strip()
    return pages


async def test_a_listing_of_itwins_is_as_seen(http: httpx.AsyncClient) -> None:
    """Pages are smaller than requested and the last link is null; times have no zone and two to seven digits."""
    pages = await everything(http, "/itwins/")
    times = [itwin["createdDateTime"] for page in pages for itwin in page["iTwins"]]
    matches = [re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.(\d{2,7})", time) for time in times]
    assert [len(page["iTwins"]) for page in pages] == [67, 67, 67, 49]
    assert pages[-1]["_links"]["next"] is None
    assert {len(match[1]) for match in matches if match} == {2, 3, 4, 5, 6, 7}
    assert all(matches)


async def test_scene_objects_are_as_seen(http: httpx.AsyncClient, sandbox: Sandbox) -> None:
    """Many kinds, one of them in two versions, integers as integers, with more fields and with fewer."""
    pages = await everything(http, requests_of(sandbox)["list_scene_objects"][1])
    assert all("$continuationToken=" in page["_links"]["next"]["href"] for page in pages[:-1])
    assert "next" not in pages[-1]["_links"]
    objects = [item for page in pages for item in page["objects"]]
    views = [item["data"] for item in objects if item["kind"] == "View3d"]
    resources = [item["data"] for item in objects if item["kind"] == "RepositoryResource"]
    assert len(objects) == 100
    assert len({item["kind"] for item in objects}) > 10
    assert all({"displayOrder", "lastModifiedById"} <= item.keys() for item in objects)
    assert all(isinstance(view["far"], int) and "fov" not in view for view in views)
    assert {"iTwinId" in data for data in resources} == {True, False}
    assert {item["creationTime"][-1] for item in objects} == {"Z"}
    assert {len(item["creationTime"]) for item in objects} == {20, 24}


async def test_headers_are_as_seen(http: httpx.AsyncClient) -> None:
    """Correlation id, media type, region and tier come with every response, gzip where it is accepted."""
    http.headers["Accept"] = ACCEPT
    sent = await http.get("/itwins/", headers={"X-Correlation-Id": "mine", "Accept-Encoding": "gzip"})
    made = await http.get("/itwins/", headers={"Accept-Encoding": "identity"})
    assert (sent.headers["x-correlation-id"], sent.headers["content-encoding"]) == ("mine", "gzip")
    assert sent.headers["x-itwinplatform-media-type"] == ACCEPT
    assert {"x-itwinplatform-region", "tier"} <= sent.headers.keys()
    assert re.fullmatch(r"[0-9a-f-]{36}", made.headers["x-correlation-id"])
    assert "content-encoding" not in made.headers


async def test_a_webhook_comes_bare_or_wrapped(http: httpx.AsyncClient, sandbox: Sandbox) -> None:
    """The response alternates between the webhook and a wrapper without its times; event types are not described."""
    bare, wrapped = sorted(await twice(http, sandbox, "update_webhook", {}), key=lambda body: "webhook" in body)
    assert bare.keys() - wrapped["webhook"].keys() == {"created", "modified"}
    assert "accessControl.memberRoleUpdated.v1" in bare["eventTypes"]
    assert re.fullmatch(r".*\.\d{7}Z", bare["modified"])


async def test_new_things_have_other_fields(http: httpx.AsyncClient, sandbox: Sandbox) -> None:
    """Scenes, detectors and repositories have more fields or fewer, other classes, and empty strings for nothing."""
    for response in await twice(http, sandbox, "create_scene", {"displayName": "S"}):
        assert (response["scene"]["tags"], response["scene"]["sceneData"]["objects"]) == ([], [])
    for response in await twice(http, sandbox, "create_detector", {"name": "a@b/c", "type": "PhotoObjectDetector"}):
        assert (response["detector"]["description"], response["detector"]["versions"]) == ("", [])
    repositories = [response["repository"] for response in await twice(http, sandbox, "update_repository", {})]
    assert {repository["class"] for repository in repositories} <= {"Cesium", "Google", "Issues", "ProjectWise"}
    assert {"displayName" in repository for repository in repositories} == {True, False}
    body = {"id": "a", "displayName": "A", "type": "T"}
    created, conflict = await twice(http, sandbox, "create_repository_resource", body)
    assert created["resource"] == {"id": "a", "class": "Cesium", "displayName": "A"}
    assert conflict["error"]["code"] == "iTwinRepositoryResourceExists"
    assert "status" not in (await http.get("/itwins/myprimaryaccount")).json()["iTwin"]


async def test_errors_are_as_seen(http: httpx.AsyncClient) -> None:
    """Codes go beyond the description, details have no target, and the gateway rejects in its own form."""
    rejected = (await http.get("/itwins/?$top=0")).json()["error"]
    assert rejected["details"][0].keys() == {"code", "message"}
    unknown = await http.patch("/itwins/none/repositories/none", json={})
    assert unknown.json()["error"]["code"] == "iTwinNotFound"
    http.headers["Authorization"] = "Basic YTpi"
    bodies = [(await http.get("/itwins/")).json() for _ in range(2)]
    assert {"statusCode": 401, "message": "Invalid JWT."} in bodies
    assert [body["error"]["code"] for body in bodies if "error" in body] == ["Unauthorized"]


async def test_a_rate_limit_says_what_it_limits() -> None:
    """429 has the code TooManyRequests and the limit's own headers."""
    async with serving(rate="1/60", as_seen=True) as (_, http):
        await http.get("/itwins/")
        response = await http.get("/itwins/")
    assert response.json()["error"]["code"] == "TooManyRequests"
    assert response.headers["ITwinPlatform-RateLimited-Operation"] == "list_itwins"


async def test_the_query_scope_all_is_taken(http: httpx.AsyncClient) -> None:
    """A scope that is not described is accepted, as was observed."""
    assert (await http.get("/itwins/", headers={"X-iTwin-Query-Scope": "all"})).status_code == 200


async def test_an_id_that_needs_encoding_reaches_what_is_stored(http: httpx.AsyncClient, sandbox: Sandbox) -> None:
    """No iTwin id is an RFC 4122 UUID; repository ids have words and characters to encode, and are found by them."""
    itwins = (await http.get("/itwins/?$select=id")).json()["iTwins"]
    assert all(itwin["id"][14] == "9" and itwin["id"].endswith("00000000") for itwin in itwins)
    assert sandbox.repository_ids["Storage"] == "storage"
    sandbox.clear_faults()
    url = f"/itwins/{sandbox.itwin_id}/repositories/zones%2Fflood%20%232%3Fdraft%3D50%25"
    found = (await http.patch(url, json={})).json()["repository"]["id"]
    assert found == sandbox.repository_ids["OgcApiFeatures"] == "zones/flood #2?draft=50%"
