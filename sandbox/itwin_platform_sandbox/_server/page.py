"""The page in the browser. Requests and stored data are untrusted; the template escapes them."""

import functools
import itertools
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, get_args

from .._faults.catalogue import FAULTS
from .._service.json_values import JSON, FieldError, JSONObject
from .._service.rate_limit import RETRY_AFTER_FORMS, RateKind, RateLimit
from .._service.service import OPERATIONS
from .._service.state import Platform, StoredRepository
from .journal import RecordedRequest
from .overview import counts, ids
from .running import RunningSandbox

if TYPE_CHECKING:
    from jinja2 import Template


SHOWN_ROWS = 25
SHOWN_REQUESTS = 50
LONGEST_DATA = 200
LONGEST_BODY = 2000
REFRESH_SECONDS = 5
FORM_DEFAULTS = {
    "name": "rate_limited",
    "operation": "",
    "count": "1",
    "skip": "0",
    "seconds": "",
    "retry_after": "seconds",
    "origin": "",
}

Table = tuple[str, int, Sequence[str], list[list[str]]]


@dataclass(frozen=True, slots=True, kw_only=True)
class View:
    """What the page shows: the filters of the requests, the seconds between two refreshes (0 for none), and a form."""

    operation: str = ""
    status: str = ""
    refresh: int = REFRESH_SECONDS
    form: str = ""
    values: Mapping[str, str] = field(default_factory=dict)
    error: FieldError | None = None


def view_of(query: Mapping[str, str]) -> View:
    """Return the view that the query of the page names; a wrong value is as none."""
    return View(
        operation=query.get("operation", ""),
        status=query.get("status", ""),
        refresh=0 if query.get("refresh") == "0" else REFRESH_SECONDS,
    )


def render_page(sandbox: RunningSandbox, view: View) -> str:
    """Return the page as HTML; a form with an error has the values that were typed, and the page waits for them."""
    known = {name: value for name, value in ids(sandbox).items() if isinstance(value, str)}
    latency, jitter = sandbox.latency
    defaults = {
        "fault": FORM_DEFAULTS,
        "rate": _rate_defaults(sandbox.rate),
        "latency": {"latency": f"{latency:g}", "jitter": f"{jitter:g}"},
        "snapshots": {"name": ""},
    }
    return _template().render(
        base_url=sandbox.base_url,
        token=sandbox.settings.token,
        ids=known,
        repository_ids=sandbox.seeded.repository_ids,
        counts=counts(sandbox),
        cors=sandbox.settings.cors,
        faults=sandbox.faults(),
        kinds=FAULTS,
        operations=[operation.name for operation in OPERATIONS],
        retry_after_forms=RETRY_AFTER_FORMS,
        rate_kinds=get_args(RateKind),
        rate=sandbox.rate,
        snapshots=list(sandbox.snapshots),
        forms={name: {**values, **(view.values if name == view.form else {})} for name, values in defaults.items()},
        view=view,
        refresh=0 if view.error else view.refresh,
        requests=_requests(sandbox, view),
        statuses=sorted({str(record.status or "none") for record in sandbox.recorder.records}),
        shows_bodies=sandbox.settings.bodies,
        as_json=_as_json,
        tables=_tables(sandbox.seeded.platform),
    )


def _rate_defaults(rate: RateLimit | None) -> Mapping[str, str]:
    if rate is None:
        return {"rate": "", "kind": "fixed_window", "retry_after": "seconds"}
    return {"rate": f"{rate.requests}/{rate.per:g}", "kind": rate.kind, "retry_after": rate.retry_after}


def _requests(sandbox: RunningSandbox, view: View) -> list[RecordedRequest]:
    """Return the latest requests that the filters let through, the newest first."""
    found = (
        record
        for record in reversed(sandbox.recorder.records)
        if view.operation in ("", record.operation or "none") and view.status in ("", str(record.status or "none"))
    )
    return list(itertools.islice(found, SHOWN_REQUESTS))


def _as_json(value: JSON) -> str:
    text = json.dumps(value, indent=1, ensure_ascii=False)
    return text if len(text) <= LONGEST_BODY else f"{text[:LONGEST_BODY]}..."


@functools.cache
def _template() -> "Template":
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    loader = FileSystemLoader(Path(__file__).parent)
    return Environment(loader=loader, autoescape=True, undefined=StrictUndefined).get_template("page.html.jinja")


def _tables(platform: Platform) -> list[Table]:
    repositories = [_shown_repository(stored) for stored in platform.repositories.values()]
    objects = [item for scene in platform.scenes.values() for item in scene.objects]
    return [
        _table("iTwins", platform.itwins.values(), ("displayName", "number", "subClass", "status", "id")),
        _table("repositories", repositories, ("displayName", "class", "subClass", "authentication", "resources", "id")),
        _table("scenes", [scene.content for scene in platform.scenes.values()], ("displayName", "lastModified", "id")),
        _table("scene objects", objects, ("displayName", "kind", "version", "data", "id")),
        _table("detectors", platform.detectors, ("name", "displayName", "type", "description")),
        _table(
            "webhooks",
            [webhook.content for webhook in platform.webhooks.values()],
            ("scope", "active", "callbackUrl", "eventTypes", "id"),
        ),
    ]


def _shown_repository(stored: StoredRepository) -> JSONObject:
    """Return the repository with only the type of its authentication: no secret is shown."""
    authentication = stored.content["authentication"]
    shown = authentication.get("type", "") if isinstance(authentication, dict) else ""
    return {**stored.content, "resources": ", ".join(stored.resources), "authentication": shown}


def _table(title: str, items: Iterable[JSONObject], columns: Sequence[str]) -> Table:
    everything = list(items)
    rows = [[_cell(item, column) for column in columns] for item in everything[:SHOWN_ROWS]]
    return title, len(everything), columns, rows


def _cell(item: JSONObject, column: str) -> str:
    value = item.get(column, "")
    text = value if isinstance(value, str) else json.dumps(value)
    return text if len(text) <= LONGEST_DATA else f"{text[:LONGEST_DATA]}..."
