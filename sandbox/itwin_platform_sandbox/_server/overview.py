"""Address, token, ids, settings and pending faults as JSON."""

from collections.abc import Mapping
from dataclasses import asdict

import msgspec

from .._faults.plan import fault_values
from .._service.credentials import Caller
from .._service.json_values import JSON, JSONObject
from .._service.rate_limit import RateLimit
from .deliveries import Delivery
from .running import DEFAULT_TOKEN, RunningSandbox

# More ids would hide those that a test starts with.
SHOWN_IDS = 100


def overview(sandbox: RunningSandbox) -> JSONObject:
    """Return the body of `GET /sandbox`, which the command line prints too."""
    settings = {**msgspec.to_builtins(sandbox.settings), **msgspec.to_builtins(sandbox.latency)}
    return {
        "base_url": sandbox.base_url,
        "control_url": f"{sandbox.address}/sandbox",
        "token": DEFAULT_TOKEN,
        "ids": ids(sandbox),
        "counts": counts(sandbox),
        "settings": {**settings, "rate": rate_values(sandbox.rate)},
        "faults": [fault_values(fault) for fault in sandbox.faults()],
        "snapshots": list(sandbox.snapshots),
    }


def ids(sandbox: RunningSandbox) -> JSONObject:
    """Return the ids that a test starts with, and the first 100 of each kind of stored data."""
    seeded, platform = sandbox.seeded, sandbox.seeded.platform
    repositories: list[JSON] = [
        {"iTwinId": stored.itwin_id, **{name: stored.content.get(name) for name in ("id", "class", "subClass")}}
        for stored in list(platform.repositories.values())[:SHOWN_IDS]
    ]
    return {
        "account_id": platform.account_id,
        "itwin_id": seeded.itwin_id,
        "repository_id": next(iter(seeded.repository_ids.values()), None),
        "scene_id": seeded.scene_id,
        "webhook_id": seeded.webhook_id,
        "repository_ids": dict(seeded.repository_ids),
        "webhook_ids": dict(webhook_ids(sandbox)),
        "itwins": [*list(platform.itwins)[:SHOWN_IDS]],
        "repositories": repositories,
        "scenes": [scene.content["id"] for scene in list(platform.scenes.values())[:SHOWN_IDS]],
        "detectors": [detector["name"] for detector in platform.detectors[:SHOWN_IDS]],
        "webhooks": [webhook.content["id"] for webhook in list(platform.webhooks.values())[:SHOWN_IDS]],
    }


def webhook_ids(sandbox: RunningSandbox) -> Mapping[str, str]:
    """Return the first webhook of each scope, `iTwin` and `Account`."""
    found: dict[str, str] = {}
    for webhook in sandbox.seeded.platform.webhooks.values():
        found.setdefault(str(webhook.content["scope"]), str(webhook.content["id"]))
    return found


def delivery_values(delivery: Delivery) -> JSONObject:
    """Return a delivery as JSON."""
    return {**asdict(delivery), "headers": dict(delivery.headers), "body": delivery.body.decode("ascii")}


def counts(sandbox: RunningSandbox) -> JSONObject:
    """Return the number of stored items of each kind."""
    platform = sandbox.seeded.platform
    return {
        "itwins": len(platform.itwins),
        "repositories": len(platform.repositories),
        "scenes": len(platform.scenes),
        "scene objects": sum(len(scene.objects) for scene in platform.scenes.values()),
        "detectors": len(platform.detectors),
        "webhooks": len(platform.webhooks),
        "requests": len(sandbox.recorder.records),
    }


def as_text(values: JSONObject) -> str:
    """Return the lines that the command prints after the base URL."""
    shown = values["ids"] if isinstance(values["ids"], dict) else {}
    lines = [("token", values["token"]), ("control_url", values["control_url"])]
    lines += [(name, value) for name, value in shown.items() if isinstance(value, str)]
    repository_ids = shown.get("repository_ids")
    if isinstance(repository_ids, dict):
        lines += [(f"repository {kind}", value) for kind, value in repository_ids.items()]
    for name in ("scenes", "detectors", "webhooks"):
        stored_ids = shown.get(name)
        lines += [(name.removesuffix("s"), value) for value in stored_ids] if isinstance(stored_ids, list) else []
    return "".join(f"{name:<40}{value}\n" for name, value in lines)


def rate_values(rate: RateLimit | None) -> JSON:
    """Return a rate limit as JSON."""
    values: JSON = msgspec.to_builtins(rate)
    return values


def token_values(token: str, caller: Caller, now: float) -> JSONObject:
    """Return a token and the rights of its caller as JSON, in the names of `add_token`."""
    return {
        "token": token,
        "organization_administrator": caller.organization_administrator,
        "service_application": caller.service_application,
        "permissions": [*sorted(caller.permissions)],
        "scopes": [*sorted(caller.scopes)],
        "member_of": None if caller.member_of is None else [*sorted(caller.member_of)],
        "organization": caller.personal_account_id is None,
        "expires_in": None if caller.expires_at is None else caller.expires_at - now,
    }
