"""`/sandbox`, `/sandbox/reset`, `/sandbox/snapshots` and `/sandbox/restore`: what the sandbox stores."""

from itertools import count
from typing import TYPE_CHECKING

from starlette.requests import Request
from starlette.responses import Response

from ..._service.fields import FieldError, read_fields, read_string
from ..overview import overview
from .json_messages import json_body, json_response

if TYPE_CHECKING:
    from ..running import RunningSandbox


async def show_overview(sandbox: "RunningSandbox", _: Request) -> Response:
    """Return address, token, ids and settings."""
    return json_response(overview(sandbox))


async def reset(sandbox: "RunningSandbox", _: Request) -> Response:
    """Restore the state of the start."""
    sandbox.reset()
    return json_response(overview(sandbox))


async def list_snapshots(sandbox: "RunningSandbox", _: Request) -> Response:
    """Return the names of the snapshots."""
    return json_response({"snapshots": [*sandbox.snapshots]})


async def take_snapshot(sandbox: "RunningSandbox", request: Request) -> Response:
    """Keep a copy of the stored data by name; without a name, by number."""
    values = read_fields(await json_body(request, empty={}), ("name",))
    numbers = map(str, count(len(sandbox.snapshots) + 1))
    name = read_string(values, "name", next(number for number in numbers if number not in sandbox.snapshots))
    sandbox.keep_snapshot(name)
    return json_response({"name": name}, 201)


async def restore(sandbox: "RunningSandbox", request: Request) -> Response:
    """Store the data of a snapshot."""
    values = read_fields(await json_body(request), ("name",))
    name = read_string(values, "name")
    if name not in sandbox.snapshots:
        known = ", ".join(sandbox.snapshots) or "none"
        raise FieldError("name", f"no snapshot has this name; the snapshots are: {known}")
    sandbox.restore(sandbox.snapshots[name])
    return json_response({"name": name})
