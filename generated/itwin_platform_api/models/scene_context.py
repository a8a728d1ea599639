from __future__ import annotations

import datetime
from typing import ClassVar

from attrs import define as _attrs_define

from ..kinds import BOOLEAN, DATE_TIME, STRING, Table
from ..methods import TIMES, make_when_read
from ..schemas import JSONModel


@_attrs_define(repr=False)
class SceneContext(JSONModel):
    """The scene whose objects are listed.

    Attributes:
        display_name: Scene name.
        last_modified: Scene last modification.
        is_partial: true when some objects are withheld because of insufficient permissions.
        additional_properties: the fields that the specification does not name.
    """

    display_name: str
    """Scene name."""

    last_modified: datetime.datetime
    """Scene last modification."""

    is_partial: bool
    """true when some objects are withheld because of insufficient permissions."""

    FIELDS: ClassVar[Table] = {
        "displayName": ("display_name", STRING),
        "lastModified": ("last_modified", DATE_TIME),
        "isPartial": ("is_partial", BOOLEAN),
    }


make_when_read(SceneContext, "last_modified", TIMES)
