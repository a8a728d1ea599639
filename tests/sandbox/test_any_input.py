"""The service responds as documented to any request."""

from typing import Any
from urllib.parse import quote

import pytest
from hypothesis import HealthCheck, given, settings, strategies as st
from itwin_platform_sandbox import FAULTS, Sandbox
from itwin_platform_sandbox._faults.catalogue import FaultName
from itwin_platform_sandbox._service.document import SCHEMAS
from itwin_platform_sandbox._service.json_values import read_json, write_json
from itwin_platform_sandbox._service.messages import APIRequest, Body, WireResponse
from itwin_platform_sandbox._service.service import OPERATIONS

from tests.support.examples import examples, strings
from tests.support.specification import specification

#: What an operation responds to a caller who may do everything.
STATUSES = {
    operation["operationId"]: {int(status) for status in operation["responses"]} - {401, 429}
    for methods in specification()["paths"].values()
    for operation in methods.values()
}
# Names of the documentation, so that generated bodies come close to valid ones.
WORDS = sorted({name for schema in SCHEMAS.values() for name in schema.get("properties", ())})
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
HEADERS = {"authorization": "Bearer a", "accept": "*/*", "content-type": "application/json"}


@pytest.fixture(scope="module")
def sandbox() -> Sandbox:
    """One sandbox for all examples, which call its service without a server."""
    return Sandbox(itwins=20, objects=20)


def decided(sandbox: Sandbox, request: APIRequest) -> WireResponse:
    """The response, which there is."""
    service = sandbox._running.service
    response = service.decide(request, service.route(request)).response
    assert response is not None
    return response


def ids_of(sandbox: Sandbox) -> dict[str, str]:
    """The seeded ids by the names of path parameters."""
    names = {"iTwinId": "itwin_id", "repositoryId": "repository_id", "sceneId": "scene_id", "webhookId": "webhook_id"}
    return {parameter: getattr(sandbox, name) for parameter, name in names.items()}


@pytest.mark.parametrize("operation", OPERATIONS, ids=lambda operation: operation.name)
@settings(suppress_health_check=[HealthCheck.too_slow], deadline=None, max_examples=examples(60))
@given(data=st.data())
def test_any_request_gets_a_documented_response(operation: Any, sandbox: Sandbox, data: st.DataObject) -> None:
    """Any query and any JSON body give a documented status and, where it is an error, the error body."""
    others = st.lists(strings(min_size=1, max_size=9), min_size=4, max_size=4)
    ids = {
        name: data.draw(st.sampled_from([own_id, quote(other, safe="", errors="replace")]))
        for (name, own_id), other in zip(ids_of(sandbox).items(), data.draw(others), strict=True)
    }
    query = data.draw(PARAMETERS) | data.draw(st.sampled_from([{}, {"iTwinId": sandbox.itwin_id}]))
    body, path = Body(write_json(data.draw(VALUES))), operation.route.format(**ids)
    request = APIRequest(method=operation.method, path=path, query=query, headers=HEADERS, body=body)
    response = decided(sandbox, request)
    assert response.status in STATUSES[operation.name]
    found: Any = read_json(response.body)
    assert response.status < 400 or found["error"].keys() == {"code", "message", "target", "details"}


@pytest.mark.parametrize("operation", OPERATIONS, ids=lambda operation: operation.name)
@given(names=st.lists(st.sampled_from([name for name, kind in FAULTS.items() if kind.phase == "change"]), max_size=6))
@settings(deadline=None, max_examples=examples(40))
def test_faults_can_be_combined(operation: Any, names: list[FaultName]) -> None:
    """Any combination of faults still gives a response."""
    sandbox = Sandbox(itwins=3, objects=5)
    for name in names:
        sandbox.fault(name, count=None)
    path, query = operation.route.format(**ids_of(sandbox)), {"iTwinId": sandbox.itwin_id, "$top": "2"}
    for content in (b"{}", b'{"id": "a", "displayName": "a", "name": "a", "type": "PhotoObjectDetector"}'):
        body = Body(content)
        decided(sandbox, APIRequest(method=operation.method, path=path, query=query, headers=HEADERS, body=body))


@given(strings(max_size=30), strings(max_size=30), st.binary(max_size=30))
def test_any_path_header_and_body_is_handled(path: str, header: str, body: bytes) -> None:
    """Any path, headers and body give a response."""
    sandbox = Sandbox(itwins=1, objects=0)
    for headers in ({"authorization": header}, HEADERS | {"accept": header, "content-type": header}):
        for method in ("GET", "PATCH", "POST", "BREW"):
            request = APIRequest(method=method, path=f"/{path}", headers=headers, body=Body(body))
            assert decided(sandbox, request).status in {401, 404}
