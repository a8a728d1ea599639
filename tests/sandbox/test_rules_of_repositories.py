"""Update repository and Create repository resource: accepted, rejected. Source: sections 2.1 to 2.4, 4.1, 4.2, 7."""

from collections.abc import Awaitable, Callable
from typing import Any
from urllib.parse import quote

import httpx
import pytest
from itwin_platform_sandbox import Sandbox

Rejected = tuple[int, str, list[tuple[str, str | None]]]
Rejecting = Callable[..., Awaitable[Rejected]]

INVALID = "InvalidiTwinsRequest"
DEEP = b'{"a":' * 102 + b"1" + b"}" * 102
OAUTH = {
    "type": "OAuth2AuthorizationCodePKCE",
    "clientId": "c",
    "scopes": "a b",
    "authorizationEndpoint": "https://a.example",
    "tokenEndpoint": "https://t.example",
    "redirectUri": "https://r.example",
}


def repository_url(sandbox: Sandbox, sub_class: str = "WebMapService") -> str:
    """The path of a seeded repository."""
    return f"/itwins/{sandbox.itwin_id}/repositories/{sandbox.repository_ids[sub_class]}"


NOT_JSON = (b"NaN", b'{"displayName": 1e999}', b"\xff", "{}".encode("utf-16"), b"[" * 5000)


@pytest.mark.parametrize(
    "content",
    [b"", b"{", b"[1]", b"null", *NOT_JSON, DEEP],
)
async def test_a_body_that_is_no_json_object_is_rejected(rejected: Rejecting, sandbox: Sandbox, content: bytes) -> None:
    """Anything but a JSON object gives the documented 422, never a failure of the server."""
    headers = {"Content-Type": "application/json"}
    expected = (422, INVALID, [("InvalidRequestBody", None)])
    assert await rejected("PATCH", repository_url(sandbox), headers=headers, content=content) == expected
    assert await rejected("POST", f"{repository_url(sandbox)}/resources", headers=headers, content=content) == expected


@pytest.mark.parametrize("media_type", ["text/plain", "application/x-www-form-urlencoded", ""])
async def test_a_body_of_another_media_type_is_rejected(rejected: Rejecting, sandbox: Sandbox, media_type: str) -> None:
    """JSON with another Content-Type is rejected."""
    expected = (422, INVALID, [("InvalidRequestBody", None)])
    sent = {"headers": {"Content-Type": media_type}, "content": b"{}"}
    assert await rejected("PATCH", repository_url(sandbox), **sent) == expected


async def test_only_what_is_sent_is_changed(http: httpx.AsyncClient, sandbox: Sandbox) -> None:
    """Properties that are not in the body stay, and unknown ones are not stored."""
    before = (await http.patch(repository_url(sandbox), json={})).json()["repository"]
    after = (await http.patch(repository_url(sandbox), json={"displayName": "New", "colour": 1})).json()["repository"]
    assert after == before | {"displayName": "New"}
    assert before["authentication"]["type"] == "Basic"


async def test_complete_objects_are_replaced_and_removed_by_null(http: httpx.AsyncClient, sandbox: Sandbox) -> None:
    """authentication and options replace what was stored, unknown properties included; null removes them."""
    options = {"queryParameters": {"b": "2"}, "future": [1]}
    body = {"options": options, "authentication": {"type": "Header", "key": "k", "value": "v"}}
    replaced = (await http.patch(repository_url(sandbox), json=body)).json()["repository"]
    removed = await http.patch(repository_url(sandbox), json={"options": None, "authentication": None})
    assert {"options": replaced["options"], "authentication": replaced["authentication"]} == body
    assert removed.json()["repository"]["options"] is None
    assert removed.json()["repository"]["authentication"] is None


async def test_every_authentication_type_is_stored(http: httpx.AsyncClient, sandbox: Sandbox) -> None:
    """A complete object of each type is accepted and returned unchanged."""
    for authentication in (OAUTH, {"type": "QueryParameter", "key": "k", "value": "v"}):
        response = await http.patch(repository_url(sandbox), json={"authentication": authentication})
        assert response.json()["repository"]["authentication"] == authentication


async def test_the_longest_texts_are_taken(http: httpx.AsyncClient, sandbox: Sandbox) -> None:
    """200 characters of a name, 2000 of an address and levels 0 and 24 are within the limits."""
    body = {"displayName": "n" * 200, "uri": "u" * 2000, "options": {"minimumLevel": 0, "maximumLevel": 24}}
    response = await http.patch(repository_url(sandbox, "UrlTemplate"), json=body)
    assert response.status_code == 200


async def test_a_name_that_another_repository_has_is_rejected(
    rejected: Rejecting, http: httpx.AsyncClient, sandbox: Sandbox
) -> None:
    """409 iTwinRepositoryExists for the name of another repository, not for its own."""
    own = (await http.patch(repository_url(sandbox), json={})).json()["repository"]["displayName"]
    assert (await http.patch(repository_url(sandbox), json={"displayName": own})).status_code == 200
    conflict = await rejected("PATCH", repository_url(sandbox, "ArcGIS"), json={"displayName": own})
    assert conflict == (409, "iTwinRepositoryExists", [])


