"""The service responds as documented to any request."""

from collections.abc import Iterator
from typing import Any
from urllib.parse import quote

import httpx
import pytest
from hypothesis import HealthCheck, given, settings, strategies as st
from itwin_platform_sandbox import FAULTS, Sandbox

from tests.support.examples import examples, strings
from tests.support.operations import OPERATIONS, SPECIFICATION
from tests.support.sandboxes import ids_of, requests_of

#: The documented statuses of each operation for a caller with all permissions.
STATUSES = {
    operation["operationId"]: {int(status) for status in operation["responses"]} - {401, 429}
    for methods in SPECIFICATION["paths"].values()
    for operation in methods.values()
}
# Names of the documentation, so that generated bodies come close to valid ones.
SCHEMAS = SPECIFICATION["components"]["schemas"].values()
WORDS = sorted({name for schema in SCHEMAS for name in schema.get("properties", ())})
NUMBERS = st.integers() | st.floats(allow_nan=False, allow_infinity=False)
KINDS = st.sampled_from(["Basic", "Header", "View3d", "RepositoryResource", "1.0.0", "PhotoObjectDetector"])
VALUES = st.recursive(
    st.none() | st.booleans() | NUMBERS | strings(max_size=9) | KINDS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(WORDS) | strings(max_size=5), inner),
    max_leaves=12,
)
PARAMETERS = st.dictionaries(
    st.sampled_from(["$top", "$skip", "$filter", "$select", "$orderby", "$search", "status", "subClass", "iTwinId"]),
    strings(max_size=20) | st.integers().map(str) | st.sampled_from(["Active", "displayName", "status eq 'Active'"]),
)
CHANGES = [name for name, kind in FAULTS.items() if kind.phase == "change"]


@pytest.fixture(scope="module")
def sandbox() -> Iterator[Sandbox]:
    """One sandbox for all examples."""
    with Sandbox(itwins=20, objects=20) as running:
        yield running


@pytest.fixture(scope="module")
def client(sandbox: Sandbox) -> Iterator[httpx.Client]:
    """A client of the sandbox."""
    with httpx.Client(base_url=sandbox.base_url, headers={"Authorization": "Bearer a"}) as opened:
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
    url = OPERATIONS[name].path.format(**ids)
    response = client.request(OPERATIONS[name].method, url, params=query, json=data.draw(VALUES))
    assert response.status_code in STATUSES[name]
    found: Any = response.json()
    assert response.is_success or found["error"].keys() == {"code", "message", "target", "details"}


@pytest.mark.parametrize("name", OPERATIONS)
@settings(deadline=None, max_examples=examples(40))
@given(faults=st.lists(st.sampled_from(CHANGES), max_size=6))
def test_faults_can_be_combined(name: str, faults: list[Any], sandbox: Sandbox, client: httpx.Client) -> None:
    """Any combination of faults still gives a documented response."""
    sandbox.reset()
    for fault in faults:
        sandbox.fault(fault, count=None)
    method, url = requests_of(sandbox)[name]
    response = client.request(method, url, json=OPERATIONS[name].sent)
    assert response.status_code == OPERATIONS[name].success
