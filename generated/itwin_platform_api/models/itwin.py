from __future__ import annotations

import datetime
from typing import ClassVar, Literal, TypeAlias

from attrs import define as _attrs_define

from ..kinds import DATE_TIME, NUMBER, STRING, EnumKind, Table
from ..methods import TIMES, make_when_read
from ..models.data_center_location import DataCenterLocation
from ..models.itwin_class import ITwinClass
from ..models.itwin_status import ITwinStatus
from ..models.itwin_sub_class import ITwinSubClass
from ..schemas import JSONModel
from ..unset import UNSET, Unset


@_attrs_define(repr=False)
class ITwin(JSONModel):
    """An iTwin as listed: the full representation has all fields, the minimal representation only the required ones.
    `$select` narrows the object to the selected fields, so that required ones may be missing then.

    Attributes:
        id: iTwin id.
        class_: iTwin Class.
        sub_class: iTwin SubClass.
        type_: Open-ended type.
        number: Unique code within the organization.
        display_name: Display name.
        status: Default Active.
        geographic_location: Address or city.
        latitude: Latitude, as a double.
        longitude: Longitude, as a double.
        iana_time_zone: A valid IANA time zone id.
        data_center_location: Default `East US`.
        parent_id: Id of the parent iTwin.
        itwin_account_id: Id of the owning Account, the root of the hierarchy.
        image_name: Unique name of the image; changes only when the image changes.
        image: URL of a thumbnail, valid for at least 1 hour.
        created_date_time: When the iTwin was created.
        created_by: Id of the creating user.
        last_modified_date_time: When the iTwin was modified last.
        last_modified_by: Id of the last modifying user.
        additional_properties: the fields that the specification does not name.
    """

    id: str
    """iTwin id."""

    class_: ITwinClass
    """iTwin Class."""

    sub_class: ITwinSubClass
    """iTwin SubClass."""

    type_: None | str
    """Open-ended type."""

    number: str
    """Unique code within the organization."""

    display_name: str
    """Display name."""

    status: ITwinStatus
    """Default Active."""

    geographic_location: None | str | Unset = UNSET
    """Address or city."""

    latitude: float | None | Unset = UNSET
    """Latitude, as a double."""

    longitude: float | None | Unset = UNSET
    """Longitude, as a double."""

    iana_time_zone: None | str | Unset = UNSET
    """A valid IANA time zone id."""

    data_center_location: DataCenterLocation | Unset = UNSET
    """Default `East US`."""

    parent_id: None | str | Unset = UNSET
    """Id of the parent iTwin."""

    itwin_account_id: None | str | Unset = UNSET
    """Id of the owning Account, the root of the hierarchy."""

    image_name: None | str | Unset = UNSET
    """Unique name of the image; changes only when the image changes."""

    image: None | str | Unset = UNSET
    """URL of a thumbnail, valid for at least 1 hour."""

    created_date_time: datetime.datetime | Unset = UNSET
    """When the iTwin was created."""

    created_by: None | str | Unset = UNSET
    """Id of the creating user."""

    last_modified_date_time: datetime.datetime | Unset = UNSET
    """When the iTwin was modified last."""

    last_modified_by: None | str | Unset = UNSET
    """Id of the last modifying user."""

    FIELDS: ClassVar[Table] = {
        "id": ("id", STRING),
        "class": ("class_", EnumKind("ITwinClass")),
        "subClass": ("sub_class", EnumKind("ITwinSubClass")),
        "type": ("type_", STRING),
        "number": ("number", STRING),
        "displayName": ("display_name", STRING),
        "status": ("status", EnumKind("ITwinStatus")),
        "geographicLocation": ("geographic_location", STRING),
        "latitude": ("latitude", NUMBER),
        "longitude": ("longitude", NUMBER),
        "ianaTimeZone": ("iana_time_zone", STRING),
        "dataCenterLocation": ("data_center_location", EnumKind("DataCenterLocation")),
        "parentId": ("parent_id", STRING),
        "iTwinAccountId": ("itwin_account_id", STRING),
        "imageName": ("image_name", STRING),
        "image": ("image", STRING),
        "createdDateTime": ("created_date_time", DATE_TIME),
        "createdBy": ("created_by", STRING),
        "lastModifiedDateTime": ("last_modified_date_time", DATE_TIME),
        "lastModifiedBy": ("last_modified_by", STRING),
    }


make_when_read(ITwin, "created_date_time", TIMES)
make_when_read(ITwin, "last_modified_date_time", TIMES)

#: A documented string, or any other string.
ITwinTimeParam: TypeAlias = Literal["createdDateTime", "lastModifiedDateTime"] | str


#: A documented string, or any other string.
ITwinPropertyParam: TypeAlias = (
    Literal[
        "id",
        "class",
        "subClass",
        "type",
        "number",
        "displayName",
        "status",
        "geographicLocation",
        "latitude",
        "longitude",
        "ianaTimeZone",
        "dataCenterLocation",
        "parentId",
        "iTwinAccountId",
        "imageName",
        "image",
        "createdDateTime",
        "createdBy",
        "lastModifiedDateTime",
        "lastModifiedBy",
    ]
    | str
)


#: A documented string, or any other string.
ITwinOrderParam: TypeAlias = (
    Literal[
        "id",
        "id ASC",
        "id DESC",
        "class",
        "class ASC",
        "class DESC",
        "subClass",
        "subClass ASC",
        "subClass DESC",
        "type",
        "type ASC",
        "type DESC",
        "number",
        "number ASC",
        "number DESC",
        "displayName",
        "displayName ASC",
        "displayName DESC",
        "status",
        "status ASC",
        "status DESC",
        "geographicLocation",
        "geographicLocation ASC",
        "geographicLocation DESC",
        "latitude",
        "latitude ASC",
        "latitude DESC",
        "longitude",
        "longitude ASC",
        "longitude DESC",
        "ianaTimeZone",
        "ianaTimeZone ASC",
        "ianaTimeZone DESC",
        "dataCenterLocation",
        "dataCenterLocation ASC",
        "dataCenterLocation DESC",
        "parentId",
        "parentId ASC",
        "parentId DESC",
        "iTwinAccountId",
        "iTwinAccountId ASC",
        "iTwinAccountId DESC",
        "imageName",
        "imageName ASC",
        "imageName DESC",
        "image",
        "image ASC",
        "image DESC",
        "createdDateTime",
        "createdDateTime ASC",
        "createdDateTime DESC",
        "createdBy",
        "createdBy ASC",
        "createdBy DESC",
        "lastModifiedDateTime",
        "lastModifiedDateTime ASC",
        "lastModifiedDateTime DESC",
        "lastModifiedBy",
        "lastModifiedBy ASC",
        "lastModifiedBy DESC",
    ]
    | str
)
