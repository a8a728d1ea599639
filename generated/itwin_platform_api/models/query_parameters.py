from __future__ import annotations

from typing import ClassVar

from attrs import define as _attrs_define

from ..kinds import Table
from ..schemas import JSONModel


@_attrs_define(repr=False)
class QueryParameters(JSONModel):
    """Query parameters added to the uri of a GIS repository on each request. Types of the values: not documented.

    Attributes:
        additional_properties: the fields that the specification does not name.
    """

    FIELDS: ClassVar[Table] = {}
