"""What a changed preview adds works as soon as it is generated, without a line of the wrapper."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from tests.support.regenerated import Change, Document, Regenerated

ITWIN_BY_WORD = {
    "operationId": "get_itwin_by_word",
    "tags": ["itwins"],
    "security": [{"bearer": []}],
    "parameters": [
        {"name": "word", "in": "path", "required": True, "schema": {"type": "string"}},
    ],
    "responses": {
        "200": {
            "description": "An iTwin.",
            "content": {
                "application/vnd.vendor.itwin-platform.v1+json": {
                    "schema": {"$ref": "#/components/schemas/PrimaryAccountResponse"}
                }
            },
        },
        "404": {"$ref": "#/components/responses/ResourceNotFound"},
    },
}

SCRIPT = """
import asyncio
import json

from itwin_platform import BackoffPolicy, ITwinClass, NotFoundError, PlatformClient, ResourceClass
from itwin_platform_api.api.detectors import create_detector
from itwin_platform_api.api.itwins import get_itwin_by_word, list_itwins
from itwin_platform_api.models import DetectorCreate, DetectorType
from itwin_platform_sandbox import Sandbox


async def main() -> None:
    tokens = iter(["expired", "expired", "good", "good", "good", "good", "good", "good", "good", "good", "good"])
    seen = {}
    async with Sandbox(itwins=5, objects=3, as_seen=True, any_token=False, vendor="sandbox") as sandbox:
        sandbox.add_token("good")
        async with PlatformClient(sandbox.base_url, vendor="sandbox", token=lambda: next(tokens)) as platform:
            sandbox.fault("rate_limited", seconds=0)
            found = await get_itwin_by_word.asyncio("myprimaryaccount", client=platform.generated)
            seen["new operation"] = [found.itwin.id == sandbox.account_id, found.itwin.class_ is ITwinClass.ACCOUNT]
            seen["statuses"] = [request.status for request in sandbox.requests]
            try:
                await get_itwin_by_word.asyncio("nobody", client=platform.generated)
            except NotFoundError as error:
                seen["error"] = [error.code, error.details[0].code]

            await list_itwins.asyncio(client=platform.generated, tag="blue")
            seen["new parameter"] = sandbox.requests[-1].query["tag"]

            body = DetectorCreate(name="D", type_=DetectorType("PhotoObjectDetector"), account_id="A")
            await create_detector.asyncio(client=platform.generated, body=body)
            seen["new field sent"] = sandbox.requests[-1].body["accountId"]

            objects = await platform.scenes.list_objects(sandbox.scene_id, sandbox.itwin_id).collect()
            seen["new field decoded"] = [item.display_order == item.order for item in objects]

            resource = await platform.repositories.create_resource(
                sandbox.itwin_id, sandbox.repository_id, id="R", display_name="R"
            )
            seen["new enum value"] = resource.class_ is ResourceClass.CESIUM
    print(json.dumps(seen))


asyncio.run(main())
"""


def add_parts(document: Document) -> None:
    """Add an operation, a parameter, a field that is sent, one that is returned, and an enum value."""
    document["paths"]["/itwins/{word}"] = {"get": ITWIN_BY_WORD}
    tag = {"name": "tag", "in": "query", "required": False, "schema": {"type": "string"}}
    document["paths"]["/itwins/"]["get"]["parameters"].append(tag)
    schemas = document["components"]["schemas"]
    schemas["DetectorCreate"]["properties"]["accountId"] = {"type": "string"}
    schemas["SceneObject"]["properties"]["displayOrder"] = {"type": "number"}
    schemas["ResourceClass"]["enum"].append("Cesium")
    schemas["ResourceClass"]["x-enum-varnames"].append("CESIUM")


@pytest.fixture(scope="module")
def with_new_parts(regenerated: Callable[[Change], Regenerated]) -> Regenerated:
    """The package generated from the specification with the new parts."""
    return regenerated(add_parts)


@pytest.fixture(scope="module")
def seen(with_new_parts: Regenerated) -> dict[str, Any]:
    """What a program saw that called the new parts against the sandbox."""
    found: dict[str, Any] = json.loads(with_new_parts.run("-W", "error", "-c", SCRIPT).stdout)
    return found


def test_a_new_operation_is_called_and_decoded(seen: dict[str, Any]) -> None:
    """A generated function without a wrapper sends the vendor in Accept and decodes the response into its models."""
    assert seen["new operation"] == [True, True]


def test_a_new_operation_waits_and_refreshes_its_token(seen: dict[str, Any]) -> None:
    """It is retried after 429, and once with a new token after 401."""
    assert sorted(seen["statuses"]) == [200, 401, 429]


def test_a_new_operation_raises_typed_errors(seen: dict[str, Any]) -> None:
    """What the service rejects is the exception of the tree, with its code and details."""
    assert seen["error"] == ["ResourceNotFound", "OperationNotFound"]


def test_a_new_parameter_and_a_new_field_are_sent(seen: dict[str, Any]) -> None:
    """A parameter and a body field that the wrapper does not know go out through the generated function."""
    assert (seen["new parameter"], seen["new field sent"]) == ("blue", "A")


def test_new_parts_of_responses_come_through_the_wrapper(seen: dict[str, Any]) -> None:
    """A new field of a returned model is its attribute, and a new enum value is its member, with no wrapper change."""
    assert seen["new field decoded"] == [True, True, True]
    assert seen["new enum value"] is True


def test_generating_tells_what_is_new_and_how_to_call_it(with_new_parts: Regenerated) -> None:
    """`make generate` lists what is generated and not wrapped, each with the lines that call it."""
    output = with_new_parts.output
    assert "Generated, not wrapped: 3" in output
    assert "from itwin_platform_api.api.itwins import get_itwin_by_word" in output
    assert "await get_itwin_by_word.asyncio(word, client=platform.generated)" in output
    assert "await list_itwins.asyncio(client=platform.generated, tag=tag)" in output
    body = "DetectorCreate(name=name, type_=type_, account_id=account_id)"
    assert f"await create_detector.asyncio(client=platform.generated, body={body})" in output
    assert "The wrapper fits." in output
