"""Enums: the values of the service description, each under a readable member name."""

import re
from typing import Any

import pytest

GIS_SUB_CLASSES = ["WebMapService", "WebFeatureService", "WebMapTileService", "ArcGIS", "UrlTemplate", "OgcApiFeatures"]

VALUES = {
    "RepositoryClass": [
        *("RealityData", "iModels", "Storage", "Forms", "Construction", "GeographicInformationSystem"),
        *("CesiumCuratedContent", "SensorData", "Subsurface", "GeospatialFeatures", "PdfPlansets", "IndexedMedia"),
    ],
    "RepositorySubClass": [*GIS_SUB_CLASSES, "Performance", "EvoWorkspace"],
    "ResourceClass": [
        *("iModels", "RealityData", "CesiumCuratedContent", "GeospatialFeatures", "PdfPlansets"),
        "GeographicInformationSystem",
    ],
    "ResourceSubClass": GIS_SUB_CLASSES,
    "ITwinClass": ["Account", "Thing", "Endeavor"],
    "ITwinSubClass": ["Account", "Portfolio", "Asset", "Program", "Project", "WorkPackage"],
    "ITwinStatus": ["Active", "Inactive", "Trial"],
    "DataCenterLocation": [
        *("East US", "North Europe", "West Europe", "Southeast Asia", "Australia East", "UK South", "Canada Central"),
        *("Central India", "Japan East"),
    ],
    "PreferredReturn": ["return=minimal", "return=representation"],
    "QueryScope": ["MemberOfiTwin", "OrganizationAdmin"],
    "SceneObjectKind": ["RepositoryResource", "View3d"],
    "DetectorType": [
        *("PhotoObjectDetector", "PhotoSegmentationDetector", "OrthophotoSegmentationDetector"),
        "PointCloudSegmentationDetector",
    ],
    "WebhookScope": ["Account", "iTwin"],
    "EventType": [
        *("iModels.iModelDeleted.v1", "iModels.iModelCreated.v1", "iModels.namedVersionCreated.v1"),
        *("iModels.changesReady.v1", "accessControl.memberAdded.v1", "accessControl.invitationCreated.v1"),
        *("accessControl.memberRemoved.v1", "accessControl.roleAssigned.v1", "accessControl.roleUnassigned.v1"),
        *("iTwins.iTwinCreated.v1", "iTwins.iTwinDeleted.v1", "iTwins.iTwinUpdated.v1"),
        *("synchronization.jobCompleted.v1", "transformations.jobCompleted.v1", "realityModeling.jobCompleted.v1"),
        *("realityAnalysis.jobCompleted.v1", "realityConversion.jobCompleted.v1", "changedElements.jobCompleted.v1"),
    ],
    "ErrorCode": [
        *("InvalidScenesRequest", "InvalidRealityAnalysisRequest", "HeaderNotFound", "InsufficientPermissions"),
        *("iTwinRepositoryNotFound", "SceneNotFound", "SceneObjectNotFound", "WebhookNotFound", "ResourceNotFound"),
        *("iTwinRepositoryExists", "iTwinRepositoryResourceExists", "SceneExists", "RequestTooLarge"),
        *("InvalidiTwinsRequest", "InvalidUpdateWebhookRequest", "RateLimitExceeded"),
    ],
    "ErrorDetailCode": [
        *("InvalidValue", "InvalidParameter", "InvalidHeaderValue", "InvalidRequestBody", "MissingRequiredProperty"),
        "OperationNotFound",
    ],
}


@pytest.mark.parametrize("name", VALUES)
def test_enum_has_its_values(schemas: dict[str, Any], name: str) -> None:
    """An enum lists the documented values in their order; a later document may have more."""
    assert schemas[name]["type"] == "string"
    assert [value for value in schemas[name]["enum"] if value in VALUES[name]] == VALUES[name]


@pytest.mark.parametrize("name", VALUES)
def test_member_names_read_as_their_values(schemas: dict[str, Any], name: str) -> None:
    """Each value has its own member name: the words of the value in upper case, joined by underscores."""
    values, member_names = schemas[name]["enum"], schemas[name]["x-enum-varnames"]
    assert len(member_names) == len(values) == len(set(member_names))
    for value, member_name in zip(values, member_names, strict=True):
        assert re.fullmatch(r"[A-Z][A-Z0-9]*(_[A-Z0-9]+)*", member_name)
        assert member_name.replace("_", "") == re.sub(r"[^A-Z0-9]", "", value.upper())


@pytest.mark.parametrize(
    ("name", "value", "member_name"),
    [
        ("RepositoryClass", "GeographicInformationSystem", "GEOGRAPHIC_INFORMATION_SYSTEM"),
        ("RepositoryClass", "iModels", "IMODELS"),
        ("RepositorySubClass", "ArcGIS", "ARCGIS"),
        ("RepositorySubClass", "OgcApiFeatures", "OGC_API_FEATURES"),
        ("ITwinSubClass", "WorkPackage", "WORK_PACKAGE"),
        ("DataCenterLocation", "East US", "EAST_US"),
        ("QueryScope", "MemberOfiTwin", "MEMBER_OF_ITWIN"),
        ("WebhookScope", "iTwin", "ITWIN"),
        ("EventType", "iModels.iModelDeleted.v1", "IMODELS_IMODEL_DELETED_V1"),
        ("EventType", "iTwins.iTwinCreated.v1", "ITWINS_ITWIN_CREATED_V1"),
        ("ErrorCode", "HeaderNotFound", "HEADER_NOT_FOUND"),
        ("ErrorCode", "InvalidiTwinsRequest", "INVALID_ITWINS_REQUEST"),
        ("ErrorCode", "iTwinRepositoryNotFound", "ITWIN_REPOSITORY_NOT_FOUND"),
    ],
)
def test_member_name_is_split_into_words(schemas: dict[str, Any], name: str, value: str, member_name: str) -> None:
    """Product names stay one word in a member name; every other word stands alone."""
    position = schemas[name]["enum"].index(value)
    assert schemas[name]["x-enum-varnames"][position] == member_name


def test_query_scope_states_its_default(schemas: dict[str, Any]) -> None:
    """The scope that the service applies when none is sent is stated with the scopes."""
    assert schemas["QueryScope"]["x-default"] == "MemberOfiTwin"
