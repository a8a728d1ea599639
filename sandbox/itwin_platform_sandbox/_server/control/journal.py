"""`/sandbox/requests`: the journal."""

from typing import TYPE_CHECKING

from starlette.requests import Request
from starlette.responses import Response

from ..._service.fields import check_choice, read_fields, read_integer
from ..._service.json_values import JSON, JSONObject
from ..._service.operation_table import OPERATIONS
from ..overview import record_values
from ..records import RecordedRequest
from .json_messages import json_response

if TYPE_CHECKING:
    from ..running import RunningSandbox

FILTERS = ("operation", "method", "path", "status", "notes", "skip", "limit")
NONE = "none"


async def list_requests(sandbox: "RunningSandbox", request: Request) -> Response:
    """Return the records that match the filters of the query."""
    query: JSONObject = {**request.query_params}
    read_fields(query, FILTERS)
    if "operation" in query:
        check_choice("operation", query["operation"], [*(operation.name for operation in OPERATIONS), NONE])
    if "notes" in query:
        check_choice("notes", query["notes"], ["true", "false"])
    status = read_integer(query, "status", 0) if query.get("status", NONE) != NONE else None
    skip, limit = read_integer(query, "skip", 0), read_integer(query, "limit", 1000)
    found = [record for record in sandbox.recorder.records if _matches(record, query, status)]
    shown: list[JSON] = [record_values(record) for record in found[skip : skip + limit]]
    return json_response({"requests": shown, "total": len(found)})


def _matches(record: RecordedRequest, query: JSONObject, status: int | None) -> bool:
    if "status" in query and record.status != status:
        return False
    if "notes" in query and bool(record.notes) != (query["notes"] == "true"):
        return False
    values = {"operation": record.operation or NONE, "method": record.method, "path": record.path}
    return all(query.get(name, value) == value for name, value in values.items())


async def clear_requests(sandbox: "RunningSandbox", _: Request) -> Response:
    """Empty the journal."""
    sandbox.recorder.records.clear()
    return Response(status_code=204)
