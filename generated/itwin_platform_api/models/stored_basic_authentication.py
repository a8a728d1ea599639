from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Literal, TypedDict

from attrs import define as _attrs_define

from ..kinds import STRING, Table
from ..schemas import JSONModel, takes_mapping


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

    FIELDS: ClassVar[Table] = {
        "type": ("type_", STRING),
        "username": ("username", STRING),
        "password": ("password", STRING),
    }
    CONSTANTS: ClassVar[Mapping[str, Any]] = {"type": "Basic"}
    SECRETS: ClassVar[frozenset[str]] = frozenset(["username", "password"])


class BasicAuthenticationParam(TypedDict):
    """A mapping that stands for StoredBasicAuthentication in a request, in the names of JSON."""

    type: Literal["Basic"]
    """Repository Authentication Type."""
    username: str
    """User name."""
    password: str
    """Password."""


takes_mapping(BasicAuthenticationParam)
