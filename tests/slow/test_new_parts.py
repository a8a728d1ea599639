"""What a changed specification adds works as soon as it is generated: in the client, and limits in the sandbox too."""

import copy
import json
import os
import shutil
from pathlib import Path

import pytest

from tests.support.processes import PROJECT, ended
from tests.support.regenerated import Document, Regenerated
from tests.support.specification import specification
from tools.generation.sandbox_document import FILE

VENDOR_JSON = "application/vnd.vendor.itwin-platform.v1+json"
SCRIPT = """
import asyncio
import inspect
import copy
import json

import httpx
from itwin_platform import ITwinClass, NotFoundError, PlatformClient, ResourceClass
from itwin_platform_api.api.detectors import create_detector
from itwin_platform_api.api.itwins import get_itwin_by_word, list_itwins
from itwin_platform_api.api.scenes import delete_scene
from itwin_platform_api.models import DetectorCreate, DetectorType, ITwin, ITwinResponse
from itwin_platform_sandbox import Sandbox

key = "6a2d2381-6c57-9332-387a-5b7c00000000"
wire = {"iTwin": {"id": "i"}, "due": "2024-05-17", "key": key, "days": ["2024-01-02"]}
model = ITwinResponse.from_dict(wire)
item = {"id": "i", "due": "2024-05-17", "key": key, "days": ["2024-01-02"], "floors": 7, "parts": [{"x": 1}]}
expected = ITwin.from_dict(item)
ordinary, ITwin.from_dict = ITwin.from_dict, None  # a page takes another way as long as it is as described
page = list_itwins.parse_response(httpx.Response(200, json={"iTwins": [item], "_links": {}}))
ITwin.from_dict = ordinary
odd = {"iTwin": {}, "due": "soon", "key": 7, "days": None}
seen = {
    "types": [type(value).__name__ for value in (model.itwin, model.due, model.key, model.days[0])],
    "round trip": model.to_dict() == wire,
    "odd values": ITwinResponse.from_dict(odd).to_dict() == odd,
    "page": [page.itwins == [expected], type(page.itwins[0].due).__name__, type(page.itwins[0].parts[0]).__name__],
    "returns": str(inspect.signature(delete_scene.asyncio).return_annotation),
}


async def main(sandbox, platform) -> None:
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
    ids = sandbox.itwin_id, sandbox.repository_id
    resource = await platform.repositories.create_resource(*ids, id="R", display_name="R")
    seen["new enum value"] = resource.class_ is ResourceClass.CESIUM


async def run() -> None:
    tokens = iter(["expired", "expired", *["good"] * 9])
    async with Sandbox(itwins=5, objects=3, as_seen=True, any_token=False, vendor="sandbox") as sandbox:
        sandbox.add_token("good")
        async with PlatformClient(sandbox.base_url, vendor="sandbox", token=lambda: next(tokens)) as platform:
            await main(sandbox, platform)
    print(json.dumps(seen))


asyncio.run(run())
"""


def operation(name: str, tag: str, responses: Document, *parameters: Document) -> Document:
    """An operation without a body."""
    common: Document = {"operationId": name, "tags": [tag], "security": [{"bearer": []}], "x-accept": VENDOR_JSON}
    return {**common, "parameters": [*parameters], "responses": responses}


