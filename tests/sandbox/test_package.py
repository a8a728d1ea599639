"""The package: what it imports, the document that decides what it accepts, and the pages that are about it."""

import importlib
import json
import re
import shutil
from pathlib import Path
from typing import Any

import httpx
import itwin_platform_sandbox
import pytest
from itwin_platform_sandbox import FAULTS, Sandbox
from itwin_platform_sandbox._server.control import ROUTES
from itwin_platform_sandbox._service.schema_checks import Problems, SchemaChecks

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


ROOT = Path(itwin_platform_sandbox.__file__).parent


def test_another_name_is_not_there() -> None:
    """Names that are loaded late are those of `__all__`."""
    with pytest.raises(AttributeError, match="no attribute 'Sandpit'"):
        _ = itwin_platform_sandbox.Sandpit


def test_every_fault_and_control_request_is_documented() -> None:
    """The tables have each fault, with the words of the catalogue, and each path of the control interface."""
    page = (PROJECT / "docs" / "sandbox.md").read_text(encoding="utf-8")
    section = page.partition("## Make requests fail\n")[2].partition("## ")[0]
    documented = dict(re.findall(r"^\| `(\w+)` \| (.*) \|$", section, re.MULTILINE))
    assert documented == {name: kind.does for name, kind in FAULTS.items()}
    paths = {path.replace(":path", "") for _, path, _ in ROUTES}
    assert [path for path in sorted(paths) if f"{path}`" not in OTHER_LANGUAGES] == []


@pytest.mark.skipif(shutil.which("curl") is None, reason="no curl is installed")
def test_the_commands_for_curl_work(itwin_sandbox: Sandbox, tmp_path: Path) -> None:
    """The fault of the third command fires on the fourth, and the fifth finds it in the journal."""
    script = tmp_path / "commands.sh"
    script.write_text(block("Use curl", "sh").replace("localhost:8080", itwin_sandbox.base_url), encoding="utf-8")
    output = ended("sh", "-e", str(script), folder=tmp_path).stdout
    assert "retry-after: 3" in output
    assert '"total":1' in output


def test_the_seed_file_is_accepted(tmp_path: Path) -> None:
    """The document of the page is one that the sandbox stores."""
    file = tmp_path / "seed.json"
    file.write_text(block("Seed exactly what a test needs", "json"), encoding="utf-8")
    assert Sandbox(seed=file).repository_ids.keys() == {"ArcGIS"}


async def test_an_error_looks_as_on_the_page(http: httpx.AsyncClient) -> None:
    """The error of a wrong field is the one that the page shows."""
    response = await http.post("/sandbox/faults", json={"name": "stall", "count": "many"})
    assert response.json() == json.loads(block("Control it over HTTP", "json"))


def copy_of_the_sandbox(document: dict[str, Any], folder: Path, patch: pytest.MonkeyPatch) -> Any:
    """Import a copy of the package that has another document."""
    shutil.copytree(ROOT, folder / folder.name)
    (folder / folder.name / "openapi.json").write_bytes(sandbox_document(document))
    patch.syspath_prepend(folder)
    return importlib.import_module(folder.name)


async def answers(sandbox: Sandbox) -> list[tuple[int, bool]]:
    """Serve it, and return status and whether the property came back, of three requests."""
    repository = f"/itwins/{sandbox.itwin_id}/repositories/{sandbox.repository_id}"
    requests = [
        ("POST", "/reality-analysis/detectors", {"name": "d", "type": "LidarDetector"}),
        ("PATCH", repository, {"displayName": "n" * 201}),
        ("POST", f"/scenes/?iTwinId={sandbox.itwin_id}", {"displayName": "s", "mood": "calm"}),
    ]
    async with sandbox, client_of(sandbox) as http:
        responses = [await http.request(method, url, json=body) for method, url, body in requests]
    return [(response.status_code, "mood" in response.text) for response in responses]


async def test_the_document_alone_changes_what_is_accepted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A new enum value, a larger maximum and a new optional property: refused or dropped before, taken after."""
    assert await answers(Sandbox(itwins=3, objects=0)) == [(400, False), (422, False), (201, False)]
    document: Any = load_document(str(SPECIFICATION))
    schemas = document["components"]["schemas"]
    schemas["DetectorType"]["enum"].append("LidarDetector")
    schemas["RepositoryUpdate"]["properties"]["displayName"]["maxLength"] = 250
    schemas["SceneCreate"]["properties"]["mood"] = {"type": "string"}
    changed = copy_of_the_sandbox(document, tmp_path, monkeypatch)
    assert await answers(changed.Sandbox(itwins=3, objects=0)) == [(201, False), (200, False), (201, True)]


async def test_a_success_without_a_body_is_carried_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the document gives a success another status and no body, the effect happens and nothing is sent."""
    document: Any = load_document(str(SPECIFICATION))
    create = document["paths"]["/reality-analysis/detectors"]["post"]
    create["responses"]["204"] = {"description": "Created."}
    del create["responses"]["201"]
    create["x-accept"] = "application/vnd.a.itwin-platform.v2+json"
    changed = copy_of_the_sandbox(document, tmp_path, monkeypatch)
    found = set()
    async with changed.Sandbox(itwins=3, objects=0) as sandbox, client_of(sandbox) as http:
        for name in (None, *(name for name, kind in FAULTS.items() if kind.phase == "change")):
            if name is not None:
                sandbox.fault(name, operation="create_detector")
            response = await http.post("/reality-analysis/detectors", json={"name": "d", "type": "PhotoObjectDetector"})
            found.add((response.status_code, response.text, response.headers.get("content-type")))
            sandbox.clear_faults()
        assert (found, sandbox.stored("detector", "d")["name"]) == ({(204, "", None)}, "d")


