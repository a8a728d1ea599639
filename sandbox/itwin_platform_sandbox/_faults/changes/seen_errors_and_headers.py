"""Error codes, error bodies and headers that were observed and that the specification does not have."""

import re
from dataclasses import replace

from ..._service.messages import ServiceResponse
from ..gateway import gateway_401_body
from .context import ChangeContext, copy_of, object_at, objects_in

# (status, operation or empty for every one) -> code
SEEN_CODES = {
    (401, ""): "Unauthorized",
    (429, ""): "TooManyRequests",
    (404, "update_repository"): "iTwinNotFound",
    (404, "create_repository_resource"): "iTwinNotFound",
    (404, "create_detector"): "DetectorNotFound",
}


def errors(context: ChangeContext, response: ServiceResponse) -> ServiceResponse:
    """Change codes and omit targets; every second 401 has the body of the gateway."""
    if response.status == 401 and context.number % 2:
        return replace(response, body=gateway_401_body())
    changed, body = copy_of(response)
    error = object_at(body, "error")
    for operation in (context.operation_name, ""):
        if (response.status, operation) in SEEN_CODES:
            error["code"] = SEEN_CODES[response.status, operation]
    for detail in objects_in(error.get("details")):
        detail.pop("target", None)
    return changed


def headers(context: ChangeContext, response: ServiceResponse) -> ServiceResponse:
    """Add correlation id, media type, region, tier and, with 429, the limited scope; compress if gzip is accepted."""
    request = context.request
    correlation_id = request.headers.get("x-correlation-id") or context.platform.new_id()
    named = [name for name, _ in response.headers]
    added = [("X-ITwinPlatform-Region", "East US"), ("Tier", "Trial")]
    if "x-correlation-id" not in named:
        added.append(("x-correlation-id", correlation_id))
    vendor = re.search(r"vnd\.([a-z0-9_.-]+)\.itwin-platform", request.headers.get("accept", ""), re.IGNORECASE)
    if context.operation is not None and vendor is not None:
        media_type = f"{vendor[1]}.itwin-platform.v{context.operation.version}+json"
        added.append(("X-ITwinPlatform-Media-Type", f"application/vnd.{media_type}"))
    if response.status == 429:
        values = {"Tier": "Trial", "API": "itwins", "Operation": context.operation_name, "Application": "sandbox"}
        added += [(f"ITwinPlatform-RateLimited-{name}", value) for name, value in values.items()]
    if "gzip" in request.headers.get("accept-encoding", ""):
        added.append(("content-encoding", "gzip"))
    return replace(response, headers=(*response.headers, *added))
