"""The page in the browser. Requests and stored data are untrusted; the template escapes them."""

import functools
import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING

from .._faults.catalogue import FAULTS
from .._service.json_values import FieldError, JSONObject
from .._service.rate_limit import RETRY_AFTER_FORMS
from .._service.service import OPERATIONS
from .._service.state import Platform, StoredRepository
from .overview import counts, ids
from .running import RunningSandbox

if TYPE_CHECKING:
    from jinja2 import Template


SHOWN_ROWS = 25
SHOWN_REQUESTS = 50
LONGEST_DATA = 200
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


def render_page(
    sandbox: RunningSandbox, *, values: Mapping[str, str] = MappingProxyType({}), error: FieldError | None = None
) -> str:
    """Return the page as HTML; the form has `values`, and `error` is shown beside its field."""
    known = {name: value for name, value in ids(sandbox).items() if isinstance(value, str)}
    return _template().render(
        base_url=sandbox.base_url,
        token=sandbox.settings.token,
        ids=known,
        repository_ids=sandbox.seeded.repository_ids,
        counts=counts(sandbox),
        faults=sandbox.faults(),
        kinds=FAULTS,
        operations=[operation.name for operation in OPERATIONS],
        retry_after_forms=RETRY_AFTER_FORMS,
        form={**FORM_DEFAULTS, **values},
        error=error,
        requests=sandbox.recorder.records[: -SHOWN_REQUESTS - 1 : -1],
        tables=_tables(sandbox.seeded.platform),
    )


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
