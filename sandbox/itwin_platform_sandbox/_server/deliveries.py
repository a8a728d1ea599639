"""Signed deliveries to webhooks, for a test to hand to its receiver.

The specification describes neither payload nor signature; both follow the platform's public documentation.
"""

import hashlib
import hmac
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime

from .._service.json_values import JSON
from .._service.state import StoredWebhook


@dataclass(frozen=True, slots=True, kw_only=True)
class Delivery:
    """A delivery to a webhook: `body` and `headers`, to post to `url`."""

    url: str
    event_type: str
    body: bytes = field(repr=False)
    headers: Mapping[str, str] = field(repr=False)


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
