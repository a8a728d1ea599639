"""`/sandbox/rate` and `/sandbox/latency`: the rate limit, and how long responses are delayed."""

from typing import TYPE_CHECKING

from starlette.requests import Request
from starlette.responses import Response

from ..._service.fields import read_fields, read_integer, read_number, read_string
from ..._service.json_values import JSONObject
from ..._service.rate_limit import RateLimit, rate_limit_of
from ..overview import rate_values
from .json_messages import json_body, json_response

if TYPE_CHECKING:
    from ..running import RunningSandbox

RATE_FIELDS = ("rate", "requests", "per", "kind", "retry_after")


async def show_rate(sandbox: "RunningSandbox", _: Request) -> Response:
    """Return the rate limit, null for none."""
    return json_response(rate_values(sandbox.rate))


async def set_rate(sandbox: "RunningSandbox", request: Request) -> Response:
    """Set the rate limit and restart the count: null, `{"rate": "100/60"}`, or `requests` and `per`."""
    value = await json_body(request)
    sandbox.set_rate(None if value is None else _rate(read_fields(value, RATE_FIELDS)))
    return json_response(rate_values(sandbox.rate))


def _rate(values: JSONObject) -> RateLimit:
    kind, retry_after = read_string(values, "kind", "fixed_window"), read_string(values, "retry_after", "seconds")
    if "rate" in values:
        parsed = rate_limit_of(read_string(values, "rate"))
        requests, per = parsed.requests, parsed.per
    else:
        requests, per = read_integer(values, "requests", 0, least=1), read_number(values, "per", 0)
    return RateLimit(requests, per, kind=kind, retry_after=retry_after)  # type: ignore[arg-type] # checked by RateLimit


async def show_latency(sandbox: "RunningSandbox", _: Request) -> Response:
    """Return latency and jitter in seconds."""
    latency, jitter = sandbox.latency
    return json_response({"latency": latency, "jitter": jitter})


async def set_latency(sandbox: "RunningSandbox", request: Request) -> Response:
    """Set latency and jitter in seconds; an omitted field becomes 0."""
    values = read_fields(await json_body(request), ("latency", "jitter"))
    sandbox.set_latency(read_number(values, "latency", 0), read_number(values, "jitter", 0))
    return await show_latency(sandbox, request)