def add_parts(document: Document) -> None:
    """Add operations, a parameter, fields that are sent and returned, an enum value, dates, UUIDs, and quotes."""
    schemas, paths = document["components"]["schemas"], document["paths"]
    shapes = {
        "due": {"type": ["string", "null"], "format": "date", "description": 'Called "due"'},
        "key": {"type": "string", "format": "uuid"},
        "days": {"type": "array", "items": {"type": "string", "format": "date"}},
    }
    schemas["ITwinResponse"] = {
        "type": "object",
        "required": ["iTwin"],
        "description": 'Called "the iTwin"',
        "properties": {"iTwin": {"$ref": "#/components/schemas/ITwin"}, **shapes},
    }
    parts = {"type": "array", "items": {"$ref": "#/components/schemas/Vector3d"}}
    schemas["ITwin"]["properties"] |= {**shapes, "floors": {"type": "integer"}, "parts": parts}
    schemas["DetectorCreate"]["properties"]["accountId"] = {"type": "string"}
    schemas["SceneObject"]["properties"]["displayOrder"] = {"type": "number"}
    schemas["ResourceClass"]["enum"].append("Cesium")
    schemas["ResourceClass"]["x-enum-varnames"].append("CESIUM")
    content = {VENDOR_JSON: {"schema": {"$ref": "#/components/schemas/ITwinResponse"}}}
    responses = {
        "200": {"description": 'An "iTwin"', "content": content},
        "404": {"$ref": "#/components/responses/ResourceNotFound"},
    }
    word = {"name": "word", "in": "path", "required": True, "schema": {"type": "string"}}
    paths["/itwins/{word}"] = {"get": operation("get_itwin_by_word", "itwins", responses, word)}
    scene = {"$ref": "#/components/parameters/SceneIdPath"}
    gone = {"204": {"description": "The scene is gone."}}
    paths["/scenes/{sceneId}"] = {"delete": operation("delete_scene", "scenes", gone, scene)}
    tag = {"name": "tag", "in": "query", "required": False, "schema": {"type": "string"}}
    paths["/itwins/"]["get"]["parameters"].append(tag)


@pytest.fixture(scope="module")
def with_new_parts(tmp_path_factory: pytest.TempPathFactory) -> Regenerated:
    """The package generated from the specification with the new parts."""
    return Regenerated(add_parts, tmp_path_factory.mktemp("new_parts"))


def test_new_parts_are_called_sent_and_decoded(with_new_parts: Regenerated) -> None:
    """The wrapper knows none of them, and calls, waits, refreshes its token, and raises typed errors all the same.

    A date is a date, what is none stays as it came, a page is read the fast way, and a 204 is None for checkers.
    """
    assert json.loads(with_new_parts.run("-W", "error", "-c", SCRIPT).stdout) == {
        "types": ["ITwin", "date", "UUID", "date"],
        "round trip": True,
        "odd values": True,
        "page": [True, "date", "Vector3d"],
        "returns": "None",
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
    for line in (
        "Generated, not wrapped: 4",
        "from itwin_platform_api.api.itwins import get_itwin_by_word",
        "await get_itwin_by_word.asyncio(word, client=platform.generated)",
        "await list_itwins.asyncio(client=platform.generated, tag=tag)",
        "await delete_scene.asyncio(scene_id, client=platform.generated)",
        "body=DetectorCreate(name=name, type_=type_, account_id=account_id))",
        "The wrapper fits.",
    ):
        assert line in with_new_parts.output


def test_a_changed_limit_reaches_the_client_the_sandbox_and_the_docstrings(tmp_path: Path) -> None:
    """`make generate` writes what the client rejects, what the sandbox reads, and the limit that docstrings state."""
    for part in ("wrapper", "generated", "sandbox", "templates", "tools"):
        shutil.copytree(PROJECT / part, tmp_path / part, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(PROJECT / "generator-config.yaml", tmp_path)
    document = copy.deepcopy(specification())
    document["components"]["schemas"]["RepositoryUpdate"]["properties"]["uri"]["maxLength"] = 30
    (tmp_path / "openapi.yaml").write_text(json.dumps(document), encoding="utf-8")
    path = os.pathsep.join(str(tmp_path / name) for name in ("wrapper", "generated", "sandbox"))
    variables = {"PYTHONPATH": path, "COVERAGE_PROCESS_START": ""}
    output = ended("python", "-m", "tools.generation.generate", folder=tmp_path, variables=variables).stdout
    assert "The wrapper fits." in output
    for file, limit in (
        ("wrapper/itwin_platform/_operations/repositories.py", "1 to 30 characters"),
        (FILE, '"maxLength": 30'),
        ("generated/itwin_platform_api/api/repositories/update_repository.py", "most=30"),
    ):
        assert limit in (tmp_path / file).read_text(encoding="utf-8"), file
