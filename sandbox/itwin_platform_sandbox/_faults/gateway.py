"""What the gateway in front of the service was observed to send; `openapi.yaml` does not describe it."""

from .._service.json_values import JSON


def gateway_401_body() -> JSON:
    """Return the body with which the gateway rejects a token."""
    return {"statusCode": 401, "message": "Invalid JWT."}
