"""`make spec-diff`: what changed, in the terms of a client's user, and the status that a script asks for."""

import copy
import json
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support.regenerated import Change, Document
from tests.support.small_preview import small_document
from tools.generation.document import load_document
from tools.spec.diff import report
from tools.spec.packages import Breakage, compared


def one_breaking_two_harmless(document: Document) -> None:
    """A made-up change of previews: a smaller page, another detector type, an optional field."""
    document["components"]["parameters"]["SceneObjectsTop"]["schema"]["maximum"] = 50
    schemas = document["components"]["schemas"]
    schemas["DetectorType"]["enum"].append("MeshSegmentationDetector")
    schemas["SceneCreate"]["properties"]["tags"] = {"type": "array", "items": {"type": "string"}}


def more_harmless(document: Document) -> None:
    """A change that is not breaking."""
    document["components"]["schemas"]["SceneCreate"]["properties"]["tags"] = {"type": "string"}


def changed(specification: Document, change: Change, folder: Path) -> str:
    """The file of a changed copy."""
    document = copy.deepcopy(specification)
    change(document)
    file = folder / "changed.yaml"
    file.write_text(json.dumps(document), encoding="utf-8")
    return str(file)


def test_changes_are_reported_by_operation_and_model(specification: Document) -> None:
    """Breaking changes come first; a model names the operations that send and return it."""
    document = copy.deepcopy(specification)
    one_breaking_two_harmless(document)
    assert report(specification, document) == [
        "Breaking: 1",
        "  list_scene_objects, query $top: at most 50 now, was at most 100",
        "Not breaking: 2",
        "  DetectorType (sent by create_detector; returned by create_detector): new value MeshSegmentationDetector",
        "  SceneCreate.tags (sent by create_scene): new, optional",
    ]


def test_a_broken_name_is_reported_beside_names_that_contain_it(specification: Document) -> None:
    """What broke in the package is listed, unless a line about the same operation or model stands there already."""
    document = copy.deepcopy(specification)
    one_breaking_two_harmless(document)
    broken = [Breakage(owner=name, member="", text="is gone") for name in ("list_scene", "list_scene_objects")]
    breaking, limit, gone, *_ = report(specification, document, None, broken)
    assert (breaking, gone) == ("Breaking: 2", "  list_scene: is gone")
    assert limit.startswith("  list_scene_objects, ")


def with_format(name: str) -> Callable[[Document], object]:
    """Give the id of a lamp a format."""
    return lambda schemas: schemas["Lamp"]["properties"].update(id={"type": "string", "format": name})


@pytest.mark.parametrize(
    ("change", "lines"),
    [
        (
            lambda schemas: schemas["Lamp"]["properties"].update(id={"$ref": "#/components/schemas/LampId"}),
            ["Breaking: 0", "Not breaking: 2"],
        ),
        (with_format("uri"), ["Breaking: 0", "Not breaking: 1"]),
        (with_format("uuid"), ["Breaking: 1", "Not breaking: 0"]),
        (lambda schemas: schemas["Lamp"]["properties"].pop("id"), ["Breaking: 1", "Not breaking: 0"]),
        (lambda schemas: schemas["LampId"].update(title="Number"), ["Breaking: 0", "Not breaking: 0"]),
    ],
)
def test_what_leaves_the_generated_package_as_it_is_breaks_nothing(
    change: Callable[[Document], object], lines: list[str]
) -> None:
    """Another way to say the same of a string is not breaking; what a module of the package loses is."""
    before, after = small_document(), small_document()
    for document in (before, after):
        document["components"]["schemas"]["LampId"] = {"type": "string"}
    change(after["components"]["schemas"])
    found = report(before, after, *compared(before, after))
    assert [line for line in found if line.startswith(("Breaking", "Not"))] == lines, found


def test_base_that_is_nothing_is_named() -> None:
    """What is neither a file nor a revision is rejected with its name."""
    with pytest.raises(SystemExit, match="no-such-base is neither a file nor a git revision"):
        load_document("no-such-base")
