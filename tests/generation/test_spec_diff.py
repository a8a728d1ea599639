"""`make spec-diff`: what changed, in the terms of a client's user, and the status that a script asks for."""

import copy
import json
from pathlib import Path

import pytest

from tests.support.regenerated import Change, Document
from tools.generation.document import load_document
from tools.spec.diff import report
from tools.spec.packages import Breakage


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
    breaking, limit, gone, *_ = report(specification, document, broken)
    assert (breaking, gone) == ("Breaking: 2", "  list_scene: is gone")
    assert limit.startswith("  list_scene_objects, ")


def test_base_that_is_nothing_is_named() -> None:
    """What is neither a file nor a revision is rejected with its name."""
    with pytest.raises(SystemExit, match="no-such-base is neither a file nor a git revision"):
        load_document("no-such-base")
