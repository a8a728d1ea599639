"""Generation and builds are reproducible; new parts of the document work at once, or are rejected."""

import filecmp
import hashlib
import json
import os
import re
import shutil
import subprocess
import tarfile
import zipfile
from pathlib import Path
from typing import Any

import pytest

from tests.support.processes import PROJECT, ended
from tests.support.specification import Document, Regenerated, specification
from tests.tools.test_spec_diff import replaced
from tools.generation import generator
from tools.generation.sandbox_document import FILE
from tools.generation.wrapper_fit import import_errors

COMMITTED = PROJECT / "generated" / "itwin_platform_api"
HOSTILE = 'line-length = 60\nindent-width = 2\n[lint]\nselect = ["ALL"]\n[format]\nquote-style = "single"\n'
#: Another machine: no locale, so that files without an encoding are ASCII, another time zone, other hashes.
ELSEWHERE = {"LC_ALL": "C", "PYTHONCOERCECLOCALE": "0", "PYTHONUTF8": "0", "TZ": "Asia/Kathmandu"}
ELSEWHERE["PYTHONHASHSEED"] = "7"


def generate(folder: Path, *arguments: str, umask: int = -1, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run the tool with every temporary file below a folder."""
    command = ["python", "-m", "tools.generation.generate", *arguments]
    return ended(*command, variables={"TMPDIR": str(folder), **environment}, umask=umask, status=None)


def files(root: Path) -> set[str]:
    """Return the files of a package without the caches of Python."""
    found = (path for path in root.rglob("*") if path.is_file() and "__pycache__" not in path.parts)
    return {path.relative_to(root).as_posix() for path in found}


@pytest.mark.parametrize(("umask", "environment"), [(-1, {}), (0o077, ELSEWHERE)], ids=["here", "elsewhere"])
def test_a_run_gives_the_committed_package_alone(tmp_path: Path, umask: int, environment: dict[str, str]) -> None:
    """The output does not depend on the run or on a ruff configuration above the folder.

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


REGION = {"name": "X-Region", "in": "header", "required": True, "schema": {"type": "string"}}


@pytest.mark.parametrize(
    ("place", "value", "file"),
    [
        ("paths /reality-analysis/detectors post operationId", "make_detector", "detectors"),
        ("paths /webhooks/{webhookId} patch parameters 9", REGION, "webhooks"),
        ("components parameters SceneObjectsOrderBy name", "sortBy", "scenes"),
    ],
)
def test_a_change_that_the_wrapper_does_not_follow_is_named(
    tmp_path: Path, place: str, value: object, file: str
) -> None:
    """Each line of the wrapper that no longer fits is named with its file, and with the fix."""
    (tmp_path / "changed.yaml").write_text(json.dumps(replaced(specification(), {place: value})), encoding="utf-8")
    said = generate(tmp_path, "--spec", str(tmp_path / "changed.yaml"), "--into", str(tmp_path)).stdout
    assert re.search(rf"^wrapper/itwin_platform/_operations/{file}\.py:\d+: ", said, re.MULTILINE), said
    assert "removed: remove it there" in said


def test_a_document_that_lost_its_secrets_is_rejected_with_their_lines(tmp_path: Path) -> None:
    """A document without its marks of secrets is rejected, the error names each property, and the old package stays."""
    text = json.dumps(specification(), indent=1).replace('"x-secret": true', '"x-other": true')
    (tmp_path / "changed.yaml").write_text(text, encoding="utf-8")
    package = tmp_path / "itwin_platform_api"
    package.mkdir()
    (package / "kept.py").touch()
    process = generate(tmp_path, "--spec", str(tmp_path / "changed.yaml"), "--into", str(tmp_path))
    said = r"^changed\.yaml:\d+: .*was a secret and has no mark: write `x-secret: true`"
    assert re.search(said, process.stderr, re.MULTILINE)
    assert (process.returncode, files(package)) == (1, {"kept.py"})


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
        (small({"type": "string", "format": "binary"}), "part: JSON has no bytes"),
        (small(FORMS), "part.*several forms"),
        (
            small({"type": "string"}, ITwinX=MODEL, ItwinX=MODEL),
            r"its module would be models/itwin_x\.py, as that of ITwinX",
        ),
    ],
    ids=["a form that no code decodes", "several forms", "two modules of one name"],
)
def test_a_schema_without_code_is_rejected(tmp_path: Path, document: Document, said: str) -> None:
    """The error names a form without a decoder, a choice of forms, and two modules of one name."""
    with pytest.raises(SystemExit, match=f"(?s){said}"):
        generator.write_package(document, tmp_path / "itwin_platform_api", name="small.yaml")


