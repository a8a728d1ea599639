"""Webhook deliveries are verified by their raw bytes, and parsed without loss."""

import json
from datetime import UTC, datetime
from typing import Any

import pytest
from itwin_platform import (
    DeliveryError,
    EventType,
    PlatformError,
    UsageError,
    WebhookDelivery,
    sign_delivery,
    verify_delivery,
)

from tests.support.frames import shown

SECRET = "made-up-secret-of-32-characters!"
EVENT: dict[str, Any] = {
    "content": {"iTwinId": "4a01", "name": "Bâtiment 7"},
    "eventType": "iTwins.iTwinCreated.v1",
    "enqueuedDateTime": "2026-11-22T08:30:05.1234567Z",
    "iTwinId": "4a01",
    "messageId": "m-1",
    "webhookId": "w-1",
}


BODY = json.dumps(EVENT).encode()
RIGHT = sign_delivery(BODY, secret=SECRET)


def verified(event: object, signature: str | None = None) -> WebhookDelivery:
    """Verify an event that is signed as the platform signs it, or with another signature."""
    body = event if isinstance(event, bytes) else json.dumps(event).encode()
    return verify_delivery(body, sign_delivery(body, secret=SECRET) if signature is None else signature, secret=SECRET)


def test_a_signature_is_the_hmac_of_the_raw_body() -> None:
    """The signature is the HMAC of the raw bytes, by RFC 4231; the case of its digits is ignored."""
    assert sign_delivery(b"what do ya want for nothing?", secret="Jefe") == (
        "sha256=5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"
    )
    assert verified(EVENT, "sha256=" + RIGHT.removeprefix("sha256=").upper()).message_id == "m-1"


def test_a_delivery_is_parsed() -> None:
    """The documented properties of a delivery are attributes, also a time with 7 digits."""
    delivery = verified(EVENT)
    assert delivery == WebhookDelivery(
        event_type=EventType.ITWINS_ITWIN_CREATED_V1,
        message_id="m-1",
        webhook_id="w-1",
        itwin_id="4a01",
        enqueued_at=datetime(2026, 11, 22, 8, 30, 5, 123456, tzinfo=UTC),
        content={"iTwinId": "4a01", "name": "Bâtiment 7"},
        additional_properties={},
    )
    assert repr(delivery).startswith("WebhookDelivery(event_type=")
    assert "Bâtiment" not in repr(delivery)


def test_undocumented_properties_are_kept() -> None:
    """An unknown event type, unknown properties, and values of another type lose nothing."""
    odd = EVENT | {"eventType": "accessControl.memberAdded.v9", "iTwinId": 5, "enqueuedDateTime": "soon", "new": [1]}
    delivery = verified(odd)
    assert (delivery.event_type, delivery.itwin_id, delivery.enqueued_at) == (odd["eventType"], None, None)
    assert delivery.additional_properties == {"iTwinId": 5, "enqueuedDateTime": "soon", "new": [1]}
    assert "soon" not in repr(delivery)


#: An event, its signature if it is wrong, and the text of the error.
WRONG: list[tuple[Any, Any, str]] = [
    *((EVENT, missing, "has no signature") for missing in ("", 0)),
    (EVENT, "sha1=abc", "is not of the form"),
    *((EVENT, f"sha256={digest}", "is wrong") for digest in ("abc", "é\ud800")),
    (EVENT, sign_delivery(BODY + b" ", secret=SECRET), "the unchanged body of the request"),
    *((body, None, "is not JSON") for body in (b"{", b"[" * 100_000)),
    ([EVENT], None, "not a JSON object"),
    *((EVENT | {"messageId": None}, None, "no messageId"), (EVENT | {"eventType": 7}, None, "no eventType")),
    *((EVENT | {"webhookId": ""}, None, "no webhookId"), (EVENT | {"content": "x"}, None, "no content")),
]


@pytest.mark.parametrize(("event", "signature", "words"), WRONG)
def test_a_wrong_delivery_is_rejected(event: object, signature: Any, words: str) -> None:
    """A wrong signature or form is a DeliveryError that names it, without the secret or a signature."""
    with pytest.raises(DeliveryError, match=words) as rejected:
        verified(event, signature)
    assert isinstance(rejected.value, PlatformError)
    assert not [secret for secret in (SECRET, RIGHT) if secret in shown(rejected.value)]


NEW = "another-secret-of-32-characters!"


@pytest.mark.parametrize("kind", [list, tuple, set, iter], ids=lambda kind: kind.__name__)
def test_a_delivery_is_signed_with_any_of_the_secrets(kind: Any) -> None:
    """Each of several secrets verifies a delivery, in any order, and no frame of an error holds one."""
    for secrets in ([NEW, "\ud800", SECRET], [SECRET, NEW], [SECRET]):
        assert verify_delivery(BODY, RIGHT, secret=kind(secrets)).message_id == "m-1"
    with pytest.raises(DeliveryError, match="signature of the delivery is wrong") as rejected:
        verify_delivery(BODY, RIGHT, secret=kind([NEW, "x"]))
    assert NEW not in shown(rejected.value)


@pytest.mark.parametrize(
    ("argument", "value"),
    [("body", "{}"), ("body", {}), *(("secret", value) for value in ("", None, [], [SECRET, ""], SECRET.encode()))],
)
def test_wrong_arguments_are_usage_errors(argument: str, value: Any) -> None:
    """A parsed body and an empty secret are UsageErrors, not DeliveryErrors."""
    body, secret = (value, SECRET) if argument == "body" else (BODY, value)
    for call in (lambda: sign_delivery(body, secret=secret), lambda: verify_delivery(body, "sha256=a", secret=secret)):
        with pytest.raises(UsageError, match=f"{argument} must be") as rejected:
            call()
        assert rejected.value.argument == argument
        assert SECRET not in shown(rejected.value)


def test_a_signature_in_bytes_is_a_usage_error() -> None:
    """A signature in bytes, as ASGI servers pass headers, is a UsageError."""
    with pytest.raises(UsageError, match="signature must be a str, not bytes") as raised:
        verify_delivery(BODY, RIGHT.encode(), secret=SECRET)  # type: ignore[arg-type]  # as a mistake
    assert raised.value.argument == "signature"
