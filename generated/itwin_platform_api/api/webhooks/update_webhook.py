from urllib.parse import quote

from ...client import AuthenticatedClient
from ...encoding import encode_parameters, encode_string, fields_of
from ...models.webhook import Webhook
from ...models.webhook_update import WebhookUpdate
from ...request import Received, RequestValues, send
from ...rules import Reject, Rule, check
from ...structures import ResponseReader
from ...types import Response

METHOD: str = "PATCH"
ROUTE: str = "/webhooks/{webhook_id}"
#: The rules of the document for each argument.
RULES: dict[str, Rule] = {
    "body": Rule(
        "",
        "object",
        required=True,
        code="InvalidRequestBody",
        properties={
            "secret": Rule("secret", "string", least=1, code="InvalidRequestBody"),
            "active": Rule("active", "boolean", code="InvalidRequestBody"),
            "callbackUrl": Rule("callback_url", "string", code="InvalidRequestBody"),
            "eventTypes": Rule(
                "event_types", "array", code="InvalidRequestBody", items=Rule("", "string", code="InvalidRequestBody")
            ),
        },
    )
}


def build_request(
    webhook_id: str,
    *,
    body: WebhookUpdate,
    accept: str = "application/vnd.{vendor}.itwin-platform.v2+json",
    reject: Reject | None = None,
) -> RequestValues:
    """Return the request as values, without sending it.

    The other arguments are those of `asyncio`.

    Args:
        reject: returns the error for an argument that breaks a rule of the document. By default, nothing is checked.
    """
    fields = fields_of(body)
    if reject is not None:
        check(RULES, {"webhook_id": webhook_id, "accept": accept, "body": fields}, reject)
    return RequestValues(
        METHOD,
        ROUTE,
        ROUTE.format(webhook_id=quote(encode_string(webhook_id), safe="")),
        {},
        encode_parameters({"Accept": accept}),
        fields,
        body,
    )


_WEBHOOK = ResponseReader(Webhook)


def parse_response(response: Received) -> Webhook:
    """Decode a success.

    Raises:
        errors.ResponseDecodeError, or the error of the client in use: the response cannot be decoded.
    """
    return _WEBHOOK.read(response)


async def asyncio_detailed(
    webhook_id: str,
    *,
    client: AuthenticatedClient,
    body: WebhookUpdate,
    accept: str = "application/vnd.{vendor}.itwin-platform.v2+json",
) -> Response[Webhook]:
    """Do the same as `asyncio`, and return the status, the headers and the bytes of the response as well."""
    values = build_request(body=body, webhook_id=webhook_id, accept=accept)
    response = await send(client.get_async_httpx_client(), values)
    return Response(response.status_code, response.content, response.headers, parse_response(response))


async def asyncio(
    webhook_id: str,
    *,
    client: AuthenticatedClient,
    body: WebhookUpdate,
    accept: str = "application/vnd.{vendor}.itwin-platform.v2+json",
) -> Webhook:
    """Update webhook

    Updates a webhook, and activates or deactivates it. A new webhook is inactive: it receives events once it is
    activated. With `active=true` an inactive webhook becomes active:
    events start being forwarded to `callbackUrl`. With `active=false` an active webhook becomes
    inactive: events stop being forwarded. Both require that the caller is authorized. Read-only
    properties must not be sent.

    Authorization: callable only by Service Applications. Bearer access token with scopes
    `itwin-platform` and `webhooks:modify`. It needs the permission `webhooks_maintainer` on the iTwin, or must be
    Organization Administrator of the owning organization.

    Args:
        webhook_id (str): Webhook id.
        accept (str): The media type that the operation returns. `{vendor}` stands for the vendor's name and is
            replaced before sending. Default: 'application/vnd.{vendor}.itwin-platform.v2+json'.
        body (WebhookUpdate): Body of update webhook (`Update Webhook Request`), all properties optional. Read-
            only properties must not be sent. Inferred: which these are.

    Raises:
        errors.ResponseDecodeError, or the error of the client in use: the response cannot be decoded.
    """
    response = await asyncio_detailed(client=client, body=body, webhook_id=webhook_id, accept=accept)
    return response.parsed
