"""Webhook deliveries: the requests that the platform sends to a callback URL.

The service description does not describe them. Header, body and signature are taken from the public documentation of
the platform.
"""

import hashlib
import hmac
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial

from itwin_platform_api.decoding import decode_datetime
from itwin_platform_api.models import EventType
from itwin_platform_transport import UsageError

from .._errors import DeliveryError
from .._requests.body import read_json

_ALGORITHM = "sha256="


@dataclass(frozen=True, slots=True, kw_only=True)
class WebhookDelivery:
    """An event that the platform delivered to a callback URL, with a valid signature.

    Taken from the public documentation of webhooks; the service description does not describe deliveries.

    Args:
        event_type: the type of the event; one that the enum does not list is kept.
        message_id: the id of the event. The platform sends an event again if it gets no 2xx in time, so the same id may
            come twice.
        webhook_id: the webhook that the event was sent for.
        itwin_id: the iTwin of the event; None where it has none.
        enqueued_at: when the event was enqueued; None where that is missing or no time.
        content: the properties of the event, which depend on its type.
        additional_properties: the other properties of the body.
    """

    event_type: EventType
    message_id: str
    webhook_id: str
    itwin_id: str | None
    enqueued_at: datetime | None
    content: Mapping[str, object] = field(repr=False)
    additional_properties: Mapping[str, object] = field(repr=False)


def verify_delivery(body: bytes, signature: str, *, secret: str | Iterable[str]) -> WebhookDelivery:
    """Check the signature of a webhook delivery, and parse the delivery.

    The signature is compared in constant time. Nothing of a body with a wrong signature is parsed.

    Taken from the public documentation of webhooks; the service description does not describe deliveries.

    Args:
        body: the raw body of the request. JSON that was parsed and serialized again has another signature.
        signature: the header `Signature` of the request: `sha256=` and 64 hexadecimal digits.
        secret: the secret of the webhook, as it was passed to `webhooks.update` or `webhooks.activate`. While it is
            replaced, an iterable of the new and the old one: a delivery that either has signed is accepted.

    Returns:
        The event.

    Raises:
        DeliveryError: the signature is missing or wrong, or the body is not an event. Respond with status 400 or 401.
        UsageError: `body` is not bytes, `signature` is bytes, or `secret` is empty.

    Example:
        ```python
        delivery = verify_delivery(
            await request.body(), request.headers.get("signature", ""), secret=secret
        )
        print(delivery.event_type, delivery.content)
        ```
    """
    try:
        secrets = [*secret] if isinstance(secret, Iterable) and not isinstance(secret, str) else [secret]
        expected = [*map(partial(_signature, body), secrets or [""])]
    finally:
        del secret  # error trackers capture the variables of frames
        secrets = []
    if isinstance(signature, bytes | bytearray):
        raise UsageError('signature must be a str, not bytes: decode the header as "latin-1"', argument="signature")
    text = signature.lower() if isinstance(signature, str) else ""
    # Compare all of them, each in constant time: the time must not show which secret is right.
    is_right = sum(map(partial(hmac.compare_digest, text.encode("utf-8", "surrogatepass")), expected)) > 0
    del expected
    if not text:
        raise DeliveryError("the delivery has no signature: pass the header Signature of the request")
    if not text.startswith(_ALGORITHM):
        raise DeliveryError("the signature of the delivery is not of the form sha256=<hexadecimal digits>")
    if not is_right:
        remedy = "check that the secret is the one of the webhook, and that body is the unchanged body of the request"
        raise DeliveryError(f"the signature of the delivery is wrong: {remedy}")
    return _parsed(body)


def sign_delivery(body: bytes, *, secret: str) -> str:
    """Return the signature of a webhook delivery, to test a receiver of deliveries.

    Taken from the public documentation of webhooks; the service description does not describe deliveries.

    Args:
        body: the raw body of the request.
        secret: the secret of the webhook.

    Returns:
        The value of the header `Signature`.

    Raises:
        UsageError: `body` is not bytes, or `secret` is empty.

    Example:
        ```python
        headers = {"Signature": sign_delivery(body, secret="made-up-secret-of-32-characters!")}
        ```
    """
    try:
        return _signature(body, secret).decode()
    finally:
        del secret  # error trackers capture the variables of frames


def _signature(body: bytes, secret: str) -> bytes:
    key = secret.encode("utf-8", "surrogatepass") if isinstance(secret, str) else b""
    del secret
    if not key:
        raise UsageError("secret must be the secret of the webhook, a string that is not empty", argument="secret")
    if not isinstance(body, bytes | bytearray | memoryview):
        del key
        rule = f"body must be the bytes of the request, which the signature is of, not {type(body).__name__}"
        raise UsageError(rule, argument="body")
    return (_ALGORITHM + hmac.new(key, body, hashlib.sha256).hexdigest()).encode()


def _parsed(body: bytes) -> WebhookDelivery:
    try:
        values = read_json(bytes(body))
    except (ValueError, RecursionError):
        raise DeliveryError("the body of the delivery is not JSON") from None
    if not isinstance(values, dict):
        raise DeliveryError("the body of the delivery is not a JSON object")
    for name in ("eventType", "messageId", "webhookId"):
        if not isinstance(values.get(name), str) or not values[name]:
            raise DeliveryError(f"the delivery has no {name}, which must be a string")
    if not isinstance(values.get("content"), dict):
        raise DeliveryError("the delivery has no content, which must be a JSON object")
    itwin_id, enqueued_at = values.get("iTwinId"), decode_datetime(values.get("enqueuedDateTime"))
    known = {"eventType", "messageId", "webhookId", "content"}
    known |= {"iTwinId"} if isinstance(itwin_id, str) else set()
    known |= {"enqueuedDateTime"} if isinstance(enqueued_at, datetime) else set()
    return WebhookDelivery(
        event_type=EventType(values["eventType"]),
        message_id=values["messageId"],
        webhook_id=values["webhookId"],
        itwin_id=itwin_id if isinstance(itwin_id, str) else None,
        enqueued_at=enqueued_at if isinstance(enqueued_at, datetime) else None,
        content=values["content"],
        additional_properties={name: value for name, value in values.items() if name not in known},
    )
