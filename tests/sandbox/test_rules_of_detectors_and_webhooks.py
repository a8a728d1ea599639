"""What Create detector and Update webhook accept and reject; the primary account. Source: sections 4.4, 4.7, 4.8."""

from collections.abc import Awaitable, Callable
from typing import Any

import httpx
import pytest
from itwin_platform_sandbox import Sandbox

Detail = tuple[str, str | None]
Rejected = tuple[int, str, list[Detail]]
Rejecting = Callable[..., Awaitable[Rejected]]

PHOTO = {"name": "crack@bridge/1", "type": "PhotoObjectDetector"}


async def test_the_primary_account_is_the_root_of_the_hierarchy(http: httpx.AsyncClient, sandbox: Sandbox) -> None:
    """The account gets a response as a summary."""
    account = (await http.get("/itwins/myprimaryaccount")).json()["iTwin"]
    assert (account["id"], account["class"], account["subClass"]) == (sandbox.account_id, "Account", "Account")
    assert account.keys() == {"id", "class", "subClass", "type", "number", "displayName", "status"}


@pytest.mark.parametrize(
    "texts", [{}, {"displayName": "Cracks", "description": None, "documentationUrl": "https://d.example"}]
)
async def test_a_detector_is_returned_without_versions(http: httpx.AsyncClient, texts: dict[str, str | None]) -> None:
    """201 with every field as it was sent, null where nothing was."""
    response = await http.post("/reality-analysis/detectors", json=PHOTO | texts)
    empty: dict[str, object] = {"displayName": None, "description": None, "documentationUrl": None, "versions": []}
    assert (response.status_code, response.json()) == (201, {"detector": PHOTO | empty | texts})


async def test_a_webhook_is_switched_on_and_off(http: httpx.AsyncClient, sandbox: Sandbox) -> None:
    """active changes the stored webhook; the response is the webhook itself and never has the secret."""
    url = f"/webhooks/{sandbox.webhook_id}"
    before = (await http.patch(url, json={})).json()
    active = (await http.patch(url, json={"active": True, "secret": "s3cret"})).json()
    inactive = (await http.patch(url, json={"active": False})).json()
    assert (before["active"], active["active"], inactive["active"]) == (False, True, False)
    assert "secret" not in active
    assert before.keys() == {
        "id",
        "scope",
        "scopeId",
        "active",
        "callbackUrl",
        "eventTypes",
        "created",
        "modified",
    }


async def test_an_update_of_a_webhook_changes_what_it_names(http: httpx.AsyncClient, sandbox: Sandbox) -> None:
    """callbackUrl and eventTypes are replaced, the rest stays, and the time of modification moves."""
    url = f"/webhooks/{sandbox.webhook_id}"
    body = {"callbackUrl": "https://new.example/hook", "eventTypes": ["iTwins.iTwinDeleted.v1"]}
    before = (await http.patch(url, json={})).json()
    after = (await http.patch(url, json=body)).json()
    assert after == before | body | {"modified": after["modified"]}
    assert after["modified"] >= before["modified"] > after["created"]


async def test_an_unknown_webhook_is_not_found(rejected: Rejecting) -> None:
    """404 WebhookNotFound."""
    assert await rejected("PATCH", "/webhooks/none", json={}) == (404, "WebhookNotFound", [])


@pytest.mark.parametrize(
    ("entitled_to", "expected"),
    [
        ({"scopes": ["itwin-platform"]}, (401, "HeaderNotFound", [])),
        ({"service_application": False}, (403, "InsufficientPermissions", [])),
        ({"organization_administrator": False, "permissions": []}, (403, "InsufficientPermissions", [])),
        ({"organization_administrator": False, "member_of": []}, (403, "InsufficientPermissions", [])),
    ],
)
async def test_a_webhook_is_for_entitled_service_applications(
    rejected: Rejecting, sandbox: Sandbox, entitled_to: dict[str, Any], expected: Rejected
) -> None:
    """Updating a webhook needs the scope, a service application and the permission."""
    sandbox.add_token("user", **entitled_to)
    headers = {"Authorization": "Bearer user"}
    assert await rejected("PATCH", f"/webhooks/{sandbox.webhook_id}", json={}, headers=headers) == expected


@pytest.mark.parametrize(
    "entitled_to",
    [{"permissions": []}, {"organization_administrator": False, "permissions": ["webhooks_maintainer"]}],
)
async def test_a_maintainer_or_administrator_changes_a_webhook(
    http: httpx.AsyncClient, sandbox: Sandbox, entitled_to: dict[str, Any]
) -> None:
    """Either the permission or the administrator's role is enough."""
    sandbox.add_token("user", **entitled_to)
    headers = {"Authorization": "Bearer user"}
    assert (await http.patch(f"/webhooks/{sandbox.webhook_id}", json={}, headers=headers)).status_code == 200
