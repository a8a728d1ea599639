"""Who gets in, with which headers, and in which order requests are rejected. Source: sections 5, 7 and 9."""

from collections.abc import Awaitable, Callable

import httpx
import pytest
from itwin_platform_sandbox import Sandbox

Detail = tuple[str, str | None]
Rejected = tuple[int, str, list[Detail]]
Rejecting = Callable[..., Awaitable[Rejected]]

GONE: Rejected = (401, "HeaderNotFound", [])


@pytest.mark.parametrize("authorization", ["", "Bearer", "Basic YTpi", "sandbox-token", "Bearer a b", "Bearer ä"])
async def test_malformed_credentials_are_rejected(rejected: Rejecting, authorization: str) -> None:
    """Everything but a bearer token gives 401 HeaderNotFound."""
    headers = {"Authorization": authorization.encode("latin-1")}
    assert await rejected("GET", "/itwins/", headers=headers) == GONE


@pytest.mark.parametrize("missing", ["Authorization", "Accept"])
async def test_both_headers_are_required(sandbox: Sandbox, http: httpx.AsyncClient, missing: str) -> None:
    """Without Authorization or Accept the request is rejected with 401."""
    del http.headers[missing]
    response = await http.get("/itwins/")
    assert (response.status_code, response.json()["error"]["code"]) == (401, "HeaderNotFound")


async def test_any_token_is_taken_unless_only_known_ones_are() -> None:
    """By default every bearer token gets in; with any_token=False only `token` and registered ones."""
    async with Sandbox(itwins=1, any_token=False) as sandbox, httpx.AsyncClient(base_url=sandbox.base_url) as http:
        sandbox.add_token("known")
        statuses = [
            (await http.get("/itwins/", headers={"Authorization": f"Bearer {token}"})).status_code
            for token in ("unknown", "known", sandbox.token)
        ]
    assert statuses == [401, 200, 200]


async def test_the_name_of_the_scheme_has_no_case(http: httpx.AsyncClient, sandbox: Sandbox) -> None:
    """`bearer` is `Bearer`."""
    assert (await http.get("/itwins/", headers={"Authorization": "bearer abc"})).status_code == 200


async def test_a_token_without_the_platform_scope_is_rejected(rejected: Rejecting, sandbox: Sandbox) -> None:
    """The scope itwin-platform is needed for every operation."""
    sandbox.add_token("narrow", scopes=["webhooks:modify"])
    assert await rejected("GET", "/itwins/", headers={"Authorization": "Bearer narrow"}) == GONE


async def test_a_token_expires() -> None:
    """After its lifetime by the sandbox's clock a token gives 401, and registering it again renews it."""
    seconds = [0.0]
    async with Sandbox(itwins=1, clock=lambda: seconds[0]) as sandbox:
        sandbox.add_token("brief", expires_in=60)
        async with httpx.AsyncClient(base_url=sandbox.base_url, headers={"Authorization": "Bearer brief"}) as http:
            statuses = []
            for seconds[0] in (59.9, 60.0):
                statuses.append((await http.get("/itwins/")).status_code)
            sandbox.add_token("brief", expires_in=60)
            statuses.append((await http.get("/itwins/")).status_code)
    assert statuses == [200, 401, 200]


@pytest.mark.parametrize("token", ["", "a b", "ä", "line\nbreak"])
def test_text_that_cannot_be_a_token_is_not_registered(token: str) -> None:
    """add_token rejects what no client could send."""
    with pytest.raises(ValueError, match="bearer token"):
        Sandbox(itwins=1).add_token(token)


V1, V2 = "application/vnd.any.itwin-platform.v1+json", "application/vnd.any.itwin-platform.v2+json"


@pytest.mark.parametrize(
    ("accept", "v1_is_found", "v2_is_found"),
    [
        (V1, True, False),
        (V2, False, True),
        (V1.upper(), True, False),
        (f"text/html, {V1};q=0.9", True, False),
        ("application/json", True, True),
        ("*/*", True, True),
        ("application/*;q=0.1", True, True),
        ("text/html", False, False),
        ("application/vnd.any.itwin-platform.v3+json", False, False),
    ],
)
async def test_accept_names_the_version_of_the_operation(
    http: httpx.AsyncClient, accept: str, v1_is_found: bool, v2_is_found: bool
) -> None:
    """The vendor media type must have the operation's version; general JSON types are accepted too."""
    headers = {"Accept": accept}
    first = await http.get("/itwins/myprimaryaccount", headers=headers)
    body = {"name": "n", "type": "PhotoObjectDetector"}
    second = await http.post("/reality-analysis/detectors", json=body, headers=headers)
    assert (first.status_code, second.status_code) == (200 if v1_is_found else 404, 201 if v2_is_found else 404)
    for response in (first, second):
        if response.status_code == 404:
            assert response.json()["error"]["details"][0]["code"] == "OperationNotFound"


async def test_a_vendor_can_be_demanded() -> None:
    """With vendor= only that vendor is accepted in the media type, whose letters have no case."""
    async with Sandbox(itwins=1, vendor="Acme") as sandbox, httpx.AsyncClient(base_url=sandbox.base_url) as http:
        statuses = []
        for vendor in ("acme", "other"):
            accept = f"application/vnd.{vendor}.itwin-platform.v1+json"
            headers = {"Authorization": "Bearer a", "Accept": accept}
            statuses.append((await http.get("/itwins/", headers=headers)).status_code)
    assert statuses == [200, 404]


async def test_errors_come_in_order() -> None:
    """Credentials come before the rate limit, that before an unknown operation, that before the operation's rules."""
    async with Sandbox(itwins=1, rate="1/60") as sandbox, httpx.AsyncClient(base_url=sandbox.base_url) as http:
        first = await http.get("/nowhere", headers={"Authorization": "Bearer a"})
        second = await http.get("/nowhere", headers={"Authorization": "Bearer a"})
        third = await http.get("/nowhere")
    assert [response.status_code for response in (first, second, third)] == [404, 429, 401]
