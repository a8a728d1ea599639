"""Address, token, ids, settings and pending faults as JSON."""

from dataclasses import asdict

import msgspec

from .._faults.plan import fault_values
from .._service.json_values import JSON, JSONObject
from .._service.rate_limit import ServiceRateLimit
from .._service.state import Platform
from .deliveries import Delivery
from .running import DEFAULT_TOKEN, RunningSandbox


def overview(sandbox: RunningSandbox) -> JSONObject:
    """Return the body of `GET /sandbox`, which the command line prints too."""
    settings = {**msgspec.to_builtins(sandbox.settings), "latency": sandbox.latency, "rate": rate_values(sandbox.rate)}
    return {
        "base_url": sandbox.base_url,
        "control_url": f"{sandbox.address}/sandbox",
        "token": DEFAULT_TOKEN,
        "ids": ids(sandbox.platform),
        "counts": counts(sandbox),
        "settings": settings,
        "faults": [fault_values(fault) for fault in sandbox.faults()],
    }


def ids(platform: Platform) -> JSONObject:
    """Return the ids that a test starts with."""
    return {
        "account_id": platform.account_id,
        "itwin_id": platform.itwin_id,
        **{f"{kind}_id": platform.first_id(kind) for kind in ("repository", "scene", "webhook")},
        "repository_ids": {**platform.repository_ids},
        "webhook_ids": {**platform.webhook_ids},
    }


def delivery_values(delivery: Delivery) -> JSONObject:
    """Return a delivery as JSON."""
    return {**asdict(delivery), "headers": dict(delivery.headers), "body": delivery.body.decode("ascii")}


def counts(sandbox: RunningSandbox) -> JSONObject:
    """Return the number of stored items of each kind."""
    platform = sandbox.platform
    kinds = ("itwins", "repositories", "resources", "scenes", "detectors", "webhooks")
    return {
        **{name: len(getattr(platform, name)) for name in kinds},
        "scene objects": len(platform.object_ids),
        "requests": len(sandbox.recorder.records),
    }


def as_text(values: JSONObject) -> str:
    """Return the lines that the command prints after the base URL."""
    shown = values["ids"] if isinstance(values["ids"], dict) else {}
    lines = [("token", values["token"]), ("control_url", values["control_url"])]
    lines += [(name, value) for name, value in shown.items() if isinstance(value, str)]
    return "".join(f"{name:<40}{value}\n" for name, value in lines)


def rate_values(rate: ServiceRateLimit | None) -> JSON:
    """Return a rate limit as JSON."""
    values: JSON = msgspec.to_builtins(rate)
    return values
