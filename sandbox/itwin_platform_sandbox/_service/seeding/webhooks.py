"""Two inactive webhooks. Source: sections 2.9 and 3."""

import random
from datetime import UTC, datetime

from ..state import Platform, StoredWebhook, new_uuid, time_text

CREATED = datetime(2024, 2, 29, 23, 59, 59, tzinfo=UTC)


def seed_webhooks(platform: Platform, itwin_id: str, source: random.Random) -> str:
    """Store one webhook of the iTwin and one of the account; return the id of the first."""
    ids = []
    for scope, scope_id in (("iTwin", itwin_id), ("Account", platform.account_id)):
        webhook_id = new_uuid(source)
        platform.webhooks[webhook_id] = StoredWebhook(
            itwin_id=scope_id,
            content={
                "id": webhook_id,
                "scope": scope,
                "scopeId": scope_id,
                "active": False,
                "callbackUrl": f"https://hooks.example.com/{scope.lower()}",
                "eventTypes": ["iModels.iModelDeleted.v1", "iTwins.iTwinUpdated.v1"],
                "created": time_text(CREATED),
                "modified": time_text(CREATED),
            },
        )
        ids.append(webhook_id)
    return ids[0]
