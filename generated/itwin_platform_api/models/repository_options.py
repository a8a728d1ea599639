from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar, Self, TypedDict

from attrs import define as _attrs_define

from ..kinds import NUMBER, OBJECT, Table
from ..schemas import JSONModel, takes_mapping
from ..unset import UNSET, Unset


@_attrs_define(repr=False, kw_only=True)
class RepositoryOptions(JSONModel):
    """Options of a repository. The object is sent in full when changed.

    Attributes:
        query_parameters: Applies to all GIS repositories. Query parameters added to the uri on each request.
        minimum_level: Applies to UrlTemplate. Minimum level of detail that can be requested. Range 0 to 24
            inclusive.
        maximum_level: Applies to UrlTemplate. Maximum level of detail that can be requested. Range 0 to 24
            inclusive.
        additional_properties: the fields that the specification does not name.
    """

    query_parameters: Mapping[str, object] | None
    """Applies to all GIS repositories. Query parameters added to the uri on each request."""

    minimum_level: int | None
    """Applies to UrlTemplate. Minimum level of detail that can be requested. Range 0 to 24 inclusive."""

    maximum_level: int | None
    """Applies to UrlTemplate. Maximum level of detail that can be requested. Range 0 to 24 inclusive."""

    FIELDS: ClassVar[Table] = {
        "queryParameters": ("query_parameters", OBJECT),
        "minimumLevel": ("minimum_level", NUMBER),
        "maximumLevel": ("maximum_level", NUMBER),
    }
    IS_COMPLETE: ClassVar[bool] = True
    OPTIONAL: ClassVar[frozenset[str]] = frozenset(["query_parameters", "minimum_level", "maximum_level"])

    def replace(
        self,
        *,
        query_parameters: Mapping[str, object] | None | Unset = UNSET,
        minimum_level: int | None | Unset = UNSET,
        maximum_level: int | None | Unset = UNSET,
    ) -> Self:
        """Return a copy with changed properties. The other properties are kept, unknown ones included."""
        return self._with(query_parameters=query_parameters, minimum_level=minimum_level, maximum_level=maximum_level)


class RepositoryOptionsParam(TypedDict):
    """A mapping in place of RepositoryOptions in a request, with the property names of JSON."""

    queryParameters: Mapping[str, object] | None
    """Applies to all GIS repositories. Query parameters added to the uri on each request."""
    minimumLevel: int | None
    """Applies to UrlTemplate. Minimum level of detail that can be requested. Range 0 to 24 inclusive."""
    maximumLevel: int | None
    """Applies to UrlTemplate. Maximum level of detail that can be requested. Range 0 to 24 inclusive."""


takes_mapping(RepositoryOptionsParam)
