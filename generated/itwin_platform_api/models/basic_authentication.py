from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Literal, Self, TypedDict

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..kinds import STRING, Table
from ..schemas import JSONModel, takes_mapping
from ..unset import UNSET, Unset


@_attrs_define(repr=False, kw_only=True)
class BasicAuthentication(JSONModel):
    """Authentication of type Basic. username and password are both required for this type.

    Attributes:
        type_: Repository Authentication Type.
        username: User name.
        password: Password.
        additional_properties: the fields that the specification does not name.
    """

    type_: Literal["Basic"] = _attrs_field(default="Basic", init=False)
    """Repository Authentication Type."""

    username: str
    """User name."""

    password: str
    """Password."""

    FIELDS: ClassVar[Table] = {
        "type": ("type_", STRING),
        "username": ("username", STRING),
        "password": ("password", STRING),
    }
    CONSTANTS: ClassVar[Mapping[str, Any]] = {"type": "Basic"}
    SECRETS: ClassVar[frozenset[str]] = frozenset(["username", "password"])
    IS_COMPLETE: ClassVar[bool] = True

    def replace(self, *, username: str | Unset = UNSET, password: str | Unset = UNSET) -> Self:
        """Return a copy with changed properties. The other properties are kept, unknown ones included."""
        return self._with(username=username, password=password)


class BasicAuthenticationParam(TypedDict):
    """A mapping in place of BasicAuthentication in a request, with the property names of JSON."""

    type: Literal["Basic"]
    """Repository Authentication Type."""
    username: str
    """User name."""
    password: str
    """Password."""


takes_mapping(BasicAuthenticationParam)
