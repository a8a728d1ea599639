"""What the control interface rejects, and that nothing is changed then."""

import httpx
import pytest
from itwin_platform_sandbox import Sandbox


@pytest.fixture
def size() -> int:
    """No more than there has to be: no response holds any of it."""
    return 1


# (method, path, body, the field that the error names); a body of None is sent as nothing
BAD_CONTROL_INPUTS: list[tuple[str, str, object, str | None]] = [
    ("POST", "/faults", {"name": "stall", "count": 10**400}, "count"),
    ("POST", "/faults", {"name": "stall", "count": -1}, "count"),
    ("POST", "/faults", {"name": "stall", "count": 0}, "count"),
    ("POST", "/faults", {"name": "stall", "count": 1.5}, "count"),
    ("POST", "/faults", {"name": "stall", "count": []}, "count"),
    ("POST", "/faults", {"name": "stall", "skip": 10**400}, "skip"),
    ("POST", "/faults", {"name": "stall", "skip": -1}, "skip"),
    ("POST", "/faults", {"name": "stall", "seconds": 1e300}, "seconds"),
    ("POST", "/faults", {"name": "stall", "seconds": -1}, "seconds"),
    ("POST", "/faults", {"name": "stall", "seconds": "soon"}, "seconds"),
    ("POST", "/faults", {"name": "stall", "seconds": "nan"}, "seconds"),
    ("POST", "/faults", {"name": "stall", "seconds": True}, "seconds"),
    ("POST", "/faults", {"name": "rate_limited", "seconds": 10**9 + 1, "retry_after": "date"}, "seconds"),
    ("POST", "/faults", {"name": "explode"}, "name"),
    ("POST", "/faults", {"name": ["stall"]}, "name"),
    ("POST", "/faults", {"name": None}, "name"),
    ("POST", "/faults", {}, "name"),
    ("POST", "/faults", {"name": "stall", "operation": "delete_itwin"}, "operation"),
    ("POST", "/faults", {"name": "stall", "operation": 5}, "operation"),
    ("POST", "/faults", {"name": "stall", "retry_after": {}}, "retry_after"),
    ("POST", "/faults", {"name": "rate_limited", "retry_after": "later"}, "retry_after"),
    ("POST", "/faults", {"name": "next_foreign", "origin": 5}, "origin"),
    ("POST", "/faults", {"name": "stall", "colour": "red"}, "colour"),
    ("POST", "/faults", {"name": "refuse"}, "seconds"),
    ("POST", "/faults", {"name": "refuse", "seconds": 1, "operation": "list_itwins"}, "operation"),
    ("POST", "/faults", [], None),
    ("POST", "/faults", "stall", None),
    ("POST", "/faults", None, None),
    ("POST", "/tokens", {}, "token"),
    ("POST", "/tokens", {"token": "a b"}, "token"),
    ("POST", "/tokens", {"token": 5}, "token"),
    ("POST", "/tokens", {"token": "a", "permissions": "itwins_modify"}, "permissions"),
    ("POST", "/tokens", {"token": "a", "scopes": [5]}, "scopes"),
    ("POST", "/tokens", {"token": "a", "member_of": "x"}, "member_of"),
    ("POST", "/tokens", {"token": "a", "expires_in": "soon"}, "expires_in"),
    ("POST", "/tokens", {"token": "a", "expires_in": 10**400}, "expires_in"),
    ("POST", "/tokens", {"token": "a", "service_application": "yes"}, "service_application"),
    ("POST", "/tokens", {"token": "a", "admin": True}, "admin"),
    ("PUT", "/rate", {"rate": "fast"}, "rate"),
    ("PUT", "/rate", {"rate": "1" * 5000 + "/1"}, "rate"),
    ("PUT", "/rate", {"rate": 5}, "rate"),
    ("PUT", "/rate", {"requests": 0, "per": 1}, "requests"),
    ("PUT", "/rate", {"requests": 10**400, "per": 1}, "requests"),
    ("PUT", "/rate", {"requests": 1, "per": 0}, "per"),
    ("PUT", "/rate", {"requests": 1, "per": 1, "kind": "leaky"}, "kind"),
    ("PUT", "/rate", {"requests": 1, "per": 1, "retry_after": "later"}, "retry_after"),
    ("PUT", "/rate", [], None),
    ("PUT", "/latency", {"latency": -1}, "latency"),
    ("PUT", "/latency", {"latency": 10**400}, "latency"),
    ("PUT", "/latency", {"jitter": None}, "jitter"),
    ("PUT", "/latency", "slow", None),
    ("POST", "/snapshots", {"name": 5}, "name"),
    ("POST", "/restore", {"name": "never taken"}, "name"),
    ("POST", "/restore", {}, "name"),
    ("POST", "/tokens", {"token": "a", "permissions": ["itwins_read"]}, "permissions"),
    ("POST", "/snapshots", {"name": ""}, "name"),
    ("GET", "/requests?status=ok", None, "status"),
    ("GET", "/requests?operation=delete_itwin", None, "operation"),
    ("GET", "/requests?notes=some", None, "notes"),
    ("GET", "/requests?limit=" + "9" * 5000, None, "limit"),
    ("GET", "/requests?colour=red", None, "colour"),
]


@pytest.mark.parametrize(("method", "path", "body", "field"), BAD_CONTROL_INPUTS)
async def test_a_wrong_field_is_named(
    http: httpx.AsyncClient, sandbox: Sandbox, method: str, path: str, body: object, field: str | None
) -> None:
    """422 in JSON names the field, never a failure of the server, and nothing is changed."""
    response = await http.request(method, f"/sandbox{path}", json=body)
    error = response.json()["error"]
    assert (response.status_code, error["target"]) == (422, field)
    assert error["message"]
    assert (sandbox.faults, (await http.get("/sandbox/rate")).json()) == ((), None)


@pytest.mark.parametrize("content", [b"{", b"\xff", b"NaN", b"[" * 5000, b'"' + b"a" * 2**21 + b'"'])
@pytest.mark.parametrize("path", ["/faults", "/tokens", "/snapshots", "/restore"])
async def test_a_body_that_is_not_json_is_rejected(http: httpx.AsyncClient, path: str, content: bytes) -> None:
    """422 without a field, for every kind of it."""
    response = await http.post(f"/sandbox{path}", content=content)
    assert (response.status_code, response.json()["error"]["target"]) == (422, None)
