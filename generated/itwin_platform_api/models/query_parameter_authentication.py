from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Literal, Self, TypedDict

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..kinds import STRING, Table
from ..schemas import JSONModel, takes_mapping
from ..unset import UNSET, Unset


@_attrs_define(repr=False, kw_only=True)
class QueryParameterAuthentication(JSONModel):
    """Authentication of type QueryParameter. key and value are both required for this type.

    Attributes:
        type_: Repository Authentication Type.
        key: Name of the query parameter.
        value: Value of the query parameter.
        additional_properties: the fields that the specification does not name.
    """

    type_: Literal["QueryParameter"] = _attrs_field(default="QueryParameter", init=False)
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
    IS_COMPLETE: ClassVar[bool] = True

    def replace(self, *, key: str | Unset = UNSET, value: str | Unset = UNSET) -> Self:
        """Return a copy with changed properties. The other properties are kept, unknown ones included."""
        return self._with(key=key, value=value)


class QueryParameterAuthenticationParam(TypedDict):
    """A mapping in place of QueryParameterAuthentication in a request, with the property names of JSON."""

    type: Literal["QueryParameter"]
    """Repository Authentication Type."""
    key: str
    """Name of the query parameter."""
    value: str
    """Value of the query parameter."""


takes_mapping(QueryParameterAuthenticationParam)
