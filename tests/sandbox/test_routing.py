"""Which operation a path means, as it was sent. Source: section 4."""

import re

import httpx
import pytest
from itwin_platform_sandbox import Sandbox
from itwin_platform_sandbox._service.document import DocumentedOperation
from itwin_platform_sandbox._service.messages import APIRequest, ErrorResponse
from itwin_platform_sandbox._service.service import OPERATIONS, find_route

ODD_ID = "a/b#c?d%e"
ENCODED = "a%2Fb%23c%3Fd%25e"


@pytest.mark.parametrize("operation", OPERATIONS, ids=lambda operation: operation.name)
def test_each_operation_is_found_by_its_raw_path(operation: DocumentedOperation) -> None:
    """Parameters are decoded after matching, so an encoded slash does not divide a path."""
    route = find_route(operation.method, re.sub(r"\{\w+\}", ENCODED, operation.route))
    assert route.operation is operation
    assert route.path_parameters == dict.fromkeys(re.findall(r"\{(\w+)\}", operation.route), ODD_ID)


def test_the_table_has_the_eight_operations() -> None:
    """Every operation of section 4 has one row with a name of its own."""
    assert len({operation.name for operation in OPERATIONS}) == 8


@pytest.mark.parametrize(
    "path", ["/", "/nowhere", "/webhooks", "/scenes/s", "/itwins/i/repositories/a/b", "/itwins//", "/%2e%2e/"]
)
def test_an_unknown_path_is_rejected(path: str) -> None:
    """404 ResourceNotFound with detail OperationNotFound."""
    with pytest.raises(ErrorResponse) as caught:
        find_route("GET", path)
    error = caught.value
    assert (error.status, error.code, error.details[0].code) == (404, "ResourceNotFound", "OperationNotFound")


def test_a_slash_too_many_is_pointed_out() -> None:
    """The message suggests the probable path."""
    with pytest.raises(ErrorResponse) as caught:
        find_route("GET", "/itwins/myprimaryaccount/")
    assert "Did you mean /itwins/myprimaryaccount?" in caught.value.details[0].message


@pytest.mark.parametrize(("method", "path"), [("GET", "/itwins"), ("POST", "/scenes")])
def test_the_slash_of_a_collection_may_be_omitted(method: str, path: str) -> None:
    """Clients of others that leave it out find the operation, too."""
    assert find_route(method, path).operation is find_route(method, f"{path}/").operation


@pytest.mark.parametrize(("method", "path", "allowed"), [("PUT", "/itwins/", "GET"), ("GET", "/webhooks/w", "PATCH")])
def test_another_method_is_an_unknown_operation(method: str, path: str, allowed: str) -> None:
    """404 OperationNotFound as section 7 has it, and the message names the supported method."""
    with pytest.raises(ErrorResponse) as caught:
        find_route(method, path)
    assert (caught.value.status, caught.value.details[0].code) == (404, "OperationNotFound")
    assert allowed in caught.value.details[0].message


async def test_ids_that_need_encoding_reach_what_is_stored() -> None:
    """A repository whose id needs percent-encoding is found."""

    async with Sandbox(itwins=10, as_seen=True) as sandbox:
        sandbox.clear_faults()
        async with httpx.AsyncClient(base_url=sandbox.base_url, headers={"Authorization": "Bearer a"}) as http:
            response = await http.patch(
                f"/itwins/{sandbox.itwin_id}/repositories/zones%2Fflood%20%232%3Fdraft%3D50%25", json={}
            )
    assert response.json()["repository"]["id"] == sandbox.repository_ids["OgcApiFeatures"]


async def test_an_id_with_a_line_break_reaches_its_operation() -> None:
    """Whatever an id holds, the response is the operation's own, in JSON."""
    async with Sandbox(itwins=1, objects=0) as sandbox, httpx.AsyncClient(base_url=sandbox.base_url) as http:
        headers = {"Authorization": "Bearer any", "Accept": "application/json"}
        response = await http.patch("/webhooks/a%0Ab", headers=headers, json={})
    assert (response.status_code, response.json()["error"]["code"]) == (404, "WebhookNotFound")


def test_a_path_beside_the_prefix_is_rejected() -> None:
    """404 for a path of the service that does not lie below its path prefix."""
    service = Sandbox(itwins=1, objects=0, path_prefix="/api")._running.service
    headers = {"authorization": "Bearer a", "accept": "*/*"}
    response = service.decide(APIRequest(method="GET", path="/itwins/", headers=headers)).response
    assert response is not None
    assert response.status == 404
