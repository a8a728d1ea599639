"""Create detector. Source: section 4.7."""

from .document import OperationRequest, properties_of
from .json_values import JSONObject
from .messages import ServiceResponse
from .state import Platform


def create_detector(platform: Platform, request: OperationRequest) -> ServiceResponse:
    """Store a detector without versions and return it. Source: section 4.7."""
    body, details = request.read_body()
    request.operation.reject_any(details)
    detector: JSONObject = {name: body.get(name) for name in properties_of("Detector")}
    detector["versions"] = []
    platform.detectors.append(detector)
    return request.respond({"detector": detector})