async def test_a_body_that_contains_its_own_schema_is_checked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A tree of objects is accepted, and what is wrong deep inside it is named."""
    document: Any = load_document(str(SPECIFICATION))
    schemas, plan = document["components"]["schemas"], {"$ref": "#/components/schemas/Plan"}
    parts = {"type": "array", "items": plan}
    schemas["Plan"] = {
        "type": "object",
        "required": ["name"],
        "properties": {"name": {"type": "string"}, "parts": parts},
    }
    schemas["DetectorCreate"]["properties"]["plan"] = plan
    changed = copy_of_the_sandbox(document, tmp_path, monkeypatch)
    async with changed.Sandbox(itwins=3, objects=0) as sandbox, client_of(sandbox) as http:
        found = []
        for name, innermost in (("d", {"name": "c"}), ("e", {})):
            body = {"name": name, "type": "PhotoObjectDetector", "plan": {"name": "a", "parts": [innermost]}}
            response = await http.post("/reality-analysis/detectors", json=body)
            found.append((response.status_code, "plan.parts[0].name" in response.text))
    assert found == [(201, False), (400, True)]


#: Operations that the sandbox does not implement: with an example, with a schema alone, and without a body.
V1 = "application/vnd.vendor.itwin-platform.v1+json"
EXAMPLE = {"iTwin": {"id": "i-1", "description": "kept"}}
NEW_SCHEMA = {
    "type": "object",
    "properties": {
        "kind": {"enum": ["Line", "Point"]},
        "created": {"type": "string", "format": "date-time"},
        "count": {"type": ["integer", "null"]},
        "size": {"type": ["string", "integer"]},
        "any": {},
        "inner": {"$ref": "#/components/schemas/NewObject"},
        "either": {"oneOf": [{"$ref": "#/components/schemas/NewObject"}, {"type": "string"}]},
        "list": {"type": "array", "items": {"$ref": "#/components/schemas/NewObject"}},
        "choice": {"oneOf": [{"type": "string", "examples": ["a"]}, {"type": "integer"}]},
    },
}
FROM_SCHEMA: dict[str, Any] = {
    "kind": "Line",
    "created": "2024-01-15T12:00:00.000Z",
    "count": None,
    "size": "",
    "any": {},
    "either": {},
    "list": [],
    "choice": "a",
}


def new_operation(name: str, responses: dict[str, Any], **more: Any) -> dict[str, Any]:
    """An operation of the document with a required query parameter."""
    schemas = {"size": {"type": "number", "maximum": 9}, "flags": {"type": "array", "items": {"type": "boolean"}}}
    parameters = [
        {"name": name, "in": "query", "required": name == "size", "schema": schema} for name, schema in schemas.items()
    ]
    return {"operationId": name, "tags": ["itwins"], "parameters": parameters, "responses": responses, **more}


def add_operations(document: Any) -> None:
    """Add the operations; the first has the path of another one too, and states no error."""
    document["components"]["schemas"]["NewObject"] = NEW_SCHEMA
    media = {"schema": {"type": "object"}, "examples": {"one": {"value": EXAMPLE}}}
    document["paths"]["/itwins/{iTwinId}"] = {
        "parameters": [
            {"name": "iTwinId", "in": "path", "required": True, "schema": {"maxLength": 36, "type": "string"}}
        ],
        "get": new_operation("get_itwin", {"200": {"content": {V1: media}}}),
    }
    rejected = {"content": {"application/json": {"examples": {"a": {"value": {"error": {"code": "NotValid"}}}}}}}
    schema = {"$ref": "#/components/schemas/NewObject"}
    document["paths"]["/new"] = {
        "post": new_operation(
            *("create_new", {"202": {"content": {V1: {"schema": schema}}}, "400": rejected}),
            requestBody={"content": {"application/json": {"schema": {"type": "object", "required": ["name"]}}}},
        ),
        "delete": new_operation("delete_new", {"204": {}, "422": {}}, **{"x-accept": V1}),
    }


async def test_an_operation_that_is_not_implemented_responds_with_its_example(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The document checks its request; the example, or one made from the schema, has the documented status."""
    document: Any = load_document(str(SPECIFICATION))
    add_operations(document)
    changed = copy_of_the_sandbox(document, tmp_path, monkeypatch)
    async with changed.Sandbox(itwins=1, objects=0) as sandbox, client_of(sandbox) as http:
        sandbox.fault("unavailable", operation="get_itwin", skip=1)
        sent = [
            ("GET", "/itwins/i-1?size=5", None, 200, EXAMPLE),
            ("GET", "/itwins/i-1?size=5", None, 503, "ServiceUnavailable"),
            ("GET", "/itwins/i-1?size=8.5&flags=true,false", None, 200, EXAMPLE),
            ("GET", "/itwins/i-1?size=9.5", None, 404, "ResourceNotFound"),
            ("GET", "/itwins/i-1?size=5&flags=yes", None, 404, "ResourceNotFound"),
            ("GET", f"/itwins/{'i' * 37}?size=5", None, 404, "ResourceNotFound"),
            ("POST", "/new?size=5", {"name": "n"}, 202, FROM_SCHEMA),
            ("POST", "/new?size=5", {}, 400, "NotValid"),
            ("DELETE", "/new?size=5", None, 204, None),
            ("DELETE", "/new", None, 422, "InvalidRequest"),
        ]
        for method, url, body, status, expected in sent:
            response = await http.request(method, url, json=body)
            shown: Any = response.json() if response.content else None
            assert (response.status_code, shown["error"]["code"] if status >= 400 else shown) == (status, expected), url
        account = (await http.get("/itwins/myprimaryaccount")).json()["iTwin"]
        assert (account["id"], sandbox.requests[0].operation) == (sandbox.account_id, "get_itwin")


