"""Update webhook. Source: section 4.8."""

from .credentials import WEBHOOKS_MAINTAINER, WEBHOOKS_SCOPE
from .json_values import JSON, JSONObject
from .messages import (
    Detail,
    ErrorResponse,
    InvalidRequest,
    OperationRequest,
    ServiceResponse,
    insufficient_permissions,
    read_object,
)
from .state import Platform, StoredWebhook, new_secret

INVALID = InvalidRequest(422, "InvalidUpdateWebhookRequest", "The request to update a webhook is not valid.")
READ_ONLY = ("id", "scope", "scopeId", "created", "modified")
# Source: section 6.
EVENT_TYPES = frozenset(
    {
        "iModels.iModelDeleted.v1",
        "iModels.iModelCreated.v1",
        "iModels.namedVersionCreated.v1",
        "iModels.changesReady.v1",
        "accessControl.memberAdded.v1",
        "accessControl.invitationCreated.v1",
        "accessControl.memberRemoved.v1",
        "accessControl.roleAssigned.v1",
        "accessControl.roleUnassigned.v1",
        "iTwins.iTwinCreated.v1",
        "iTwins.iTwinDeleted.v1",
        "iTwins.iTwinUpdated.v1",
        "synchronization.jobCompleted.v1",
        "transformations.jobCompleted.v1",
        "realityModeling.jobCompleted.v1",
        "realityAnalysis.jobCompleted.v1",
        "realityConversion.jobCompleted.v1",
        "changedElements.jobCompleted.v1",
    }
)


def update_webhook(platform: Platform, request: OperationRequest) -> ServiceResponse:
    """Change the fields of the body and return the webhook, without its secret. Source: section 4.8."""
    webhook = _maintainable_webhook(platform, request)
    body = read_object(request, INVALID)
    INVALID.reject_any(_problems(body))
    changes: JSONObject = {name: body[name] for name in ("active", "callbackUrl", "eventTypes") if name in body}
    content: JSONObject = {**webhook.content, **changes, "modified": platform.time()}
    secret = str(body["secret"]) if "secret" in body else new_secret(platform.random)
    changed = StoredWebhook(itwin_id=webhook.itwin_id, content=content, secret=secret)
    platform.webhooks[str(content["id"]).lower()] = changed
    return ServiceResponse(200, content)


def _maintainable_webhook(platform: Platform, request: OperationRequest) -> StoredWebhook:
    caller = request.caller
    if WEBHOOKS_SCOPE not in caller.scopes:
        raise ErrorResponse(401, "HeaderNotFound", f"The access token is missing the scope {WEBHOOKS_SCOPE}.")
    if not caller.service_application:
        raise insufficient_permissions("Webhooks are changed by service applications only.")
    webhook = platform.webhooks.get(request.path_parameters["webhookId"].lower())
    if webhook is None:
        raise ErrorResponse(404, "WebhookNotFound", "Requested webhook is not available.")
    if not caller.has_permission(WEBHOOKS_MAINTAINER, webhook.itwin_id):
        raise insufficient_permissions(f"The caller needs the permission {WEBHOOKS_MAINTAINER} on the iTwin.")
    return webhook


def _problems(body: JSONObject) -> list[Detail]:
    found = [_invalid(name, f"{name} is read-only.") for name in READ_ONLY if name in body]
    found += [
        _invalid(name, f"{name} must be a string.")
        for name in ("secret", "callbackUrl")
        if not isinstance(body.get(name, ""), str)
    ]
    if not isinstance(body.get("active", True), bool):
        found.append(_invalid("active", "active must be true or false."))
    if not _are_event_types(body.get("eventTypes", [])):
        found.append(_invalid("eventTypes", "eventTypes must be a list of the event types of the service."))
    return found


def _are_event_types(value: JSON) -> bool:
    return isinstance(value, list) and all(isinstance(item, str) and item in EVENT_TYPES for item in value)


def _invalid(target: str, message: str) -> Detail:
    return Detail("InvalidRequestBody", target, message)
