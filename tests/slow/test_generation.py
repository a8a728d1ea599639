"""Generating and building are the same everywhere; what is new works at once, and what has no code is rejected."""

import copy
import filecmp
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path
from typing import Any

import pytest

from tests.support.processes import PROJECT, ended
from tests.support.specification import Document, Regenerated, specification
from tools.generation import generator
from tools.generation.drill import attempt, selected
from tools.generation.sandbox_document import FILE
from tools.generation.wrapper_fit import import_errors
from tools.release.clean_environment import Environment, pythons

#: What generating needs: the generator, what checks the document, and what the generated modules import.
NEEDED = (
    *("openapi-python-client", "openapi-spec-validator", "ruff", "PyYAML"),
    *("httpx", "attrs", "msgspec", "python-dateutil"),
)
COMMITTED = PROJECT / "generated" / "itwin_platform_api"
HOSTILE = 'line-length = 60\nindent-width = 2\n[lint]\nselect = ["ALL"]\n[format]\nquote-style = "single"\n'
#: Another machine: no locale, so that files are ASCII unless it is said otherwise, another time, other hashes.
ELSEWHERE = {
    "LC_ALL": "C",
    "PYTHONCOERCECLOCALE": "0",
    "PYTHONUTF8": "0",
    "TZ": "Asia/Kathmandu",
    "PYTHONHASHSEED": "7",
}


def generate(
    folder: Path, *arguments: str, umask: int = -1, python: str | Path = sys.executable, **environment: str
) -> subprocess.CompletedProcess[str]:
    """Run the tool with every temporary file below a folder."""
    command = [python, "-m", "tools.generation.generate", *arguments]
    return ended(*command, variables={"TMPDIR": str(folder), **environment}, umask=umask, status=None)


def files(root: Path) -> set[str]:
    """The files of a package, without what Python leaves there."""
    found = (path for path in root.rglob("*") if path.is_file() and "__pycache__" not in path.parts)
    return {path.relative_to(root).as_posix() for path in found}


@pytest.mark.parametrize(("umask", "environment"), [(-1, {}), (0o077, ELSEWHERE)], ids=["here", "elsewhere"])
def test_a_run_gives_what_is_committed_and_leaves_nothing_else(
    tmp_path: Path, umask: int, environment: dict[str, str]
) -> None:
    """Nothing depends on the run, on a ruff configuration above the folder, or on what was there before.

    Nor on the locale, the umask, the time zone and the seed of hashes. Neither a cache nor a temporary folder stays.
    """
    (tmp_path / "ruff.toml").write_text(HOSTILE)
    process = generate(tmp_path, "--into", str(tmp_path / "made"), umask=umask, **environment)
    assert process.returncode == 0, process.stderr
    made = tmp_path / "made" / "itwin_platform_api"
    assert files(made) == files(COMMITTED)
    match, mismatch, errors = filecmp.cmpfiles(COMMITTED, made, sorted(files(COMMITTED)), shallow=False)
    assert (bool(match), mismatch, errors) == (True, [], [])
    assert {path.name for path in tmp_path.iterdir()} == {"ruff.toml", "made"}
    assert not [path for path in tmp_path.rglob(".*") if path.is_dir()]


def test_another_python_gives_the_same_bytes(tmp_path: Path) -> None:
    """The newest other Python of this machine generates what is committed, with the pinned generator."""
    own = f"{sys.version_info.major}.{sys.version_info.minor}"
    version, python = next(((each, path) for each, path in reversed(pythons().items()) if each != own), (own, None))
    if python is None:
        pytest.skip(
            "this machine has one Python from 3.11 on: `make test-all-pythons` uses those of pyenv and the PATH"
        )
    try:
        environment = Environment(tmp_path / "environment", python=python)
        environment.install(*NEEDED, constraints=PROJECT / "constraints.txt")
    except SystemExit as failure:
        pytest.skip(f"pip cannot install the generator for Python {version}: {failure}")
    process = generate(tmp_path, "--check", python=environment.python)
    assert process.returncode == 0, process.stderr


