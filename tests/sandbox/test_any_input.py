"""The service responds as documented to any request."""

import json
from collections.abc import Iterator
from typing import Any
from urllib.parse import quote

import httpx
import pytest
from hypothesis import HealthCheck, given, settings, strategies as st
from itwin_platform_sandbox import Sandbox

from tests.support.examples import examples, strings
from tests.support.operations import OPERATIONS
from tests.support.sandboxes import ids_of
from tests.support.schema_values import ANY_JSON, values_of

PARAMETERS = st.dictionaries(
    st.sampled_from(["$top", "$skip", "$filter", "$select", "$orderby", "$search", "status", "subClass", "iTwinId"]),
    strings(max_size=20) | st.integers().map(str) | st.sampled_from(["Active", "displayName", "status eq 'Active'"]),
)
HEADERS = {"Authorization": "Bearer a", "Content-Type": "application/json"}


@pytest.fixture(scope="module")
def sandbox() -> Iterator[Sandbox]:
    """One sandbox for all examples."""
    with Sandbox(itwins=20, objects=20) as running:
        yield running


@pytest.fixture(scope="module")
def client(sandbox: Sandbox) -> Iterator[httpx.Client]:
    """A client of the sandbox."""
    with httpx.Client(base_url=sandbox.base_url, headers=HEADERS) as opened:
        yield opened


@pytest.mark.parametrize("name", OPERATIONS)
@settings(suppress_health_check=[HealthCheck.too_slow], deadline=None, max_examples=examples(60))
@given(data=st.data())
def test_any_request_gets_a_documented_response(
    name: str, sandbox: Sandbox, client: httpx.Client, data: st.DataObject
) -> None:
    """Any query and any JSON body give a documented status and, where it is an error, the error body."""
    others = data.draw(st.lists(strings(min_size=1, max_size=9), min_size=4, max_size=4))
    ids = {
        parameter: data.draw(st.sampled_from([own_id, quote(other, safe="", errors="replace")]))
        for (parameter, own_id), other in zip(ids_of(sandbox).items(), others, strict=True)
    }
    query = data.draw(PARAMETERS) | data.draw(st.sampled_from([{}, {"iTwinId": sandbox.itwin_id}]))
    operation = OPERATIONS[name]
    body = json.dumps(data.draw(values_of(operation.body or {}) | ANY_JSON)).encode()
    response = client.request(operation.method, operation.path.format(**ids), params=query, content=body)
    # The caller has a token with all permissions, and there is no rate limit.
    assert response.status_code in {operation.success, *(status for status, _, _ in operation.errors)} - {401, 429}
    found: Any = response.json()
    assert response.is_success or found["error"].keys() == {"code", "message", "target", "details"}
