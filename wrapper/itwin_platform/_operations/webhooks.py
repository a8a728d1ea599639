"""Webhooks: subscriptions that forward events to a callback URL. Source: sections 1, 2.9, 3, 4.8 and 6."""

from collections.abc import Iterable

from .._api import UNSET, EventType, Unset, Webhook, WebhookUpdate, update_webhook
from .._errors import UsageError
from .group import Group, unwrap
from .rules import check_boolean, check_path_id, check_text, refuse_none, several


class Webhooks(Group):
    """The operation on webhooks, as `platform.webhooks`. Only service applications may call it. Source: section 5."""

    async def update(
        self,
        webhook_id: str,
        *,
        active: bool | Unset = UNSET,
        callback_url: str | Unset = UNSET,
        event_types: EventType | str | Iterable[EventType | str] | Unset = UNSET,
        secret: str | Unset = UNSET,
    ) -> Webhook:
        """Changes a webhook; what is left out stays, except that the service makes a new secret where none is passed.

        It is repeated after a lost answer: the secret that the service makes is not returned, so nothing that a caller
        knows is lost by it.

        Args:
            webhook_id: the webhook.
            active: True forwards events from now on, False stops it.
            callback_url: URL receiving events.
            event_types: what to subscribe to, one or several, members or their texts.
            secret: a secret of your own; it is not part of the answer and never shows in a text of ours.

        Returns:
            The webhook as stored.

        Raises:
            UsageError: nothing to change, or a value that the service does not take.
            UnprocessableError: InvalidUpdateWebhookRequest.
            AuthenticationError, NotFoundError (WebhookNotFound), RateLimitError.

        Source: section 4.8.
        """
        check_path_id("webhook_id", webhook_id)
        if self._connection.check_requests:
            if all(isinstance(value, Unset) for value in (active, callback_url, event_types, secret)):
                raise UsageError("nothing to change: give at least one of active, callback_url, event_types, secret")
            check_boolean("active", active, code="InvalidRequestBody")
            check_text("callbackUrl", callback_url, code="InvalidRequestBody")
            refuse_none({"eventTypes": event_types}, code="InvalidRequestBody")
            check_text("secret", secret, code="InvalidRequestBody")
        body = WebhookUpdate(
            active=active,
            callback_url=callback_url,
            event_types=several("event_types", event_types, EventType),
            secret=secret,
        )
        response = await self._connection.send(update_webhook.build_request(webhook_id, body=body))
        webhook = update_webhook.parse_response(response)
        if isinstance(wrapped := webhook.additional_properties.get("webhook"), dict):
            webhook = Webhook.from_dict(wrapped)
        known = webhook.to_dict().keys() - webhook.additional_properties.keys()
        return unwrap(response, webhook if known else None, Webhook)

    async def activate(self, webhook_id: str) -> Webhook:
        """Switches forwarding on: as `update(webhook_id, active=True)`. Source: section 3."""
        return await self.update(webhook_id, active=True)

    async def deactivate(self, webhook_id: str) -> Webhook:
        """Switches forwarding off: as `update(webhook_id, active=False)`. Source: section 3."""
        return await self.update(webhook_id, active=False)