def test_an_edit_by_hand_is_named(tmp_path: Path) -> None:
    """`--check` fails for a changed, a missing and an added file, names them, and writes nothing."""
    package = Path(shutil.copytree(COMMITTED, tmp_path / COMMITTED.name, ignore=shutil.ignore_patterns("__pycache__")))
    (package / "types.py").write_text("# edited\n")
    (package / "errors.py").unlink()
    (package / "added.py").write_text("")
    process = generate(tmp_path, "--check", "--into", str(tmp_path))
    assert process.returncode == 1
    named = {line.rpartition(" ")[2] for line in process.stderr.splitlines() if line.endswith(".py")}
    assert named == {"types.py", "errors.py", "added.py"}
    assert (package / "types.py").read_text() == "# edited\n"
    assert not (package / "errors.py").exists()


def test_a_specification_that_is_rejected_changes_nothing(tmp_path: Path) -> None:
    """A warning of the generator ends the run, and the old package stays."""
    wrong, package = tmp_path / "wrong.yaml", tmp_path / "itwin_platform_api"
    wrong.write_text("openapi: 3.1.0\ninfo: {title: t, version: '1'}\npaths: {/a: {get: {responses: {x: {}}}}}\n")
    package.mkdir()
    (package / "kept.py").write_text("")
    process = generate(tmp_path, "--spec", str(wrong), "--into", str(tmp_path))
    assert process.returncode != 0
    assert "wrong.yaml" in process.stderr
    assert files(package) == {"kept.py"}


@pytest.mark.parametrize(
    ("words", "files"),
    [
        ("A type of authentication is gone", {"wrapper/itwin_platform/_operations/repositories.py"}),
        ("An operation has another name", {"wrapper/itwin_platform/_operations/"}),
        ("The envelope of a detector holds a list", {"wrapper/itwin_platform/_operations/"}),
        ("Updating a webhook needs a header", {"wrapper/itwin_platform/_operations/webhooks.py"}),
        ("An enum has integers", set()),
        ("Properties are called as the methods of a model", set()),
        ("What is read has no unknown properties", set()),
        ("No secret is marked", {"changed.yaml"}),
        ("A reference leads nowhere", {"changed.yaml"}),
    ],
)
def test_a_change_is_reported_before_anything_is_replaced(words: str, files: set[str]) -> None:
    """A misfit names its files and lines, a rejected document changes nothing, and no tool ends with a traceback."""
    ((_, [change]),) = selected(words)
    outcome = attempt(change)
    assert outcome.failures == ()
    assert all(any(line.startswith(file) for line in outcome.lines) for file in files), outcome.row


def small(schema: dict[str, Any], **others: dict[str, Any]) -> Document:
    """A document with one model that has a part, and other schemas."""
    thing = {"type": "object", "properties": {"part": schema}}
    components = {"schemas": {"Thing": thing, **others}}
    return {"openapi": "3.1.0", "info": {"title": "t", "version": "1"}, "paths": {}, "components": components}


MODEL = {"type": "object", "properties": {"a": {"type": "string"}}}
FORMS = {"oneOf": [{"type": "string", "format": "date"}, {"type": "string", "format": "uuid"}]}


@pytest.mark.parametrize(
    ("document", "said"),
    [
        (small({"type": "string", "format": "binary"}), r"part.*which templates/support/kinds\.py does not decode"),
        (small(FORMS), "part.*several forms"),
        (
            small({"type": "string"}, ITwinX=MODEL, ItwinX=MODEL),
            r"its module would be models/itwin_x\.py, as that of ITwinX",
        ),
    ],
    ids=["a form that no code decodes", "several forms", "two modules of one name"],
)
def test_what_cannot_be_generated_is_rejected(tmp_path: Path, document: Document, said: str) -> None:
    """A value is never decoded as it came against its type, and no module overwrites another: each is named."""
    with pytest.raises(SystemExit, match=f"(?s){said}"):
        generator.write_package(document, tmp_path / "itwin_platform_api", name="small.yaml")


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("{{ enum.no_such_name }}", "no_such_name"),
        ("{{ enum.class_info | no_such_filter }}", "No filter named 'no_such_filter'"),
    ],
)
def test_a_name_that_the_generator_does_not_have_is_reported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, line: str, said: str
) -> None:
    """A template that uses a name or a filter which is gone ends the generation with its file and line."""
    templates = Path(shutil.copytree(PROJECT / "templates", tmp_path / "templates"))
    (templates / "str_enum.py.jinja").write_text(f"first\n{line}\n", encoding="utf-8")
    monkeypatch.setattr(generator, "TEMPLATES", templates)
    document = small({"$ref": "#/components/schemas/Color"}, Color={"type": "string", "enum": ["red"]})
    with pytest.raises(SystemExit, match=rf"(?s)str_enum\.py\.jinja:2: .*{said}.*make templates-diff"):
        generator.write_package(document, tmp_path / "itwin_platform_api", name="small.yaml")


