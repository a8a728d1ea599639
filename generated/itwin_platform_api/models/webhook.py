from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..decoding import (
    blank,
    decode_enum,
    decode_list,
    members_of,
    unknown_of,
)
from ..encoding import Fields
from ..models.event_type import EventType
from ..models.webhook_scope import WebhookScope
from ..schemas import JSONModel
from ..unset import UNSET

_WebhookScope = members_of(WebhookScope)
_REQUIRED: dict[str, Any] = dict.fromkeys(
    (
        "id",
        "scope",
        "scopeId",
        "active",
        "callbackUrl",
        "eventTypes",
        "created",
        "modified",
    ),
    UNSET,
)
_NAMES = frozenset(
    (
        "id",
        "scope",
        "scopeId",
        "active",
        "callbackUrl",
        "eventTypes",
        "created",
        "modified",
    )
)


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

    additional_properties: dict[str, Any] = _attrs_field(kw_only=True, factory=dict)

    def wire_fields(self) -> Fields:
        """Return the fields by their names in JSON, those of models in them too. Fields that are UNSET are omitted.

        All other values stay as they are.
        """
        wire = Fields(self.additional_properties) if self.additional_properties else Fields()
        own: Any = self  # required fields, too, are UNSET where a response lacks them
        if (value := own.id) is not UNSET:
            wire["id"] = value
        if (value := own.scope) is not UNSET:
            wire["scope"] = value
        if (value := own.scope_id) is not UNSET:
            wire["scopeId"] = value
        if (value := own.active) is not UNSET:
            wire["active"] = value
        if (value := own.callback_url) is not UNSET:
            wire["callbackUrl"] = value
        if (value := own.event_types) is not UNSET:
            wire["eventTypes"] = value
        if (value := own.created) is not UNSET:
            wire["created"] = value
        if (value := own.modified) is not UNSET:
            wire["modified"] = value
        return wire

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        """Make a model of a JSON object. A missing field is UNSET, and a value of another type stays as it is."""
        d, model = src_dict, blank(cls)
        try:
            model.id = d["id"]
            value = d["scope"]
            try:
                model.scope = _WebhookScope[value]
            except (KeyError, TypeError):
                model.scope = decode_enum(WebhookScope, value)
            model.scope_id = d["scopeId"]
            model.active = d["active"]
            model.callback_url = d["callbackUrl"]
            model.event_types = decode_list(lambda item: decode_enum(EventType, item), d["eventTypes"])
            model.created = d["created"]
            model.modified = d["modified"]
        except KeyError:  # what is missing is as good as UNSET
            return cls.from_dict({**_REQUIRED, **d})
        known = 8
        model.additional_properties = {} if len(d) == known else unknown_of(d, _NAMES)
        return model
