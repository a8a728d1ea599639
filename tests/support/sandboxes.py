"""Sandboxes for a test, their HTTP clients, and their errors as text."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import httpx
from itwin_platform_sandbox import Sandbox

from tests.support.operations import OPERATIONS


def client_of(sandbox: Sandbox) -> httpx.AsyncClient:
    """Return an HTTP client of a running sandbox, with its token."""
    headers = {"Authorization": f"Bearer {sandbox.token}", "Accept": "application/json"}
    # Reading certificates takes longer than most tests, and plain http needs none.
    return httpx.AsyncClient(base_url=sandbox.base_url, headers=headers, verify=False)  # noqa: S501


def variables_of(sandbox: Sandbox) -> dict[str, str]:
    """Return the environment variables of a program that calls a sandbox."""
    values = {"BASE_URL": sandbox.base_url, "VENDOR": "sandbox", "TOKEN": sandbox.token}
    return {f"ITWIN_PLATFORM_{name}": value for name, value in values.items()}


@asynccontextmanager
async def serving(**arguments: Any) -> AsyncIterator[tuple[Sandbox, httpx.AsyncClient]]:
    """Run a sandbox, by default with one iTwin, and an HTTP client of it."""
    settings: dict[str, Any] = {"itwins": 1, "objects": 0, **arguments}
    async with Sandbox(**settings) as sandbox, client_of(sandbox) as http:
        yield sandbox, http


def ids_of(sandbox: Sandbox) -> dict[str, str]:
    """Return the seeded ids by the names of path parameters."""
    names = {"iTwinId": "itwin_id", "repositoryId": "repository_id", "sceneId": "scene_id", "webhookId": "webhook_id"}
    return {parameter: getattr(sandbox, name) for parameter, name in names.items()}


def requests_of(sandbox: Sandbox) -> dict[str, tuple[str, str]]:
    """Return method and path of each operation, for the seeded ids, by the name of the operation."""
    ids = ids_of(sandbox)
    found: dict[str, tuple[str, str]] = {}
    for name, operation in OPERATIONS.items():
        needed = [each["name"] for each in operation.parameters if each["in"] == "query" and each.get("required")]
        query = "&".join(f"{name}={ids[name]}" for name in needed)
        found[name] = operation.method, f"{operation.path.format(**ids)}{'?' if query else ''}{query}"
    return found


def error_of(response: httpx.Response) -> str:
    """Return status and code of an error, with the code and target of each detail, after a check of its form."""
    body = response.json()
    error = body["error"]
    assert (body.keys(), error.keys()) == ({"error"}, {"code", "message", "target", "details"})
    assert all(detail.keys() == {"code", "message", "target"} for detail in error["details"])
    assert all(item["message"] for item in (error, *error["details"]))
    details = [" ".join(filter(None, (detail["code"], detail["target"]))) for detail in error["details"]]
    return ", ".join([f"{response.status_code} {error['code']}", *details])
