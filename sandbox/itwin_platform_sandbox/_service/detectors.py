"""Create detector. Source: section 4.7."""

from .document import OperationRequest, example_of, properties_of
from .json_values import JSONObject
from .messages import ServiceResponse
from .state import Platform


def create_detector(platform: Platform, request: OperationRequest) -> ServiceResponse:
    """Store a detector without versions and return it. Source: section 4.7."""
    body, details = request.read_body()
    request.operation.reject_any(details)
    named = properties_of("Detector").items()
    # The example of a property that can be null is None.
    detector: JSONObject = {name: body.get(name) for name, each in named if name in body or example_of(each) is None}
    detector["versions"] = []
    platform.detectors.append(detector)
    return request.respond({"detector": detector})
