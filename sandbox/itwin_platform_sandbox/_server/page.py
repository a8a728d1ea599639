"""The page in the browser: everything on it that was sent or stored is untrusted, and escaped by the template."""

import functools
import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from .._faults.plan import FAULTS, Fault
from .._service.json_values import JSONObject
from .._service.operation_table import OPERATIONS
from .._service.retry_after import RETRY_AFTER_FORMS
from .._service.state import Platform, StoredRepository
from .control import CLEAR_PATH, FAULTS_PATH
from .records import RecordedRequest

if TYPE_CHECKING:
    from jinja2 import Template

SHOWN_ROWS = 25
SHOWN_REQUESTS = 50
LONGEST_DATA = 200

Table = tuple[str, int, Sequence[str], list[list[str]]]


def render_page(
    *, base_url: str, platform: Platform, faults: Sequence[Fault], requests: Sequence[RecordedRequest]
) -> str:
    """The page as HTML."""
    tables = _tables(platform)
    return _template().render(
        base_url=base_url,
        counts=[(title, total) for title, total, _, _ in tables],
        faults=faults,
        faults_path=FAULTS_PATH,
        clear_path=CLEAR_PATH,
        kinds=FAULTS,
        operations=[operation.name for operation in OPERATIONS],
        retry_after_forms=RETRY_AFTER_FORMS,
        requests=requests[: -SHOWN_REQUESTS - 1 : -1],
        tables=tables,
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
    """The repository with only the type of its authentication: secrets are not shown."""
    authentication = stored.content["authentication"]
    shown = authentication["type"] if isinstance(authentication, dict) else ""
    return {**stored.content, "resources": ", ".join(stored.resources), "authentication": shown}


def _table(title: str, items: Iterable[JSONObject], columns: Sequence[str]) -> Table:
    everything = list(items)
    rows = [[_cell(item, column) for column in columns] for item in everything[:SHOWN_ROWS]]
    return title, len(everything), columns, rows


def _cell(item: JSONObject, column: str) -> str:
    value = item.get(column, "")
    text = value if isinstance(value, str) else json.dumps(value)
    return text if len(text) <= LONGEST_DATA else f"{text[:LONGEST_DATA]}..."
