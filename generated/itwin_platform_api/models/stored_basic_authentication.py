from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Literal, Self, TypedDict

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..decoding import (
    blank,
    unknown_of,
)
from ..encoding import Fields
from ..schemas import JSONModel, takes_mapping
from ..unset import UNSET

_REQUIRED: dict[str, Any] = dict.fromkeys(
    (
        "type",
        "username",
        "password",
    ),
    UNSET,
)
_NAMES = frozenset(
    (
        "type",
        "username",
        "password",
    )
)


@_attrs_define(repr=False)
class StoredBasicAuthentication(JSONModel):
    """Authentication of type Basic. username and password are both required for this type.

    Attributes:
        type_: Repository Authentication Type.
        username: User name.
        password: Password.
        additional_properties: the fields that the specification does not name.
    """

    type_: Literal["Basic"]
    """Repository Authentication Type."""

    username: str
    """User name."""

    password: str
    """Password."""

    additional_properties: dict[str, Any] = _attrs_field(kw_only=True, factory=dict)

    CONSTANTS: ClassVar[Mapping[str, Any]] = {
        "type": "Basic",
    }

    SECRETS: ClassVar[frozenset[str]] = frozenset(["username", "password"])

    def wire_fields(self) -> Fields:
        """Return the fields by their names in JSON, those of models in them too. Fields that are UNSET are omitted.

        All other values stay as they are.
        """
        wire = Fields(self.additional_properties) if self.additional_properties else Fields()
        own: Any = self  # required fields, too, are UNSET where a response lacks them
        if (value := own.type_) is not UNSET:
            wire["type"] = value
        if (value := own.username) is not UNSET:
            wire["username"] = value
        if (value := own.password) is not UNSET:
            wire["password"] = value
        return wire

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        """Make a model of a JSON object. A missing field is UNSET, and a value of another type stays as it is."""
        d, model = src_dict, blank(cls)
        try:
            model.type_ = d["type"]
            model.username = d["username"]
            model.password = d["password"]
        except KeyError:  # what is missing is as good as UNSET
            return cls.from_dict({**_REQUIRED, **d})
        known = 3
        model.additional_properties = {} if len(d) == known else unknown_of(d, _NAMES)
        return model


class BasicAuthenticationParam(TypedDict):
    """A mapping that stands for StoredBasicAuthentication in a request, in the names of JSON."""

    type: Literal["Basic"]
    """Repository Authentication Type."""
    username: str
    """User name."""
    password: str
    """Password."""


takes_mapping(BasicAuthenticationParam)
