from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Literal, TypedDict

from attrs import define as _attrs_define

from ..kinds import STRING, Table
from ..schemas import JSONModel, takes_mapping


@_attrs_define(repr=False)
class StoredQueryParameterAuthentication(JSONModel):
    """Authentication of type QueryParameter. key and value are both required for this type.

    Attributes:
        type_: Repository Authentication Type.
        key: Name of the query parameter.
        value: Value of the query parameter.
        additional_properties: the fields that the specification does not name.
    """

    type_: Literal["QueryParameter"]
    """Repository Authentication Type."""

    key: str
    """Name of the query parameter."""

    value: str
    """Value of the query parameter."""

    FIELDS: ClassVar[Table] = {
        "type": ("type_", STRING),
        "key": ("key", STRING),
        "value": ("value", STRING),
    }
    CONSTANTS: ClassVar[Mapping[str, Any]] = {"type": "QueryParameter"}
    SECRETS: ClassVar[frozenset[str]] = frozenset(["key", "value"])


class QueryParameterAuthenticationParam(TypedDict):
    """A mapping that stands for StoredQueryParameterAuthentication in a request, in the names of JSON."""

    type: Literal["QueryParameter"]
    """Repository Authentication Type."""
    key: str
    """Name of the query parameter."""
    value: str
    """Value of the query parameter."""


takes_mapping(QueryParameterAuthenticationParam)
