"""Webhooks: subscriptions that forward events to a callback URL. Source: sections 1, 2.9, 3, 4.8 and 6."""

from collections.abc import Iterable

from itwin_platform_api import models
from itwin_platform_api.api.webhooks import update_webhook
from itwin_platform_api.kinds import ModelKind
from itwin_platform_api.structures import decode_value
from itwin_platform_api.types import UNSET, Unset

from .._requests.sender import ErrorsOfCall, unwrap
from . import Group, as_list, check_id


# Source: section 5.
class Webhooks(Group):
    """The operation on webhooks, as `platform.webhooks`. Only service applications may call it."""

    async def update(
        self,
        webhook_id: str,
        *,
        active: bool | Unset = UNSET,
        callback_url: str | Unset = UNSET,
        event_types: models.EventTypeParam | Iterable[models.EventTypeParam] | Unset = UNSET,
        secret: str | Unset = UNSET,
    ) -> models.Webhook:
        """Update a webhook. Properties that you omit keep their values, except the secret.

        If you omit `secret`, the service generates a new one and never returns it. An update is retried
        if its response is lost. Without `secret`, each attempt that arrives then generates another one.

        Args:
            webhook_id: the webhook.
            active: True forwards events from now on, False stops it.
            callback_url: URL receiving events.
            event_types: the event types to subscribe to: one or an iterable, members or their strings.
            secret: the secret that signs the events of the webhook. It is not part of the response, of a log line or of
                an error.

        Returns:
            The webhook as stored.

        Raises:
            UsageError: nothing to change, or a value that the service does not accept.
            UnprocessableError: the service rejects a value (`InvalidUpdateWebhookRequest`).
            NotFoundError: there is no such webhook (`WebhookNotFound`).
            PlatformError: the errors of every call: AuthenticationError, RateLimitError, ServerError, TokenError,
                NotSentError, OutcomeUnknownError, DeadlineExceededError, ResponseDecodeError.

        Example:
            ```python
            webhook = await platform.webhooks.update(
                webhook_id,
                callback_url="https://service.example.com/events",
                secret="made-up-and-at-least-32-characters",
            )
            print(webhook.active)
            ```

        Source: section 4.8, update_webhook on the specification page of the documentation.
        """
        try:
            with ErrorsOfCall(update_webhook.METHOD, update_webhook.ROUTE):
                check_id("webhook_id", webhook_id)
                self._check_changes(active=active, callback_url=callback_url, event_types=event_types, secret=secret)
                body = models.WebhookUpdate(
                    active=active,
                    callback_url=callback_url,
                    event_types=as_list("event_types", event_types),
                    secret=secret,
                )
                values = update_webhook.build_request(webhook_id, body=body, reject=self._reject)
        finally:
            del secret  # error trackers capture the variables of frames
        response = await self._sender.send(values)
        webhook = update_webhook.parse_response(response)
        if isinstance(wrapped := webhook.additional_properties.get("webhook"), dict):
            inner: models.Webhook = decode_value(ModelKind("Webhook"), wrapped, response, place="webhook")
            webhook = inner
        known = webhook.to_dict().keys() - webhook.additional_properties.keys()
        return unwrap(response, webhook if known else None, models.Webhook)

    async def activate(self, webhook_id: str, *, secret: str | Unset = UNSET) -> models.Webhook:
        """Switch forwarding on: the same as `update(webhook_id, active=True, secret=secret)`.

        Args:
            webhook_id: the webhook.
            secret: your secret. Without it the service generates a new one, and you cannot verify deliveries any more.

        Returns:
            The webhook as stored.

        Raises:
            UsageError: the id is not a string, or would change the path.
            UnprocessableError: the service rejects a value (`InvalidUpdateWebhookRequest`).
            NotFoundError: there is no such webhook (`WebhookNotFound`).
            PlatformError: the errors of every call: AuthenticationError, RateLimitError, ServerError, TokenError,
                NotSentError, OutcomeUnknownError, DeadlineExceededError, ResponseDecodeError.

        Example:
            ```python
            webhook = await platform.webhooks.activate(
                webhook_id, secret="made-up-and-at-least-32-characters"
            )
            print(webhook.active)
            ```

        Source: section 4.8, update_webhook on the specification page of the documentation.
        """
        return await self.update(webhook_id, active=True, secret=secret)

    async def deactivate(self, webhook_id: str, *, secret: str | Unset = UNSET) -> models.Webhook:
        """Switch forwarding off: the same as `update(webhook_id, active=False, secret=secret)`.

        Args:
            webhook_id: the webhook.
            secret: your secret. Without it the service generates a new one, and you cannot verify deliveries any more.

        Returns:
            The webhook as stored.

        Raises:
            UsageError: the id is not a string, or would change the path.
            UnprocessableError: the service rejects a value (`InvalidUpdateWebhookRequest`).
            NotFoundError: there is no such webhook (`WebhookNotFound`).
            PlatformError: the errors of every call: AuthenticationError, RateLimitError, ServerError, TokenError,
                NotSentError, OutcomeUnknownError, DeadlineExceededError, ResponseDecodeError.

        Example:
            ```python
            webhook = await platform.webhooks.deactivate(
                webhook_id, secret="made-up-and-at-least-32-characters"
            )
            print(webhook.active)
            ```

        Source: section 4.8, update_webhook on the specification page of the documentation.
        """
        return await self.update(webhook_id, active=False, secret=secret)