def test_a_name_that_the_generator_does_not_have_is_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A template that uses an unknown name ends the generation with its file and line."""
    templates = Path(shutil.copytree(PROJECT / "templates", tmp_path / "templates"))
    (templates / "str_enum.py.jinja").write_text("first\n{{ enum.no_such_name }}\n", encoding="utf-8")
    monkeypatch.setattr(generator, "TEMPLATES", templates)
    document = small({"$ref": "#/components/schemas/Color"}, Color={"type": "string", "enum": ["red"]})
    with pytest.raises(SystemExit, match=r"(?s)str_enum\.py\.jinja:2: .*no_such_name.*Upgrade the generator"):
        generator.write_package(document, tmp_path / "itwin_platform_api", name="small.yaml")


def test_a_module_that_cannot_be_imported_is_rejected(tmp_path: Path) -> None:
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


def test_two_builds_are_equal_and_hold_the_tracked_files(tmp_path: Path) -> None:
    """Two builds are equal byte by byte; the sdist has all tracked files, the wheel those of the packages."""
    first, second = built(tmp_path / "first"), built(tmp_path / "second")
    assert len(first) == 2
    assert first == second
    tracked = ended("git", "ls-files").stdout.split()
    with tarfile.open(next((tmp_path / "first").glob("*.tar.gz"))) as archive:
        held = {name.partition("/")[2] for name in archive.getnames()}
    assert [name for name in tracked if name not in held] == []
    with zipfile.ZipFile(next((tmp_path / "first").glob("*.whl"))) as wheel:
        packed = {name for name in wheel.namelist() if ".dist-info/" not in name}
    roots = ("wrapper/", "transport/", "generated/", "sandbox/")
    expected = {name.partition("/")[2] for name in tracked if name.startswith(roots) and name.count("/") > 1}
    assert packed == {name for name in expected if name.startswith("itwin_platform")}


SCRIPT = """
import inspect, json
import httpx
from itwin_platform import ResourceClass
from itwin_platform_api.api.itwins import list_itwins
from itwin_platform_api.api.scenes import delete_scene
from itwin_platform_api.models import DetectorCreate, DetectorType, ITwin, Plan
from itwin_platform_api.schemas import json_schema

