"""Update webhook on the wire. Source: section 4.8."""

from collections.abc import Iterable
from typing import Any

import pytest
from itwin_platform import UNSET, EventType, PlatformClient, Webhook, WebhookScope
from pytest_httpx import HTTPXMock

from tests.operations.conftest import OPERATIONS, WEBHOOK, request_of, sent_json

UPDATE = OPERATIONS["update_webhook"]
CREATED, UNKNOWN = EventType.IMODELS_IMODEL_CREATED_V1, "iTwins.iTwinRenamed.v9"


@pytest.mark.parametrize(
    ("keywords", "body"),
    [
        ({"active": True}, b'{"active":true}'),
        ({"active": False, "secret": UNSET}, b'{"active":false}'),
        ({"callback_url": "https://x"}, b'{"callbackUrl":"https://x"}'),
        ({"secret": "s"}, b'{"secret":"s"}'),
        ({"event_types": []}, b'{"eventTypes":[]}'),
    ],
    ids=["active", "not active", "callback_url", "secret", "no event types"],
)
async def test_only_what_is_given_is_sent(
    keywords: dict[str, Any], body: bytes, platform: PlatformClient, httpx_mock: HTTPXMock
) -> None:
    """What is omitted is not sent, so that it stays as it is."""
    httpx_mock.add_response(json=UPDATE.sample())
    await platform.webhooks.update(WEBHOOK, **keywords)
    assert request_of(httpx_mock).content == body


@pytest.mark.parametrize(
    ("given", "sent"),
    [
        (CREATED, [str(CREATED)]),
        (str(CREATED), [str(CREATED)]),
        (UNKNOWN, [UNKNOWN]),
        ([CREATED, UNKNOWN], [str(CREATED), UNKNOWN]),
        ((str(each) for each in (CREATED, UNKNOWN)), [str(CREATED), UNKNOWN]),
        ({CREATED: 1}, [str(CREATED)]),
        (EventType, [str(each) for each in EventType]),
    ],
    ids=["member", "text", "unknown text", "list", "generator", "keys", "all"],
)
async def test_event_types_are_one_or_several_members_or_strings(
    given: EventType | str | Iterable[EventType | str],
    sent: list[str],
    platform: PlatformClient,
    httpx_mock: HTTPXMock,
) -> None:
    """One value or any iterable of them is sent as a list, values that the enum does not know too."""
    httpx_mock.add_response(json=UPDATE.sample())
    await platform.webhooks.update(WEBHOOK, event_types=given)
    assert sent_json(httpx_mock) == {"eventTypes": sent}


async def test_activate_and_deactivate_are_updates(platform: PlatformClient, httpx_mock: HTTPXMock) -> None:
    """They send `active` and nothing else."""
    httpx_mock.add_response(json=UPDATE.sample(), is_reusable=True)
    await platform.webhooks.activate("a/b")
    await platform.webhooks.deactivate(WEBHOOK)
    first, second = httpx_mock.get_requests()
    assert (first.url.raw_path, first.content) == (b"/api/webhooks/a%2Fb", b'{"active":true}')
    assert (second.method, second.content) == ("PATCH", b'{"active":false}')


async def test_a_bare_webhook_is_the_result(platform: PlatformClient, httpx_mock: HTTPXMock) -> None:
    """As described: without an outer object; the times are strings, as described."""
    httpx_mock.add_response(json=UPDATE.sample())
    webhook = await platform.webhooks.activate(WEBHOOK)
    assert type(webhook) is Webhook
    assert webhook.to_dict() == UPDATE.sample()
    assert webhook.scope is WebhookScope.ITWIN
    assert webhook.modified == "11/3/2023 8:07:01 PM"


async def test_a_wrapped_webhook_is_the_result(platform: PlatformClient, httpx_mock: HTTPXMock) -> None:
    """As seen: in an outer object, without its times, with unknown event types."""
    httpx_mock.add_response(json=UPDATE.sample(seen=True))
    webhook = await platform.webhooks.activate(WEBHOOK)
    assert webhook.to_dict() == UPDATE.sample(seen=True)["webhook"]
    assert webhook.event_types == ["accessControl.memberRoleUpdated.v1", "realityModeling.jobCompleted.v2"]
    assert all(isinstance(each, EventType) for each in webhook.event_types)


@pytest.mark.parametrize("name", sorted(UPDATE.sample()))
@pytest.mark.parametrize("null", [False, True], ids=["missing", "null"])
async def test_a_missing_or_null_field_loses_nothing(
    name: str, null: bool, platform: PlatformClient, httpx_mock: HTTPXMock
) -> None:
    """Any field may be missing or null, the id among them."""
    body = {key: value for key, value in UPDATE.sample().items() if key != name} | ({name: None} if null else {})
    httpx_mock.add_response(json=body)
    assert (await platform.webhooks.activate(WEBHOOK)).to_dict() == body


async def test_the_secret_shows_in_no_text(platform: PlatformClient, httpx_mock: HTTPXMock) -> None:
    """The secret is sent and stays out of the result's `repr`, even where the service returned it."""
    httpx_mock.add_response(json=UPDATE.sample() | {"secret": "planted-secret"})
    webhook = await platform.webhooks.update(WEBHOOK, secret="planted-secret")
    assert sent_json(httpx_mock) == {"secret": "planted-secret"}
    assert "planted-secret" not in repr(webhook)
