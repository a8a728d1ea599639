"""What a changed preview adds works as soon as it is generated, without a line of the wrapper."""

import json
from collections.abc import Callable

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
            seen["statuses"] = sorted(request.status for request in sandbox.requests)
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


def test_new_parts_are_called_sent_and_decoded(with_new_parts: Regenerated) -> None:
    """The wrapper knows none of them, and calls, waits, refreshes its token, and raises typed errors all the same."""
    assert json.loads(with_new_parts.run("-W", "error", "-c", SCRIPT).stdout) == {
        "new operation": [True, True],
        "statuses": [200, 401, 429],
        "error": ["ResourceNotFound", "OperationNotFound"],
        "new parameter": "blue",
        "new field sent": "A",
        "new field decoded": [True, True, True],
        "new enum value": True,
    }


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
