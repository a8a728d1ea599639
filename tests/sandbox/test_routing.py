"""The headers that a request needs, and the operation of its raw path. Source: sections 4, 5, 7 and 9."""

import httpx
import pytest
from itwin_platform_sandbox import Sandbox

from tests.support.sandboxes import error_of, requests_of, serving

ODD_ID = "a/b#c?d%e"
ENCODED = "a%2Fb%23c%3Fd%25e"
BASIC = {"type": "Basic", "username": "u", "password": "p"}
V1 = "application/vnd.any.itwin-platform.v1+json"


def scene_of_view(**data: object) -> dict[str, object]:
    """The body of a scene with one view."""
    return {"displayName": "S", "sceneData": {"objects": [{"kind": "View3d", "version": "1.0.0", "data": data}]}}


TOKENS = ("", "Bearer", "Basic YTpi", "sandbox-token", "Bearer a b", "Bearer ä", "Bearer narrow", None)


@pytest.mark.parametrize(("name", "value"), [*(("Authorization", value) for value in TOKENS), ("Accept", None)])
async def test_both_headers_are_required(
    http: httpx.AsyncClient, sandbox: Sandbox, name: str, value: str | None
) -> None:
    """Everything but a bearer token with the scope itwin-platform, and a request without Accept, gives 401."""
    sandbox.add_token("narrow", scopes=["webhooks:modify"])
    del http.headers[name]
    headers = [] if value is None else [(name.encode(), value.encode("latin-1"))]
    assert error_of(await http.get("/itwins/", headers=headers)) == "401 HeaderNotFound"


async def test_tokens_and_vendors_can_be_demanded() -> None:
    """any_token=False accepts only registered tokens, vendor= only that vendor; vendor and scheme have no case."""
    async with serving(any_token=False, vendor="Acme") as (sandbox, http):
        sandbox.add_token("known")
        statuses = []
        for token, vendor in (("other", "acme"), ("known", "ACME"), ("known", "other"), (sandbox.token, "acme")):
            accept = f"application/vnd.{vendor}.itwin-platform.v1+json"
            headers = {"Authorization": f"bearer {token}", "Accept": accept}
            statuses.append((await http.get("/itwins/", headers=headers)).status_code)
    assert statuses == [401, 200, 404, 200]


@pytest.mark.parametrize(
    "accept", [V1, V1.upper(), f"text/html, {V1};q=0.9", "application/json", "*/*", "application/*;q=0.1"]
)
async def test_accept_names_the_version_of_the_operation(http: httpx.AsyncClient, accept: str) -> None:
    """The vendor media type must have the operation's version; general JSON types are accepted too."""
    url = "/itwins/myprimaryaccount"
    assert (await http.get(url, headers={"Accept": accept})).status_code == 200
    for other in ("text/html", V1.replace("v1", "v2"), V1.replace("v1", "v3")):
        rejected = await http.get(url, headers={"Accept": other})
        assert error_of(rejected) == "404 ResourceNotFound, OperationNotFound"


async def test_errors_come_in_order() -> None:
    """Credentials come before the rate limit, that before an unknown operation, that before the operation's rules."""
    async with serving(rate="1/60") as (_, http):
        responses = [await http.get("/nowhere"), await http.get("/nowhere")]
        responses.append(await http.get("/nowhere", headers={"Authorization": ""}))
    assert [response.status_code for response in responses] == [404, 429, 401]


async def test_an_operation_is_found_by_its_raw_path() -> None:
    """Parameters are decoded after matching, so an encoded slash divides no path; the last slash may be omitted."""
    async with serving(seed={"repositories": [{"id": ODD_ID}]}) as (sandbox, http):
        found = await http.patch(f"/itwins/{sandbox.itwin_id}/repositories/{ENCODED}", json={})
        assert (found.json()["repository"]["id"], found.status_code) == (ODD_ID, 200)
        assert (await http.get("/itwins")).json()["iTwins"] == (await http.get("/itwins/")).json()["iTwins"]


@pytest.mark.parametrize(
    ("method", "path", "message"),
    [
        *(("GET", path, f"There is no operation GET {path}.") for path in ("/", "/webhooks", "/itwins//", "/%2e%2e/")),
        ("GET", "/itwins/i/repositories/a/b", "There is no operation"),
        ("PUT", "/itwins/", "PUT is not supported here; supported: GET."),
        ("GET", "/webhooks/w", "GET is not supported here; supported: PATCH."),
    ],
)
async def test_an_unknown_operation_is_rejected(http: httpx.AsyncClient, method: str, path: str, message: str) -> None:
    """404 ResourceNotFound with detail OperationNotFound; the message names supported methods."""
    response = await http.request(method, path)
    assert error_of(response) == "404 ResourceNotFound, OperationNotFound"
    assert message in response.json()["error"]["details"][0]["message"]


@pytest.mark.parametrize(
    ("operation", "query", "body", "target", "hint"),
    [
        ("list_itwins", "?$Top=5", None, "$Top", "Did you mean $top?"),
        ("get_primary_account", "?a=b", None, "a", ""),
        ("update_repository", "", {"authentication": BASIC | {"key": "k"}}, "authentication.key", ""),
        ("create_scene", "", scene_of_view(zoom=1), "sceneData.objects[0].data.zoom", ""),
        ("create_detector", "", {"name": "d", "type": "PhotoObjectDetector", "versions": []}, "detector.versions", ""),
    ],
)
async def test_an_unknown_parameter_or_field_is_noted_or_rejected(
    operation: str, query: str, body: object, target: str, hint: str
) -> None:
    """The request succeeds and its record notes the name; with `strict`, the error of the operation names it."""
    for strict in (False, True):
        async with serving(objects=1, strict=strict) as (sandbox, http):
            method, url = requests_of(sandbox)[operation]
            response = await http.request(method, url + query, json=body)
            (note,) = sandbox.requests[0].notes
        assert (note.startswith(f"{target}: "), note.endswith(hint)) == (True, True)
        assert response.is_client_error is strict
        assert not strict or [each["target"] for each in response.json()["error"]["details"]] == [target]


async def test_a_path_beside_the_prefix_is_rejected() -> None:
    """A path of the service outside its path prefix gets 404; the control interface has no prefix."""
    async with serving(path_prefix="/api") as (sandbox, http):
        origin = sandbox.base_url.removesuffix("/api")
        urls = ("/itwins/", "/sandbox/faults", f"{origin}/itwins/", f"{origin}/sandbox/faults")
        assert [(await http.get(url)).status_code for url in urls] == [200, 404, 404, 200]
