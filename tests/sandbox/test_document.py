"""The document decides: a change of `openapi.yaml` changes what the sandbox accepts, without an edit of the sandbox."""

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import itwin_platform_sandbox
import pytest
from itwin_platform_sandbox._service.schema_checks import Problems, SchemaChecks

from tools.generation.document import SPECIFICATION, load_document
from tools.generation.sandbox_document import sandbox_document

PACKAGE = Path(itwin_platform_sandbox.__file__).parent
REQUESTS = """
import asyncio, httpx, json
from itwin_platform_sandbox import Sandbox
async def main():
    headers = {"Authorization": "Bearer a"}
    async with Sandbox(itwins=3, objects=0) as sandbox, httpx.AsyncClient(headers=headers) as http:
        repository = f"{sandbox.base_url}/itwins/{sandbox.itwin_id}/repositories/{sandbox.repository_id}"
        requests = [
            ("POST", f"{sandbox.base_url}/reality-analysis/detectors", {"name": "d", "type": "LidarDetector"}),
            ("PATCH", repository, {"displayName": "n" * 201}),
            ("POST", f"{sandbox.base_url}/scenes/?iTwinId={sandbox.itwin_id}", {"displayName": "s", "mood": "calm"}),
        ]
        responses = [await http.request(method, url, json=body) for method, url, body in requests]
        print(json.dumps([[response.status_code, "mood" in response.text] for response in responses]))
asyncio.run(main())
"""


def answers(folder: Path, document: dict[str, Any]) -> list[list[object]]:
    """Serve a copy of the sandbox with this document, and return status and whether the property came back."""
    shutil.copytree(PACKAGE, folder / PACKAGE.name, ignore=shutil.ignore_patterns("__pycache__"))
    (folder / PACKAGE.name / "openapi.json").write_bytes(sandbox_document(document))
    run = subprocess.run(  # noqa: S603 - this interpreter and the program above
        [sys.executable, "-c", REQUESTS], cwd=folder, capture_output=True, text=True, check=True, timeout=60
    )
    found: list[list[object]] = json.loads(run.stdout)
    return found


def test_the_document_alone_changes_what_is_accepted(tmp_path: Path) -> None:
    """A new enum value, a larger maximum and a new optional property: refused or dropped before, taken after."""
    document: Any = load_document(str(SPECIFICATION))
    assert answers(tmp_path / "before", document) == [[400, False], [422, False], [201, False]]
    schemas = document["components"]["schemas"]
    schemas["DetectorType"]["enum"].append("LidarDetector")
    schemas["RepositoryUpdate"]["properties"]["displayName"]["maxLength"] = 250
    schemas["SceneCreate"]["properties"]["mood"] = {"type": "string"}
    assert answers(tmp_path / "after", document) == [[201, False], [200, False], [201, True]]


def found(schema: dict[str, Any], value: Any, schemas: dict[str, Any] | None = None) -> list[tuple[object, str]]:
    """Places and messages of the problems of a value."""
    problems: Problems = SchemaChecks(schemas or {}).check(schema)(value) or []
    return [(".".join(map(str, problem.path)), problem.message) for problem in problems]


OBJECT = {"type": "object", "required": ["a"], "properties": {"a": {"type": "integer"}}}
SCHEMAS = {"One": {"type": "object", "properties": {"type": {"const": "One"}, "n": {"type": "number", "minimum": 0}}}}
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
    ],
)
def test_a_problem_names_place_and_rule(schema: dict[str, Any], value: Any, problems: list[tuple[str, str]]) -> None:
    """Each keyword that the document uses is checked, and its message says the rule."""
    assert found(schema, value, SCHEMAS) == problems
