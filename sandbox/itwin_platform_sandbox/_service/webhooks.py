"""Update webhook. Source: section 4.8."""

from .credentials import WEBHOOKS_MAINTAINER, WEBHOOKS_SCOPE
from .document import OperationRequest
from .json_values import JSONObject
from .messages import ErrorResponse, ServiceResponse, insufficient_permissions
from .state import Platform, StoredWebhook, new_secret


def update_webhook(platform: Platform, request: OperationRequest) -> ServiceResponse:
    """Change the fields of the body and return the webhook, without its secret. Source: section 4.8."""
    webhook = _maintainable_webhook(platform, request)
    body, details = request.read_body()
    request.operation.reject_any(details)
    names = request.operation.body_schema["properties"].keys() - {"secret"}
    changes: JSONObject = {name: value for name, value in body.items() if name in names}
    content: JSONObject = {**webhook.content, **changes, "modified": platform.time()}
    secret = str(body["secret"]) if "secret" in body else new_secret(platform.random)
    changed = StoredWebhook(itwin_id=webhook.itwin_id, content=content, secret=secret)
    platform.webhooks[str(content["id"]).lower()] = changed
    return request.respond(content)


def _maintainable_webhook(platform: Platform, request: OperationRequest) -> StoredWebhook:
    caller = request.caller
    if WEBHOOKS_SCOPE not in caller.rights.scopes:
        message = f"The access token is missing the scope {WEBHOOKS_SCOPE}."
        raise ErrorResponse(401, "HeaderNotFound", message)
    if not caller.rights.service_application:
        message = "Webhooks are changed by service applications only."
        raise insufficient_permissions(message)
    webhook = platform.webhooks.get(request.path_parameters["webhookId"].lower())
    if webhook is None:
        raise ErrorResponse(404, "WebhookNotFound", "Requested webhook is not available.")
    if not caller.has_permission(WEBHOOKS_MAINTAINER, webhook.itwin_id):
        message = f"The caller needs the permission {WEBHOOKS_MAINTAINER} on the iTwin."
        raise insufficient_permissions(message)
    return webhook
