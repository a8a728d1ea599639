"""Deliveries to webhooks: a POST to `callbackUrl`, signed with the secret of the webhook.

The specification shows neither payload nor signature, nor which operation emits which event: the forms are those of the
platform's public documentation, and a change of what an iTwin has counts as an update of the iTwin.
"""

import asyncio
import hashlib
import hmac
import ipaddress
import json
from collections.abc import Awaitable, Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from urllib.parse import urlsplit

from .._service.json_values import JSON
from .._service.messages import APIRequest
from .._service.service import Route
from .._service.state import Platform, StoredWebhook

UPDATED = "iTwins.iTwinUpdated.v1"
# A receiver has about five seconds to respond with 2xx; otherwise the event is sent again.
SECONDS_TO_RESPOND = 5.0
PAUSES = (1.0, 2.0)
MOST_DELIVERIES = 1000


@dataclass(frozen=True, slots=True, kw_only=True)
class Delivery:
    """A delivery to a webhook: `body` and `headers`, to post to `url`.

    Of a delivery that was posted, `attempts` is the number of requests, `status` that of the last response, and `error`
    says why there is none.
    """

    url: str
    event_type: str
    body: bytes = field(repr=False)
    headers: Mapping[str, str] = field(repr=False)
    attempts: int = 0
    status: int | None = None
    error: str | None = None


def signed_delivery(
    webhook: StoredWebhook,
    event_type: str,
    content: Mapping[str, JSON],
    *,
    itwin_id: str,
    message_id: str,
    now: datetime,
) -> Delivery:
    """Return the delivery of one event."""
    message = {
        "content": dict(content),
        "eventType": event_type,
        "enqueuedDateTime": f"{now.astimezone(UTC):%Y-%m-%dT%H:%M:%S.%f}0Z",
        "iTwinId": itwin_id,
        "messageId": message_id,
        "webhookId": webhook.content["id"],
    }
    body = json.dumps(message, separators=(",", ":")).encode("ascii")
    signature = hmac.new(webhook.secret.encode("utf-8", "surrogatepass"), body, hashlib.sha256).hexdigest()
    headers = {"Content-Type": "application/json", "Signature": f"sha256={signature}"}
    return Delivery(url=str(webhook.content["callbackUrl"]), event_type=event_type, body=body, headers=headers)


def subscribers(platform: Platform, itwin_id: str) -> Iterator[StoredWebhook]:
    """Yield the active webhooks that subscribe to updates of an iTwin: its own, and those of its Account."""
    itwin = platform.itwins.get(itwin_id)
    owners = {itwin_id, str(itwin["iTwinAccountId"]) if itwin else ""}
    for webhook in platform.webhooks.values():
        event_types = webhook.content["eventTypes"]
        subscribes = isinstance(event_types, list) and UPDATED in event_types
        if webhook.content["active"] and subscribes and str(webhook.content["scopeId"]).lower() in owners:
            yield webhook


def changed_itwin(route: Route, request: APIRequest) -> str | None:
    """Return the id of the iTwin that a successful request has changed: one that a change names as its iTwin."""
    named = {**request.query, **route.path_parameters}.get("iTwinId")
    return None if named is None or request.method == "GET" else named.lower()


def is_loopback(host: str) -> bool:
    """Return whether only this machine can reach the address."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


async def post(delivery: Delivery, sleep: Callable[[float], Awaitable[None]]) -> Delivery:
    """Post a delivery until a receiver on this machine responds with 2xx, three times at most; return how it went."""
    address = urlsplit(delivery.url)
    if address.scheme != "http" or not is_loopback(address.hostname or ""):
        return replace(delivery, error="callbackUrl is no http address of this machine, and others are never called")
    for attempt, pause in enumerate((*PAUSES, None), 1):
        delivery = await _post_once(replace(delivery, attempts=attempt))
        if pause is None or (delivery.status is not None and 200 <= delivery.status < 300):
            break
        await sleep(pause)
    return delivery


async def _post_once(delivery: Delivery) -> Delivery:
    import httpx

    try:
        async with asyncio.timeout(SECONDS_TO_RESPOND), httpx.AsyncClient(verify=False, trust_env=False) as client:  # noqa: S501 - plain HTTP, where reading certificates would only take time
            response = await client.post(delivery.url, content=delivery.body, headers=dict(delivery.headers))
        return replace(delivery, status=response.status_code, error=None)
    except TimeoutError:
        return replace(delivery, status=None, error=f"no response within {SECONDS_TO_RESPOND:g} s")
    except (httpx.HTTPError, httpx.InvalidURL) as error:
        return replace(delivery, status=None, error=str(error) or type(error).__name__)