def found(schema: dict[str, Any], value: Any, schemas: dict[str, Any] | None = None) -> list[tuple[object, str]]:
    """Places and messages of the problems of a value."""
    problems: Problems = SchemaChecks(schemas or {}).check(schema)(value) or []
    return [(".".join(map(str, problem.path)), problem.message) for problem in problems]


OBJECT = {"type": "object", "required": ["a"], "properties": {"a": {"type": "integer"}}}
SCHEMAS: dict[str, Any] = {
    "One": {"type": "object", "properties": {"type": {"const": "One"}, "n": {"type": "number", "minimum": 0}}}
}
TREE = {"$ref": "#/components/schemas/Tree"}
SCHEMAS["Tree"] = {
    "type": "object",
    "required": ["name"],
    "properties": {"parts": {"type": "array", "items": TREE}, "parent": {"oneOf": [TREE, {"type": "null"}]}},
}
ONE_OF = {"oneOf": [{"$ref": "#/components/schemas/One"}, {"type": "null"}]}


@pytest.mark.parametrize(
    ("schema", "value", "problems"),
    [
        ({"type": "integer"}, True, [("", "must be an integer")]),
        ({"type": "integer"}, 1.0, [("", "must be an integer")]),
        ({"type": ["string", "null"]}, 5, [("", "must be a string or null")]),
        ({"type": "integer", "minimum": 1, "maximum": 9}, 10, [("", "must be at least 1 and at most 9")]),
        ({"type": "number", "maximum": 9}, 9.5, [("", "must be at most 9")]),
        ({"type": "string", "minLength": 1}, "", [("", "must not be empty")]),
        ({"type": "string", "maxLength": 2}, "abc", [("", "must have at most 2 characters")]),
        ({"type": "string", "minLength": 2}, "a", [("", "must have at least 2 characters")]),
        ({"type": "string", "pattern": "^a$"}, "a\n", [("", "must match ^a$")]),
        ({"type": "string", "enum": ["a", "b"]}, "c", [("", "must be one of a, b")]),
        ({"type": "array", "minItems": 2, "maxItems": 3, "items": {}}, [1], [("", "must have 2 to 3 items")]),
        ({"type": "array", "items": {"type": "string"}}, ["a", 1, 2], [("", "has an item that must be a string")]),
        ({"type": "array", "items": OBJECT}, [{"a": 1}, {"a": "1"}], [("1.a", "must be an integer")]),
        (OBJECT, {"b": 1}, [("a", "is required")]),
        (OBJECT | {"x-read-only": ["b"]}, {"a": 1, "b": 1}, [("b", "is read-only")]),
        (ONE_OF, None, []),
        (ONE_OF, {"type": "One", "n": -1}, [("n", "must be at least 0")]),
        (ONE_OF, {"type": "Two"}, [("", "must be an object whose type is one of One")]),
        (ONE_OF, 5, [("", "must be an object whose type is one of One")]),
        ({"anyOf": [{"type": "string"}, {"type": "integer"}]}, 5, []),
        ({"anyOf": [{"type": "string"}, {"type": "integer"}]}, None, [("", "must be a string")]),
        ({}, object, []),
        (TREE, {"name": "a", "parts": [{"name": "b", "parts": []}], "parent": None}, []),
        (TREE, {"name": "a", "parts": [{"name": "b", "parts": [{}]}]}, [("parts.0.parts.0.name", "is required")]),
        (
            TREE,
            {"name": "a", "parent": {"parent": 5}},
            [("parent.parent", "must be an object"), ("parent.name", "is required")],
        ),
    ],
)
def test_a_problem_names_place_and_rule(schema: dict[str, Any], value: Any, problems: list[tuple[str, str]]) -> None:
    """Each keyword that the document uses is checked, and its message says the rule."""
    assert found(schema, value, SCHEMAS) == problems