async def test_every_documented_class_can_be_updated_and_no_other(
    rejected: Rejecting, http: httpx.AsyncClient, sandbox: Sandbox
) -> None:
    """All seeded subclasses can be updated; a repository of class Storage cannot."""
    for sub_class in sandbox.repository_ids.keys() - {"Storage", "GeographicInformationSystem"}:
        response = await http.patch(repository_url(sandbox, sub_class), json={"displayName": f"New {sub_class}"})
        assert response.json()["repository"]["subClass"] == sub_class
    body = {"displayName": "New"}
    expected = (422, INVALID, [("InvalidValue", "class")])
    assert await rejected("PATCH", repository_url(sandbox, "Storage"), json=body) == expected


@pytest.mark.parametrize("suffix", ["", "/resources"])
async def test_an_unknown_repository_is_not_found(rejected: Rejecting, sandbox: Sandbox, suffix: str) -> None:
    """404 iTwinRepositoryNotFound for a repository or an iTwin that is not there."""
    method = "POST" if suffix else "PATCH"
    for path in (f"/itwins/{sandbox.itwin_id}/repositories/none", f"/itwins/none/repositories/{sandbox.repository_id}"):
        assert await rejected(method, path + suffix, json={}) == (404, "iTwinRepositoryNotFound", [])


@pytest.mark.parametrize(
    ("entitled_to", "status"),
    [
        ({}, 403),
        ({"permissions": ["itwins_modify"], "member_of": None}, 200),
        ({"permissions": ["itwins_modify"], "member_of": []}, 403),
        ({"organization_administrator": True, "member_of": []}, 200),
    ],
)
async def test_changing_a_repository_needs_permission(
    http: httpx.AsyncClient, sandbox: Sandbox, entitled_to: dict[str, Any], status: int
) -> None:
    """itwins_modify on the iTwin or the administrator's role lets a caller update."""
    nothing: dict[str, Any] = {"organization_administrator": False, "permissions": [], "member_of": None}
    sandbox.add_token("user", **(nothing | entitled_to))
    headers = {"Authorization": "Bearer user"}
    response = await http.patch(repository_url(sandbox), json={}, headers=headers)
    assert response.status_code == status
    if status == 403:
        assert response.json()["error"]["code"] == "InsufficientPermissions"


async def test_a_resource_takes_its_class_from_the_repository(http: httpx.AsyncClient, sandbox: Sandbox) -> None:
    """201 with the sent fields, class and subclass of the repository, and the address of its graphics."""
    body = {"id": "roads/#1?%", "type": "Layer", "displayName": "Roads"}
    response = await http.post(f"{repository_url(sandbox, 'ArcGIS')}/resources", json=body)
    resource = response.json()["resource"]
    graphics = resource.pop("capabilities")["graphics"]["uri"]
    assert response.status_code == 201
    assert resource == body | {"class": "GeographicInformationSystem", "subClass": "ArcGIS"}
    assert graphics.endswith(quote("roads/#1?%", safe=""))


async def test_a_resource_without_type_is_returned_without_type(http: httpx.AsyncClient, sandbox: Sandbox) -> None:
    """type is omitted of the response when there is none."""
    response = await http.post(f"{repository_url(sandbox)}/resources", json={"id": "a", "displayName": "A"})
    assert "type" not in response.json()["resource"]


@pytest.mark.parametrize("second", [{"id": "a", "displayName": "B"}, {"id": "b", "displayName": "A"}])
async def test_a_resource_with_a_taken_id_or_name_is_rejected(
    rejected: Rejecting, http: httpx.AsyncClient, sandbox: Sandbox, second: object
) -> None:
    """409 iTwinRepositoryResourceExists for the same id or the same name in one repository."""
    url = f"{repository_url(sandbox)}/resources"
    for name in "ca":
        assert (await http.post(url, json={"id": name, "displayName": name.upper()})).status_code == 201
    assert await rejected("POST", url, json=second) == (409, "iTwinRepositoryResourceExists", [])


async def test_query_parameters_are_only_for_gis_repositories(rejected: Rejecting, sandbox: Sandbox) -> None:
    """options.queryParameters does not apply to other classes, and levels do not to other subclasses."""
    body: dict[str, object] = {"options": {"queryParameters": {}}}
    expected = (422, INVALID, [("InvalidValue", "options")])
    assert await rejected("PATCH", repository_url(sandbox, "EvoWorkspace"), json=body) == expected
    levels: dict[str, object] = {"options": {"minimumLevel": 3}}
    assert await rejected("PATCH", repository_url(sandbox), json=levels) == expected


async def test_resources_are_only_for_gis_repositories(rejected: Rejecting, sandbox: Sandbox) -> None:
    """A repository of another class takes no resources."""
    url = f"{repository_url(sandbox, 'Performance')}/resources"
    expected = (422, INVALID, [("InvalidValue", "class")])
    assert await rejected("POST", url, json={"id": "a", "displayName": "A"}) == expected
