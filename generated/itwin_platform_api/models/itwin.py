from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import Any, Literal, Self, TypeAlias

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..decoding import (
    blank,
    decode_datetime,
    decode_enum,
    members_of,
    unknown_of,
)
from ..encoding import Fields
from ..models.data_center_location import DataCenterLocation
from ..models.itwin_class import ITwinClass
from ..models.itwin_status import ITwinStatus
from ..models.itwin_sub_class import ITwinSubClass
from ..schemas import JSONModel
from ..unset import UNSET, Unset

_ITwinClass = members_of(ITwinClass)
_ITwinSubClass = members_of(ITwinSubClass)
_ITwinStatus = members_of(ITwinStatus)
_DataCenterLocation = members_of(DataCenterLocation)
_REQUIRED: dict[str, Any] = dict.fromkeys(
    (
        "id",
        "class",
        "subClass",
        "type",
        "number",
        "displayName",
        "status",
    ),
    UNSET,
)
_NAMES = frozenset(
    (
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
    )
)


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

    additional_properties: dict[str, Any] = _attrs_field(kw_only=True, factory=dict)

    def wire_fields(self) -> Fields:
        """Return the fields by their names in JSON, those of models in them too. Fields that are UNSET are omitted.

        All other values stay as they are.
        """
        wire = Fields(self.additional_properties) if self.additional_properties else Fields()
        own: Any = self  # required fields, too, are UNSET where a response lacks them
        if (value := own.id) is not UNSET:
            wire["id"] = value
        if (value := own.class_) is not UNSET:
            wire["class"] = value
        if (value := own.sub_class) is not UNSET:
            wire["subClass"] = value
        if (value := own.type_) is not UNSET:
            wire["type"] = value
        if (value := own.number) is not UNSET:
            wire["number"] = value
        if (value := own.display_name) is not UNSET:
            wire["displayName"] = value
        if (value := own.status) is not UNSET:
            wire["status"] = value
        if (value := own.geographic_location) is not UNSET:
            wire["geographicLocation"] = value
        if (value := own.latitude) is not UNSET:
            wire["latitude"] = value
        if (value := own.longitude) is not UNSET:
            wire["longitude"] = value
        if (value := own.iana_time_zone) is not UNSET:
            wire["ianaTimeZone"] = value
        if (value := own.data_center_location) is not UNSET:
            wire["dataCenterLocation"] = value
        if (value := own.parent_id) is not UNSET:
            wire["parentId"] = value
        if (value := own.itwin_account_id) is not UNSET:
            wire["iTwinAccountId"] = value
        if (value := own.image_name) is not UNSET:
            wire["imageName"] = value
        if (value := own.image) is not UNSET:
            wire["image"] = value
        if (value := own.created_date_time) is not UNSET:
            wire["createdDateTime"] = value
        if (value := own.created_by) is not UNSET:
            wire["createdBy"] = value
        if (value := own.last_modified_date_time) is not UNSET:
            wire["lastModifiedDateTime"] = value
        if (value := own.last_modified_by) is not UNSET:
            wire["lastModifiedBy"] = value
        return wire

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        """Make a model of a JSON object. A missing field is UNSET, and a value of another type stays as it is."""
        d, model = src_dict, blank(cls)
        try:
            model.id = d["id"]
            value = d["class"]
            try:
                model.class_ = _ITwinClass[value]
            except (KeyError, TypeError):
                model.class_ = decode_enum(ITwinClass, value)
            value = d["subClass"]
            try:
                model.sub_class = _ITwinSubClass[value]
            except (KeyError, TypeError):
                model.sub_class = decode_enum(ITwinSubClass, value)
            model.type_ = d["type"]
            model.number = d["number"]
            model.display_name = d["displayName"]
            value = d["status"]
            try:
                model.status = _ITwinStatus[value]
            except (KeyError, TypeError):
                model.status = decode_enum(ITwinStatus, value)
        except KeyError:  # what is missing is as good as UNSET
            return cls.from_dict({**_REQUIRED, **d})
        known = 20
        if "geographicLocation" in d:
            model.geographic_location = d["geographicLocation"]
        else:
            model.geographic_location = UNSET
            known -= 1
        if "latitude" in d:
            model.latitude = d["latitude"]
        else:
            model.latitude = UNSET
            known -= 1
        if "longitude" in d:
            model.longitude = d["longitude"]
        else:
            model.longitude = UNSET
            known -= 1
        if "ianaTimeZone" in d:
            model.iana_time_zone = d["ianaTimeZone"]
        else:
            model.iana_time_zone = UNSET
            known -= 1
        if "dataCenterLocation" in d:
            value = d["dataCenterLocation"]
            try:
                model.data_center_location = _DataCenterLocation[value]
            except (KeyError, TypeError):
                model.data_center_location = decode_enum(DataCenterLocation, value)
        else:
            model.data_center_location = UNSET
            known -= 1
        if "parentId" in d:
            model.parent_id = d["parentId"]
        else:
            model.parent_id = UNSET
            known -= 1
        if "iTwinAccountId" in d:
            model.itwin_account_id = d["iTwinAccountId"]
        else:
            model.itwin_account_id = UNSET
            known -= 1
        if "imageName" in d:
            model.image_name = d["imageName"]
        else:
            model.image_name = UNSET
            known -= 1
        if "image" in d:
            model.image = d["image"]
        else:
            model.image = UNSET
            known -= 1
        if "createdDateTime" in d:
            model.created_date_time = decode_datetime(d["createdDateTime"])
        else:
            model.created_date_time = UNSET
            known -= 1
        if "createdBy" in d:
            model.created_by = d["createdBy"]
        else:
            model.created_by = UNSET
            known -= 1
        if "lastModifiedDateTime" in d:
            model.last_modified_date_time = decode_datetime(d["lastModifiedDateTime"])
        else:
            model.last_modified_date_time = UNSET
            known -= 1
        if "lastModifiedBy" in d:
            model.last_modified_by = d["lastModifiedBy"]
        else:
            model.last_modified_by = UNSET
            known -= 1
        model.additional_properties = {} if len(d) == known else unknown_of(d, _NAMES)
        return model


#: A string that the document names, or any other.
ITwinTimeParam: TypeAlias = Literal["createdDateTime", "lastModifiedDateTime"] | str


#: A string that the document names, or any other.
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


#: A string that the document names, or any other.
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
