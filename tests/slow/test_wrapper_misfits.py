"""A generated name that is gone is reported with what to do about it."""

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support.real_time import LONGEST
from tests.support.regenerated import PROJECT, Change, Document, Regenerated
from tests.support.small_preview import small_document, write_wrapper
from tools.generation.generator import write_package

THIS = "tests/generation/test_wrapper_fits.py::test_the_wrapper_fits_the_generated_package"
SCRIPT = """
import json, pathlib, sys
from tools.generation.wrapper_fit import misfits
print(json.dumps(misfits(wrapper=pathlib.Path(sys.argv[1]))))
"""


def misfits_of(document: Document, folder: Path) -> list[str]:
    """Generate from a document, and hold the small wrapper against what came of it."""
    write_package(document, folder / "itwin_platform_api", name="small.yaml")
    ended = subprocess.run(  # noqa: S603  # our own tool
        [sys.executable, "-c", SCRIPT, str(write_wrapper(folder / "wrapper"))],
        cwd=PROJECT,
        env=os.environ | {"PYTHONPATH": str(folder), "COVERAGE_PROCESS_START": ""},
        capture_output=True,
        text=True,
        check=False,
        timeout=LONGEST,
    )
    assert ended.returncode == 0, ended.stderr
    found: list[str] = json.loads(ended.stdout)
    return found


def change(document: Document) -> None:
    """Rename an operation, a parameter and three fields, require a parameter, remove a model."""
    lamps, lamp = document["paths"]["/lamps"], document["paths"]["/lamps/{lampId}"]
    schemas = document["components"]["schemas"]
    lamps["post"]["operationId"] = "create_new_lamp"
    lamps["get"]["parameters"][0]["name"] = "sortBy"
    update = schemas["LampUpdate"]["properties"]
    update["callbackAddress"], update["settings"] = update.pop("callbackUrl"), update.pop("options")
    schemas["LampUpdate"]["required"] = []
    region = {"name": "region", "in": "query", "required": True, "schema": {"type": "string"}}
    lamp["patch"]["parameters"].append(region)
    schemas["Lamp"]["properties"]["kind"] = {"type": "string"}
    del schemas["LampKind"]


@pytest.fixture(scope="module")
def output(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """What is said of all these changes."""
    document = small_document()
    change(document)
    return misfits_of(document, tmp_path_factory.mktemp("changed"))


@pytest.mark.parametrize(
    "parts",
    [
        [
            "no longer gives create_lamp, which the wrapper uses (_api.py:",
            "and _operations/lamps.py",
            "create_new_lamp",
        ],
        ["order_by= of list_lamps, which", "_operations/lamps.py:10", "The nearest that there is: sort_by."],
        ["callback_url of LampUpdate, which", "platform.lamps.switch()", "callback_address"],
        ["[options] of LampUpdate, which", "platform.lamps.switch()", "renamed: put the new name there"],
        ["switch_lamp needs region= now", "_operations/lamps.py:15", "give the method a keyword for it"],
        ["no longer gives LampKind, which", "and __init__.py", "removed: remove it", "under Service"],
    ],
)
def test_what_is_gone_is_reported_with_what_to_do(output: list[str], parts: list[str]) -> None:
    """Each place is named, with the line and the way on."""
    (text,) = [text for text in output if parts[0] in text]
    assert all(part in text for part in parts), text
    assert len(output) == 6


def move(document: Document) -> None:
    """Generate an operation elsewhere, and call what is returned otherwise."""
    document["paths"]["/lamps"]["get"]["tags"] = ["lights"]
    schema = document["components"]["schemas"]["LampResponse"]
    schema["properties"] = {"created": schema["properties"]["lamp"]}
    schema["required"] = ["created"]


def test_what_is_elsewhere_is_reported(tmp_path: Path) -> None:
    """Another folder of an operation leads to the table of folders, another name in a response to who reads it."""
    document = small_document()
    move(document)
    seam, folder, read = misfits_of(document, tmp_path)
    assert "list_lamps, which the wrapper uses (_api.py:" in seam
    assert "list_lamps is generated in api/lights now: put 'lights' into _TAGS (_api.py:8)" in folder
    assert "lamp of LampResponse" in read
    assert "platform.lamps.create()" in read


def test_a_wrapper_that_fits_is_not_reported(tmp_path: Path) -> None:
    """Nothing is said of the small document as it is."""
    assert misfits_of(small_document(), tmp_path) == []


def rename_all(document: Document) -> None:
    """Call every operation otherwise."""
    for item in document["paths"].values():
        for operation in item.values():
            operation["operationId"] += "_anew"


def test_the_test_fails_with_what_to_do(regenerated: Callable[[Change], Regenerated]) -> None:
    """The test of `make test` reports the same, although the wrapper cannot be imported, and the summary repeats it."""
    changed = regenerated(rename_all)
    assert "The wrapper does not fit any more:" in changed.output
    ended = changed.run("-m", "pytest", "-q", "-p", "no:cacheprovider", THIS, status=1)
    first, last = ended.stdout.split("short test summary info")
    for text in (first, last.partition("the wrapper does not fit the generated package")[2]):
        assert re.search(r"openapi\.yaml no longer gives \w+, which the wrapper uses \(_api\.py:", text)
        assert "say so in CHANGELOG.md, under Service" in text
