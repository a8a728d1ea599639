"""The pages about the sandbox, and the document that decides its rules."""

import importlib
import json
import re
import shutil
from pathlib import Path
from typing import Any

import httpx
import itwin_platform_sandbox
import pytest
from itwin_platform_sandbox import Sandbox

from tests.support.processes import PROJECT, ended
from tests.support.sandboxes import client_of
from tools.generation.document import SPECIFICATION, load_document
from tools.generation.sandbox_document import sandbox_document

PAGE = PROJECT / "docs" / "sandbox-from-other-languages.md"
OTHER_LANGUAGES = PAGE.read_text(encoding="utf-8")


def block(heading: str, language: str) -> str:
    """Return the first block of a language under a heading of the page."""
    section = OTHER_LANGUAGES.partition(f"## {heading}\n")[2]
    found = re.search(rf"^```{language}\n(.*?)^```", section, re.DOTALL | re.MULTILINE)
    assert found is not None
    return found[1]


@pytest.mark.skipif(shutil.which("curl") is None, reason="no curl is installed")
def test_the_commands_for_curl_work(itwin_sandbox: Sandbox, tmp_path: Path) -> None:
    """The fault of the third command fires on the fourth command, and the fifth shows it in the journal."""
    script = tmp_path / "commands.sh"
    script.write_text(block("Use curl", "sh").replace("localhost:8080", itwin_sandbox.base_url), encoding="utf-8")
    output = ended("sh", "-e", str(script), folder=tmp_path).stdout
    assert "retry-after: 3" in output
    assert '"total":1' in output


async def test_an_error_looks_as_on_the_page(http: httpx.AsyncClient) -> None:
    """The error of a wrong field is the one that the page shows."""
    response = await http.post("/sandbox/faults", json={"name": "stall", "count": "many"})
    assert response.json() == json.loads(block("Control it over HTTP", "json"))


V1 = "application/vnd.vendor.itwin-platform.v1+json"
ITSELF = {"$ref": "#/components/schemas/NewObject"}
NEW_SCHEMA = {
    "type": "object",
    "required": ["name"],
    "properties": {
        "name": {"enum": ["a", "b"]},
        "created": {"type": "string", "format": "date-time"},
        "count": {"type": ["integer", "null"]},
        "inner": ITSELF,
        "parts": {"type": "array", "items": ITSELF},
        "choice": {"oneOf": [{"type": "string", "examples": ["c"]}, {"type": "integer"}]},
    },
}
FROM_SCHEMA = '{"name":"a","created":"2024-01-15T12:00:00.000Z","count":null,"parts":[],"choice":"c"}'
REJECTED = {"content": {"application/json": {"examples": {"a": {"value": {"error": {"code": "NotValid"}}}}}}}


def new_operation(name: str, responses: dict[str, Any], **more: Any) -> dict[str, Any]:
    """An operation of the document with a required query parameter."""
    schemas = {"size": {"type": "number", "maximum": 9}, "flags": {"type": "array", "items": {"type": "boolean"}}}
    parameters = [
        {"name": name, "in": "query", "required": name == "size", "schema": schema} for name, schema in schemas.items()
    ]
    return {"operationId": name, "tags": ["itwins"], "parameters": parameters, "responses": responses, **more}


def change(document: Any) -> None:
    """Add values, fields and operations to the document: with an example, with a schema alone, and without a body."""
    schemas, paths = document["components"]["schemas"], document["paths"]
    schemas["NewObject"] = NEW_SCHEMA
    schemas["DetectorType"]["enum"].append("LidarDetector")
    schemas["RepositoryUpdate"]["properties"]["displayName"]["maxLength"] = 250
    schemas["SceneCreate"]["properties"] |= {"mood": {"type": "string"}, "plan": ITSELF}
    media = {"schema": {"type": "object"}, "examples": {"one": {"value": {"iTwin": {"id": "i-1"}}}}}
    path = {"name": "iTwinId", "in": "path", "required": True, "schema": {"maxLength": 36, "type": "string"}}
    get_itwin = new_operation("get_itwin", {"200": {"content": {V1: media}}})
    paths["/itwins/{iTwinId}"] = {"parameters": [path], "get": get_itwin}
    body = {"content": {"application/json": {"schema": {"type": "object", "required": ["name"]}}}}
    responses = {"202": {"content": {V1: {"schema": ITSELF}}}, "400": REJECTED}
    paths["/new"] = {"post": new_operation("create_new", responses, requestBody=body)}


async def test_the_document_alone_decides(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """New values and fields are accepted; a new operation is checked, and responds with its example or its schema."""
    document: Any = load_document(str(SPECIFICATION))
    change(document)
    shutil.copytree(Path(itwin_platform_sandbox.__file__).parent, tmp_path / "changed_sandbox")
    (tmp_path / "changed_sandbox" / "openapi.json").write_bytes(sandbox_document(document))
    monkeypatch.syspath_prepend(tmp_path)
    changed = importlib.import_module("changed_sandbox")
    async with changed.Sandbox(itwins=3, objects=0) as sandbox, client_of(sandbox) as http:
        repository = f"/itwins/{sandbox.itwin_id}/repositories/{sandbox.repository_id}"
        scenes, tree = f"/scenes/?iTwinId={sandbox.itwin_id}", {"name": "a", "parts": [{"name": "b", "parts": []}]}
        sandbox.fault("unavailable", operation="get_itwin", skip=1)
        sent = [
            ("POST", "/reality-analysis/detectors", {"name": "d", "type": "LidarDetector"}, 201, "LidarDetector"),
            ("PATCH", repository, {"displayName": "n" * 201}, 200, "n" * 201),
            ("POST", scenes, {"displayName": "s", "mood": "calm", "plan": tree}, 201, '"mood":"calm"'),
            ("POST", scenes, {"displayName": "s", "plan": {"name": "a", "parts": [{}]}}, 400, "plan.parts[0].name"),
            ("GET", "/itwins/i-1?size=5", None, 200, '{"iTwin":{"id":"i-1"}}'),
            ("GET", "/itwins/i-1?size=5", None, 503, "ServiceUnavailable"),
            ("GET", "/itwins/i-1?size=8.5&flags=true,false", None, 200, '{"iTwin":{"id":"i-1"}}'),
            ("GET", "/itwins/i-1?size=5&flags=yes", None, 404, "ResourceNotFound"),
            ("POST", "/new?size=5", {"name": "n"}, 202, FROM_SCHEMA),
            ("POST", "/new?size=5", {}, 400, "NotValid"),
        ]
        for method, url, body, status, part in sent:
            response = await http.request(method, url, json=body)
            assert (response.status_code, part in response.text) == (status, True), (url, response.text)
        assert sandbox.requests[4].operation == "get_itwin"
