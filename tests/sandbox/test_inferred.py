"""Each rule that the sandbox has made up is named where it decides a response, and is on the page about them."""

import json
import re
from typing import Any

import httpx
import pytest
from itwin_platform_sandbox import Sandbox
from itwin_platform_sandbox._service.inferred import INFERRED

from tests.support.operations import wire_of
from tests.support.processes import PROJECT
from tests.support.sandboxes import requests_of, serving

V1 = "application/vnd.a.itwin-platform.v1+json"
ADMIN = {"X-iTwin-Query-Scope": "OrganizationAdmin"}
ID = "7f2c1f8e-0000-9332-387a-5b7c00000000"
LAYER = {"kind": "Layer", "version": "1.0.0", "data": {}, "id": ID}


#: The parameter for the order of scene objects.
ORDER = wire_of("list_scene_objects", "order_by")


def scene(*objects: object) -> dict[str, Any]:
    """The body of a scene."""
    return {"displayName": "S", "sceneData": {"objects": [*objects]}}


#: A rule: the operation, what is added to its URL, its body, its headers, and the status.
CASES: dict[str, tuple[str, str, object, dict[str, str], int]] = {
    "accept-missing": ("get_primary_account", "", None, {"Accept": ""}, 401),
    "body-not-json": ("update_webhook", "", [], {}, 422),
    "body-too-large": ("update_webhook", "", {"secret": "x" * 2**23}, {}, 413),
    "class-has-no-resources": ("create_repository_resource", "Storage", {"id": "a", "displayName": "A"}, {}, 422),
    "class-not-updatable": ("update_repository", "Storage", {}, {}, 422),
    "detail-unstated": ("list_itwins", "?$select=", None, {}, 422),
    "object-id-taken": ("create_scene", "", scene(LAYER, LAYER), {}, 400),
    "options-misplaced": ("update_repository", "Performance", {"options": {"queryParameters": {}}}, {}, 422),
    "organization-scope": ("list_itwins", "", None, {"Authorization": "Bearer stranger"} | ADMIN, 403),
    "other-method": ("list_itwins", "DELETE", None, {}, 404),
    "other-order": ("list_scene_objects", f"&{ORDER}=order", None, {}, 200),
    "other-version": ("create_detector", "", {}, {"Accept": V1}, 404),
    "scene-forbidden": ("create_scene", "", scene(), {"Authorization": "Bearer stranger"}, 403),
    "scene-itwin-unknown": ("create_scene", "x", scene(), {}, 404),
    "scene-objects-not-found": ("list_scene_objects", "&$top=0", None, {}, 404),
    "strict": ("list_itwins", "?$Top=5", None, {}, 422),
    "styling-kinds": ("create_scene", "", scene({**LAYER, "kind": "GISStyling"}), {}, 400),
    "token-expired": ("get_primary_account", "", None, {"Authorization": "Bearer brief"}, 401),
    "webhook-forbidden": ("update_webhook", "", {}, {"Authorization": "Bearer stranger"}, 403),
    "webhook-scope": ("update_webhook", "", {}, {"Authorization": "Bearer narrow"}, 401),
}


@pytest.mark.parametrize(("rule", "case"), CASES.items())
async def test_a_record_names_the_rule(rule: str, case: tuple[str, str, object, dict[str, str], int]) -> None:
    """The response of the rule has its status, and its record has the name of the rule, over HTTP too."""
    operation, more, body, headers, status = case
    async with serving(itwins=9, objects=3, strict=rule == "strict") as (sandbox, http):
        sandbox.add_token("stranger", organization_administrator=False, service_application=False, member_of=[])
        sandbox.add_token("narrow", scopes=["itwin-platform"])
        sandbox.add_token("brief", expires_in=0)
        method, url = requests_of(sandbox)[operation]
        if more in sandbox.repository_ids:
            url = url.replace(sandbox.repository_id, sandbox.repository_ids[more])
        elif more == "DELETE":
            method = more
        else:
            url += more
        response = await http.request(method, url, json=body, headers=headers)
        shown = (await http.get("/sandbox/requests")).json()["requests"][0]
    assert (response.status_code, rule in sandbox.requests[0].inferred) == (status, True), response.text
    assert shown["inferred"] == [*sandbox.requests[0].inferred]


def test_every_rule_has_a_case_and_stands_on_the_page() -> None:
    """The table in the code, the cases above and the page have the same rules, in the same words."""
    page = (PROJECT / "docs" / "sandbox-inferred.md").read_text(encoding="utf-8")
    assert dict(re.findall(r"^\| `([\w-]+)` \| (.*) \|$", page, re.MULTILINE)) == INFERRED
    assert CASES.keys() == INFERRED.keys()


async def test_a_documented_response_is_not_inferred(http: httpx.AsyncClient, sandbox: Sandbox) -> None:
    """What the description says is marked by no rule: successes, and errors with their stated details."""
    repository = requests_of(sandbox)["update_repository"]
    await http.get("/itwins/?$top=5&$orderby=displayName", headers={"Prefer": "return=representation"})
    await http.get("/itwins/?$top=0")
    await http.get("/itwins/", headers={"Authorization": ""})
    await http.request(*repository, json={"displayName": "", "uri": ""})
    await http.request(*repository, json={"displayName": "new"})
    assert [record.inferred for record in sandbox.requests] == [()] * 5


@pytest.mark.parametrize(
    ("operation", "query", "headers", "note"),
    [
        (
            "list_itwins",
            "?subclass=Project",
            {},
            "subclass: The specification does not have this query parameter. Did you mean subClass?",
        ),
        (
            "list_itwins",
            "?$Top=5",
            {},
            "$Top: The specification does not have this query parameter. Did you mean $top?",
        ),
        ("list_itwins", "?top=5", {}, "top: The specification does not have this query parameter. Did you mean $top?"),
        ("list_itwins", "?colour=red", {}, "colour: The specification does not have this query parameter."),
        (
            "list_scene_objects",
            f"&${ORDER}=kind",
            {},
            f"${ORDER}: The specification does not have this query parameter. Did you mean {ORDER}?",
        ),
        ("get_primary_account", "?a=b", {}, "a: The specification does not have this query parameter."),
        (
            "list_itwins",
            "",
            {"Prefer": "return=full"},
            "Prefer: The preference 'return=full' is ignored: it must be one of return=minimal, return=representation.",
        ),
    ],
)
async def test_a_misspelled_query_is_noted_and_strict_rejects_it(
    operation: str, query: str, headers: dict[str, str], note: str
) -> None:
    """The journal notes it and the response is as without it; with `strict` it is a 4xx that names it."""
    for strict in (False, True):
        async with serving(itwins=3, objects=3, strict=strict) as (sandbox, http):
            method, url = requests_of(sandbox)[operation]
            plain = await http.request(method, url)
            response = await http.request(method, url + query, headers=headers)
            assert [record.notes for record in sandbox.requests] == [(), (note,)]
        assert plain.status_code == 200
        if strict:
            assert 400 <= response.status_code < 500
            assert json.loads(response.content)["error"]["details"][0]["target"] == note.partition(":")[0]
        else:
            assert response.status_code == 200
