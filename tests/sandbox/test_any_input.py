"""The service responds as documented to any request."""

from typing import Any
from urllib.parse import quote

import pytest
from hypothesis import HealthCheck, given, settings, strategies as st
from itwin_platform_sandbox import FAULTS, Sandbox
from itwin_platform_sandbox._faults.catalogue import FaultName
from itwin_platform_sandbox._service.document import SCHEMAS
from itwin_platform_sandbox._service.json_values import JSON, read_json, write_json
from itwin_platform_sandbox._service.messages import APIRequest, Body
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
scalars = (
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | strings(max_size=9)
)
values = st.recursive(
    scalars | st.sampled_from(["Basic", "Header", "View3d", "RepositoryResource", "1.0.0", "PhotoObjectDetector"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(WORDS) | strings(max_size=5), inner),
    max_leaves=12,
)
parameters = st.dictionaries(
    st.sampled_from(["$top", "$skip", "$filter", "$select", "$orderby", "$search", "status", "subClass", "iTwinId"]),
    strings(max_size=20) | st.integers().map(str) | st.sampled_from(["Active", "displayName", "status eq 'Active'"]),
)


@pytest.fixture(scope="module")
def sandbox() -> Sandbox:
    """One sandbox for all examples, which call its service without a server."""
    return Sandbox(itwins=20, objects=20)


@pytest.mark.parametrize("operation", OPERATIONS, ids=lambda operation: operation.name)
@settings(suppress_health_check=[HealthCheck.too_slow], deadline=None, max_examples=examples(60))
@given(data=st.data())
def test_any_request_gets_a_documented_response(operation: Any, sandbox: Sandbox, data: st.DataObject) -> None:
    """Any query and any JSON body give a documented status and, where it is an error, the error body."""
    path = operation.route
    own_ids = {"iTwinId": sandbox.itwin_id, "repositoryId": sandbox.repository_id, "sceneId": sandbox.scene_id}
    for name, own_id in {**own_ids, "webhookId": sandbox.webhook_id}.items():
        known = data.draw(st.booleans()) if f"{{{name}}}" in path else False
        text = own_id if known else data.draw(strings(min_size=1, max_size=9))
        path = path.replace(f"{{{name}}}", quote(text, safe="", errors="replace"))
    query = data.draw(parameters)
    if data.draw(st.booleans()):
        query["iTwinId"] = sandbox.itwin_id
    request = APIRequest(
        method=operation.method,
        path=path,
        query=query,
        headers={"authorization": "Bearer a", "accept": "*/*", "content-type": "application/json"},
        body=Body(write_json(data.draw(values))),
    )
    reply = sandbox._running.service.decide(request).response
    assert reply is not None
    assert reply.status in STATUSES[operation.name]
    body: Any = read_json(reply.body)
    if reply.status >= 400:
        assert body["error"].keys() == {"code", "message", "target", "details"}


@pytest.mark.parametrize("operation", OPERATIONS, ids=lambda operation: operation.name)
@given(names=st.lists(st.sampled_from([name for name, kind in FAULTS.items() if kind.phase == "change"]), max_size=6))
@settings(deadline=None, max_examples=examples(40))
def test_faults_can_be_combined(operation: Any, names: list[FaultName]) -> None:
    """Any combination of faults still gives a response."""
    sandbox = Sandbox(itwins=3, objects=5)
    for name in names:
        sandbox.fault(name, count=None)
    own_ids = {"iTwinId": sandbox.itwin_id, "repositoryId": sandbox.repository_id, "sceneId": sandbox.scene_id}
    path = operation.route.format(**own_ids, webhookId=sandbox.webhook_id)
    bodies: tuple[dict[str, JSON], ...] = (
        {},
        {"id": "a", "displayName": "a", "name": "a", "type": "PhotoObjectDetector"},
    )
    for body in bodies:
        headers = {"authorization": "Bearer a", "accept": "*/*", "content-type": "application/json"}
        request = APIRequest(
            method=operation.method,
            path=path,
            query={"iTwinId": sandbox.itwin_id, "$top": "2"},
            headers=headers,
            body=Body(write_json({**body})),
        )
        assert sandbox._running.service.decide(request).response is not None


@given(strings(max_size=30), strings(max_size=30), st.binary(max_size=30))
def test_any_path_header_and_body_is_handled(path: str, header: str, body: bytes) -> None:
    """Any path, headers and body give a response."""
    service = Sandbox(itwins=1, objects=0)._running.service
    for headers in ({"authorization": header}, {"authorization": "Bearer a", "accept": header, "content-type": header}):
        for method in ("GET", "PATCH", "POST", "BREW"):
            reply = service.decide(
                APIRequest(method=method, path=f"/{path}", headers=headers, body=Body(body))
            ).response
            assert reply is not None
            assert reply.status in {401, 404}
