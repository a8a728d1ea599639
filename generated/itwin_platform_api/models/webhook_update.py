from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Self

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..decoding import (
    blank,
    decode_enum,
    decode_list,
    unknown_of,
)
from ..encoding import Fields
from ..models.event_type import EventType
from ..schemas import JSONModel
from ..unset import UNSET, Unset

_NAMES = frozenset(
    (
        "secret",
        "active",
        "callbackUrl",
        "eventTypes",
    )
)


@_attrs_define(repr=False)
class WebhookUpdate(JSONModel):
    """Body of update webhook (`Update Webhook Request`), all properties optional. Read-only properties must not be
    sent. Inferred: which these are.

    Attributes:
        secret: If none is passed, one is generated. Not part of the returned webhook.
        active: true activates, false deactivates.
        callback_url: URL receiving events.
        event_types: Event types to subscribe to.
        additional_properties: the fields that the specification does not name.
    """

    secret: str | Unset = UNSET
    """If none is passed, one is generated. Not part of the returned webhook."""

    active: bool | Unset = UNSET
    """true activates, false deactivates."""

    callback_url: str | Unset = UNSET
    """URL receiving events."""

    event_types: list[EventType] | Unset = UNSET
    """Event types to subscribe to."""

    additional_properties: dict[str, Any] = _attrs_field(kw_only=True, factory=dict)

    SECRETS: ClassVar[frozenset[str]] = frozenset(["secret"])

    def wire_fields(self) -> Fields:
        """Return the fields by their names in JSON, those of models in them too. Fields that are UNSET are omitted.

        All other values stay as they are.
        """
        wire = Fields(self.additional_properties) if self.additional_properties else Fields()
        own: Any = self  # required fields, too, are UNSET where a response lacks them
        if (value := own.secret) is not UNSET:
            wire["secret"] = value
        if (value := own.active) is not UNSET:
            wire["active"] = value
        if (value := own.callback_url) is not UNSET:
            wire["callbackUrl"] = value
        if (value := own.event_types) is not UNSET:
            wire["eventTypes"] = value
        return wire

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        """Make a model of a JSON object. A missing field is UNSET, and a value of another type stays as it is."""
        d, model = src_dict, blank(cls)
        known = 4
        if "secret" in d:
            model.secret = d["secret"]
        else:
            model.secret = UNSET
            known -= 1
        if "active" in d:
            model.active = d["active"]
        else:
            model.active = UNSET
            known -= 1
        if "callbackUrl" in d:
            model.callback_url = d["callbackUrl"]
        else:
            model.callback_url = UNSET
            known -= 1
        if "eventTypes" in d:
            model.event_types = decode_list(lambda item: decode_enum(EventType, item), d["eventTypes"])
        else:
            model.event_types = UNSET
            known -= 1
        model.additional_properties = {} if len(d) == known else unknown_of(d, _NAMES)
        return model