def test_what_cannot_be_imported_is_rejected(tmp_path: Path) -> None:
    """A module that fails to import, or lacks a name that it exports, is named."""
    package = tmp_path / "broken_package"
    package.mkdir()
    (package / "__init__.py").write_text("__all__ = ['gone']\n")
    [line] = import_errors("broken_package", tmp_path)
    assert re.fullmatch(r"broken_package:1: AttributeError: .*gone.*", line)


def built(folder: Path) -> dict[str, str]:
    """Build the sdist and the wheel into a folder and return the digest of each."""
    ended("python", "-m", "build", "--no-isolation", "--outdir", folder, PROJECT)
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in sorted(folder.iterdir())}


def test_two_builds_are_equal_and_hold_what_make_check_reads(tmp_path: Path) -> None:
    """The sdist and the wheel are the same, byte by byte; every file that git tracks is in the sdist."""
    first, second = built(tmp_path / "first"), built(tmp_path / "second")
    assert len(first) == 2
    assert first == second
    with tarfile.open(next((tmp_path / "first").glob("*.tar.gz"))) as archive:
        held = {name.partition("/")[2] for name in archive.getnames()}
    assert [name for name in ended("git", "ls-files").stdout.split() if name not in held] == []


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
from itwin_platform_api.models import DetectorCreate, DetectorType, ITwin, ITwinResponse, Plan
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
    plan = Plan(name="a", parent=None, parts=[Plan(name="b", parts=[Plan(name="c")])])
    body = DetectorCreate(name="T", type_=DetectorType("PhotoObjectDetector"), plan=plan)
    body.field_2d, body.own_type, body.quote = True, "own", "q"
    await create_detector.asyncio(client=platform.generated, body=body)
    sent = sandbox.requests[-1].body
    seen["names"] = [sent["2D"], sent["_type"], sent['q"uote'], DetectorCreate.from_dict(sent) == body]
    seen["tree sent"] = sent["plan"]
    item = {"id": "o", "kind": "Layer", "displayOrder": 3}
    sandbox.fault("respond", status=200, body={"objects": [item], "_links": {}})
    objects = await platform.scenes.list_objects(sandbox.scene_id, sandbox.itwin_id).collect()
    seen["new field decoded"] = [item.display_order for item in objects]
    ids = sandbox.itwin_id, sandbox.repository_id
    sandbox.fault("respond", status=201, body={"resource": {"id": "R", "class": "Cesium"}})
    resource = await platform.repositories.create_resource(*ids, id="R", display_name="R")
    seen["new enum value"] = resource.class_ is ResourceClass.CESIUM


async def run() -> None:
    tokens = iter(["expired", "expired", *["good"] * 9])
    async with Sandbox(itwins=5, objects=3, any_token=False, vendor="sandbox") as sandbox:
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
    plan = {"$ref": "#/components/schemas/Plan"}
    schemas["Plan"] = {
        "type": "object",
        "required": ["name"],
        "properties": {
            "name": {"type": "string"},
            "parts": {"type": "array", "items": plan},
            "parent": {"oneOf": [plan, {"type": "null"}]},
        },
    }
    schemas["DetectorCreate"]["properties"] |= {
        "accountId": {"type": "string"},
        "plan": plan,
        "2D": {"type": "boolean"},
        "_type": {"type": "string", "x-python-name": "own_type"},
        'q"uote': {"type": "string"},
    }
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
        "names": [True, "own", "q", True],
        "tree sent": {"name": "a", "parent": None, "parts": [{"name": "b", "parts": [{"name": "c"}]}]},
        "new field decoded": [3],
        "new enum value": True,
    }


def test_generating_names_the_operations_without_a_method(with_new_parts: Regenerated) -> None:
    """`make generate` lists them; an argument or a property that no method passes is in `make spec-diff`."""
    line = "Without a method, to be called through `platform.generated`: get_itwin_by_word, delete_scene"
    for each in (line, "The wrapper fits."):
        assert each in with_new_parts.output


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
