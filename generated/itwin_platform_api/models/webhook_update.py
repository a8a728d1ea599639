from __future__ import annotations

from typing import ClassVar

from attrs import define as _attrs_define

from ..kinds import BOOLEAN, STRING, EnumKind, ListKind, Table
from ..models.event_type import EventType
from ..schemas import JSONModel
from ..unset import UNSET, Unset


@_attrs_define(repr=False)
class WebhookUpdate(JSONModel):
    """Body of update webhook (`Update Webhook Request`), all properties optional. Read-only properties must not be
    sent. Inferred: which these are.

    Attributes:
        secret: If none is passed, one is generated. Not part of the returned webhook. Inferred: not empty,
            because nothing can be signed with an empty one.
        active: true activates, false deactivates.
        callback_url: URL receiving events.
        event_types: Event types to subscribe to.
        additional_properties: the fields that the specification does not name.
    """

    secret: str | Unset = UNSET
    """If none is passed, one is generated. Not part of the returned webhook. Inferred: not empty, because nothing can
    be signed with an empty one."""

    active: bool | Unset = UNSET
    """true activates, false deactivates."""

    callback_url: str | Unset = UNSET
    """URL receiving events."""

    event_types: list[EventType] | Unset = UNSET
    """Event types to subscribe to."""

    FIELDS: ClassVar[Table] = {
        "secret": ("secret", STRING),
        "active": ("active", BOOLEAN),
        "callbackUrl": ("callback_url", STRING),
        "eventTypes": ("event_types", ListKind(EnumKind("EventType"))),
    }
    SECRETS: ClassVar[frozenset[str]] = frozenset(["secret"])
