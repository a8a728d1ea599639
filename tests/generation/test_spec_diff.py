"""`make spec-diff`: what changed, in the terms of a client's user, and the status that a script asks for."""

import copy
import json
from pathlib import Path

import pytest

from tests.support.regenerated import Change, Document
from tools.spec.diff import report
from tools.spec.reading import load


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


def test_changes_are_reported_in_the_terms_of_a_user(specification: Document) -> None:
    """Breaking changes come first; operations, parameters and models have the names that a caller writes."""
    document = copy.deepcopy(specification)
    one_breaking_two_harmless(document)
    used = "sent by platform.detectors.create(); returned by platform.detectors.create()"
    assert report(specification, document) == [
        "Breaking: 1",
        "  platform.scenes.list_objects(), query $top (page_size=): at most 50 now, was at most 100",
        "Not breaking: 2",
        f"  DetectorType ({used}): new value MeshSegmentationDetector",
        "  SceneCreate.tags (sent by platform.scenes.create()): new, optional, list of string",
    ]


def test_base_that_is_nothing_is_named() -> None:
    """What is neither a file nor a revision is rejected with its name."""
    with pytest.raises(SystemExit, match="no-such-base is neither a file nor a git revision"):
        load("no-such-base")
