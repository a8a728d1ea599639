from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar, TypedDict

from attrs import define as _attrs_define

from ..kinds import NUMBER, ModelKind, Table
from ..schemas import JSONModel, takes_mapping
from ..unset import UNSET, Unset


@_attrs_define(repr=False)
class StoredRepositoryOptions(JSONModel):
    """Options of a repository. The object is sent in full when changed.

    Attributes:
        query_parameters: Applies to all GIS repositories. Query parameters added to the uri on each request.
        minimum_level: Applies to UrlTemplate. Minimum level of detail that can be requested. Range 0 to 24
            inclusive.
        maximum_level: Applies to UrlTemplate. Maximum level of detail that can be requested. Range 0 to 24
            inclusive.
        additional_properties: the fields that the specification does not name.
    """

    query_parameters: QueryParameters | Unset = UNSET
    """Applies to all GIS repositories. Query parameters added to the uri on each request."""

    minimum_level: int | Unset = UNSET
    """Applies to UrlTemplate. Minimum level of detail that can be requested. Range 0 to 24 inclusive."""

    maximum_level: int | Unset = UNSET
    """Applies to UrlTemplate. Maximum level of detail that can be requested. Range 0 to 24 inclusive."""

    FIELDS: ClassVar[Table] = {
        "queryParameters": ("query_parameters", ModelKind("QueryParameters")),
        "minimumLevel": ("minimum_level", NUMBER),
        "maximumLevel": ("maximum_level", NUMBER),
    }


# Below the class, so that models may name each other; once, and not in each call.
from ..models.query_parameters import QueryParameters  # noqa: E402


class RepositoryOptionsParam(TypedDict):
    """A mapping that stands for StoredRepositoryOptions in a request, in the names of JSON."""

    queryParameters: Mapping[str, object] | None
    """Applies to all GIS repositories. Query parameters added to the uri on each request."""
    minimumLevel: int | None
    """Applies to UrlTemplate. Minimum level of detail that can be requested. Range 0 to 24 inclusive."""
    maximumLevel: int | None
    """Applies to UrlTemplate. Maximum level of detail that can be requested. Range 0 to 24 inclusive."""


takes_mapping(RepositoryOptionsParam)