wire = {"due": "2024-05-17", "key": "6a2d2381-6c57-9332-387a-5b7c00000000", "days": ["2024-01-02"], "level": 2}
model, odd = ITwin.from_dict(wire), {"due": "soon", "key": 7, "days": None, "level": 9}
seen = {
    "types": [type(value).__name__ for value in (model.due, model.key, model.days[0], model.level)],
    "round trips": [model.to_dict() == wire, ITwin.from_dict(odd).to_dict() == odd],
    "returns": str(inspect.signature(delete_scene.asyncio).return_annotation),
    "no content": delete_scene.parse_response(httpx.Response(204)),
    "parameter": list_itwins.build_request(tag="blue").query["tag"],
    "enum value": ResourceClass("Cesium") is ResourceClass.CESIUM,
    "schemas": [json_schema(Plan)["properties"]["parts"]["items"], json_schema(ITwin)["properties"]["level"]],
}
plan = Plan(name="a", parent=None, parts=[Plan(name="b")])
body = DetectorCreate(name="D", type_=DetectorType("PhotoObjectDetector"), plan=plan)
body.field_2d, body.own_type, body.quote, body.to_dict_ = True, "own", "q", "t"
sent = body.to_dict()
seen["sent"] = [sent[name] for name in ("2D", "_type", 'q"uote', "to_dict", "plan")]
seen["decoded"] = DetectorCreate.from_dict(sent) == body
print(json.dumps(seen))
"""


def add_parts(document: Document) -> None:
    """Add an operation, a parameter, fields that are sent and returned, enums, dates, UUIDs, a tree, and odd names."""
    schemas, string = document["components"]["schemas"], {"type": "string"}
    schemas["Level"] = {"type": "integer", "enum": [1, 2], "x-enum-varnames": ["LOW", "HIGH"]}
    schemas["ITwin"]["properties"] |= {
        "due": {"type": ["string", "null"], "format": "date", "description": 'Called "due"'},
        "key": string | {"format": "uuid"},
        "days": {"type": "array", "items": string | {"format": "date"}},
        "level": {"$ref": "#/components/schemas/Level"},
    }
    plan = {"$ref": "#/components/schemas/Plan"}
    parts = {"type": "array", "items": plan}
    properties = {"name": string, "parts": parts, "parent": {"oneOf": [plan, {"type": "null"}]}}
    schemas["Plan"] = {"type": "object", "required": ["name"], "properties": properties}
    odd = {
        "2D": {"type": "boolean"},
        "_type": string | {"x-python-name": "own_type"},
        'q"uote': string,
        "to_dict": string,
    }
    schemas["DetectorCreate"]["properties"] |= {"plan": plan, **odd}
    schemas["ResourceClass"]["enum"].append("Cesium")
    schemas["ResourceClass"]["x-enum-varnames"].append("CESIUM")
    document["paths"]["/scenes/{sceneId}"] = {
        "delete": {
            "operationId": "delete_scene",
            "tags": ["scenes"],
            "security": [{"bearer": []}],
            "x-accept": "application/vnd.vendor.itwin-platform.v1+json",
            "parameters": [{"$ref": "#/components/parameters/SceneIdPath"}],
            "responses": {"204": {"description": "The scene is gone."}},
        }
    }
    tag = {"name": "tag", "in": "query", "required": False, "schema": string}
    document["paths"]["/itwins/"]["get"]["parameters"].append(tag)


def test_new_parts_are_sent_and_decoded(tmp_path: Path) -> None:
    """A new date is a date, a value of another form stays as it is, and a 204 is None, without a line in the wrapper.

    `make generate` lists the operations without a method.
    """
    regenerated = Regenerated(add_parts, tmp_path)
    line = "Without a method, to be called through `platform.generated`: delete_scene"
    for each in (line, "The wrapper fits."):
        assert each in regenerated.output
    assert json.loads(regenerated.run("-W", "error", "-c", SCRIPT).stdout) == {
        "types": ["date", "UUID", "date", "Level"],
        "round trips": [True, True],
        "returns": "None",
        "no content": None,
        "parameter": "blue",
        "enum value": True,
        "schemas": [{"title": "Plan", "type": "object"}, {"type": "integer", "examples": [2, 1]}],
        "sent": [True, "own", "q", "t", {"name": "a", "parent": None, "parts": [{"name": "b"}]}],
        "decoded": True,
    }


def test_a_changed_limit_reaches_the_client_the_sandbox_and_the_docstrings(tmp_path: Path) -> None:
    """`make generate` writes a limit into the rules of the client, the document of the sandbox, and docstrings."""
    for part in ("wrapper", "generated", "sandbox", "templates", "tools"):
        shutil.copytree(PROJECT / part, tmp_path / part, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(PROJECT / "generator-config.yaml", tmp_path)
    document = replaced(specification(), {"components schemas RepositoryUpdate properties uri maxLength": 30})
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
