from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypedDict

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..decoding import (
    blank,
    unknown_of,
)
from ..encoding import Fields, fields_of
from ..schemas import JSONModel, takes_mapping
from ..unset import UNSET, Unset

_NAMES = frozenset(
    (
        "queryParameters",
        "minimumLevel",
        "maximumLevel",
    )
)


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

    additional_properties: dict[str, Any] = _attrs_field(kw_only=True, factory=dict)

    def wire_fields(self) -> Fields:
        """Return the fields by their names in JSON, those of models in them too. Fields that are UNSET are omitted.

        All other values stay as they are.
        """
        wire = Fields(self.additional_properties) if self.additional_properties else Fields()
        own: Any = self  # required fields, too, are UNSET where a response lacks them
        if (value := own.query_parameters) is not UNSET:
            wire["queryParameters"] = fields_of(value)
        if (value := own.minimum_level) is not UNSET:
            wire["minimumLevel"] = value
        if (value := own.maximum_level) is not UNSET:
            wire["maximumLevel"] = value
        return wire

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        """Make a model of a JSON object. A missing field is UNSET, and a value of another type stays as it is."""
        d, model = src_dict, blank(cls)
        known = 3
        if "queryParameters" in d:
            value = d["queryParameters"]
            model.query_parameters = QueryParameters.from_dict(value) if isinstance(value, dict) else value
        else:
            model.query_parameters = UNSET
            known -= 1
        if "minimumLevel" in d:
            model.minimum_level = d["minimumLevel"]
        else:
            model.minimum_level = UNSET
            known -= 1
        if "maximumLevel" in d:
            model.maximum_level = d["maximumLevel"]
        else:
            model.maximum_level = UNSET
            known -= 1
        model.additional_properties = {} if len(d) == known else unknown_of(d, _NAMES)
        return model


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
