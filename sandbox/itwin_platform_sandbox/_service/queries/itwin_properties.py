"""The properties of an iTwin, how they compare, and those of the summary. Source: section 2.5."""

from typing import Literal

from ..json_values import JSONObject

PropertyKind = Literal["text", "number", "time"]

ITWIN_PROPERTIES: dict[str, PropertyKind] = {
    "id": "text",
    "class": "text",
    "subClass": "text",
    "type": "text",
    "number": "text",
    "displayName": "text",
    "status": "text",
    "geographicLocation": "text",
    "latitude": "number",
    "longitude": "number",
    "ianaTimeZone": "text",
    "dataCenterLocation": "text",
    "parentId": "text",
    "iTwinAccountId": "text",
    "imageName": "text",
    "image": "text",
    "createdDateTime": "time",
    "createdBy": "text",
    "lastModifiedDateTime": "time",
    "lastModifiedBy": "text",
}
SUMMARY_PROPERTIES = ("id", "class", "subClass", "type", "number", "displayName", "status")
SUB_CLASSES = ("Account", "Portfolio", "Asset", "Program", "Project", "WorkPackage")
STATUSES = ("Active", "Inactive", "Trial")


def summary(itwin: JSONObject) -> JSONObject:
    """Return the minimal representation of an iTwin."""
    return {name: itwin[name] for name in SUMMARY_PROPERTIES}
