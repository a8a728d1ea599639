"""Create detector. Source: section 4.7."""

from .json_values import JSON, JSONObject
from .messages import Detail, InvalidRequest, OperationRequest, ServiceResponse, read_object
from .state import Platform

INVALID = InvalidRequest(400, "InvalidRealityAnalysisRequest", "The request to create a detector is not valid.")
DETECTOR_TYPES = (
    "PhotoObjectDetector",
    "PhotoSegmentationDetector",
    "OrthophotoSegmentationDetector",
    "PointCloudSegmentationDetector",
)


def create_detector(platform: Platform, request: OperationRequest) -> ServiceResponse:
    """Store a detector without versions and return it. Source: section 4.7."""
    body = read_object(request, INVALID)
    INVALID.reject_any(_problems(body))
    detector: JSONObject = {
        "name": body["name"],
        "displayName": body.get("displayName"),
        "description": body.get("description"),
        "type": body["type"],
        "documentationUrl": body.get("documentationUrl"),
        "versions": [],
    }
    platform.detectors.append(detector)
    return ServiceResponse(201, {"detector": detector})


def _problems(body: JSONObject) -> list[Detail]:
    found = []
    if not isinstance(body.get("name"), str):
        found.append(_invalid("name", "name is required and must be a string."))
    if not _is_detector_type(body.get("type")):
        found.append(_invalid("type", f"type must be one of {', '.join(DETECTOR_TYPES)}."))
    found += [
        _invalid(name, f"{name} must be a string or null.")
        for name in ("displayName", "description", "documentationUrl")
        if not isinstance(body.get(name), str | None)
    ]
    return found


def _is_detector_type(value: JSON) -> bool:
    return isinstance(value, str) and value in DETECTOR_TYPES


def _invalid(name: str, message: str) -> Detail:
    return Detail("InvalidValue", f"detector.{name}", message)
