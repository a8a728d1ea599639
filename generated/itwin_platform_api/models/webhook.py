from __future__ import annotations

from typing import ClassVar

from attrs import define as _attrs_define

from ..kinds import BOOLEAN, STRING, EnumKind, ListKind, Table
from ..models.event_type import EventType
from ..models.webhook_scope import WebhookScope
from ..schemas import JSONModel


@_attrs_define(repr=False)
class Webhook(JSONModel):
    """A webhook. The secret is accepted on update but is not part of it. A new webhook is inactive: it receives events
    once it is activated.

    Attributes:
        id: Globally unique.
        scope: Present in the update response.
        scope_id: Id of the account (or scope owner) of the webhook.
        active: true: events are forwarded. false: forwarding is stopped.
        callback_url: URL receiving events.
        event_types: Event types subscribed to.
        created: Creation time.
        modified: Last modification time.
        additional_properties: the fields that the specification does not name.
    """

    id: str
    """Globally unique."""

    scope: WebhookScope
    """Present in the update response."""

    scope_id: str
    """Id of the account (or scope owner) of the webhook."""

    active: bool
    """true: events are forwarded. false: forwarding is stopped."""

    callback_url: str
    """URL receiving events."""

    event_types: list[EventType]
    """Event types subscribed to."""

    created: str
    """Creation time."""

    modified: str
    """Last modification time."""

    FIELDS: ClassVar[Table] = {
        "id": ("id", STRING),
        "scope": ("scope", EnumKind("WebhookScope")),
        "scopeId": ("scope_id", STRING),
        "active": ("active", BOOLEAN),
        "callbackUrl": ("callback_url", STRING),
        "eventTypes": ("event_types", ListKind(EnumKind("EventType"))),
        "created": ("created", STRING),
        "modified": ("modified", STRING),
    }
