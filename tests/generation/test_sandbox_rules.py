"""A rule of the sandbox that the specification contradicts is named, with the line that holds it."""

import copy
import re
from collections.abc import Callable
from typing import Any

import pytest

from tests.support.regenerated import PROJECT, Document
from tools.generation.sandbox_fit import sandbox_misfits
from tools.generation.sandbox_rules import wrong_rules
from tools.spec.reading import read

LISTED = "sandbox/itwin_platform_sandbox/_service"
Change = Callable[[Document], None]


def schema(name: str, place: str, key: str, value: Any) -> Change:
    """Return a change of one keyword of a property."""

    def change(document: Document) -> None:
        document["components"]["schemas"][name]["properties"][place][key] = value

    return change


def parameter(name: str, key: str, value: Any) -> Change:
    """Return a change of one keyword of a parameter."""

    def change(document: Document) -> None:
        document["components"]["parameters"][name]["schema"][key] = value

    return change


def required(name: str, names: list[str]) -> Change:
    """Return a change of what a body must have."""

    def change(document: Document) -> None:
        document["components"]["schemas"][name]["required"] = names

    return change


def added_value(name: str) -> Change:
    """Return a change that adds a value to an enum."""
    return lambda document: document["components"]["schemas"][name]["enum"].append("New")


def renamed_value(document: Document) -> None:
    """Give a detector type another name."""
    document["components"]["schemas"]["DetectorType"]["enum"][0] = "ImageObjectDetector"


def smaller_body(document: Document) -> None:
    """Allow a smaller scene."""
    document["paths"]["/scenes/"]["post"]["requestBody"]["x-max-body-bytes"] = 2**20


def without_header_authentication(document: Document) -> None:
    """Take a kind of authentication away."""
    document["components"]["schemas"]["StoredRepositoryAuthentication"]["oneOf"].pop(0)


def new_property(document: Document) -> None:
    """Give detectors a region."""
    document["components"]["schemas"]["DetectorCreate"]["properties"]["region"] = {"type": "string"}


def new_parameter(document: Document) -> None:
    """Give the listing another parameter."""
    new = {"name": "region", "in": "query", "schema": {"type": "string"}}
    document["paths"]["/itwins/"]["get"]["parameters"].append(new)


#: Changes by the operation whose rule they concern, each with what is said of it and words of the line to change.
RULES: dict[str, list[tuple[Change, str, str | None]]] = {
    "list_itwins": [
        (
            parameter("ITwinsTop", "maximum", 500),
            "at most 500 for query $top of list_itwins, the sandbox allows 1000",
            "1001",
        ),
        (
            parameter("ITwinsTop", "maximum", 2000),
            "allows 2000 for query $top of list_itwins, the sandbox allows",
            "1001",
        ),
        (parameter("ITwinsTop", "minimum", 5), "allows at least 5 for query $top of list_itwins", '"$top"'),
        (parameter("ITwinsTop", "x-default", 50), "has the default 50 for query $top of list_itwins", '"$top"'),
        (parameter("IncludeInactive", "x-default", True), "default True for query includeInactive", "includeInactive"),
        (parameter("MaxReturn", "maximum", 5000), "at most 5000 for header X-Max-Return of list_itwins", "10_000"),
        (added_value("ITwinStatus"), "allows New for query status of list_itwins", "status"),
        (new_parameter, "has query region of list_itwins, the sandbox does not know it", None),
    ],
    "list_scene_objects": [
        (
            parameter("SceneObjectsTop", "maximum", 50),
            "at most 50 for query $top of list_scene_objects",
            "LARGEST_PAGE = ",
        ),
    ],
    "update_repository": [
        (schema("RepositoryUpdate", "uri", "maxLength", 500), "at most 500 for RepositoryUpdate.uri", "LONGEST_TEXT"),
        (
            schema("StoredRepositoryOptions", "minimumLevel", "maximum", 22),
            "StoredRepositoryOptions.minimumLevel",
            "24",
        ),
    ],
    "create_repository_resource": [
        (schema("ResourceCreate", "id", "maxLength", 300), "allows 300 for ResourceCreate.id", "LONGEST_TEXT"),
        (required("ResourceCreate", ["id"]), "requires no more of create_repository_resource", None),
    ],
    "create_scene": [
        (
            schema("SceneDataCreate", "objects", "maxItems", 50),
            "at most 50 for SceneCreate.sceneData, ",
            "MOST_OBJECTS",
        ),
        (smaller_body, "at most 1048576 for body of create_scene, the sandbox allows 4718592", "LARGEST_BODY"),
        (
            schema("SceneCreate", "description", "type", ["string", "null"]),
            "allows null for SceneCreate.desc",
            "description",
        ),
    ],
    "create_detector": [
        (
            schema("DetectorCreate", "displayName", "type", "string"),
            "does not allow null for DetectorCreate.",
            "displayName",
        ),
        (new_property, "has DetectorCreate.region", None),
        (required("DetectorCreate", ["name", "type", "description"]), "requires description in create_detector", None),
    ],
    "update_webhook": [
        (added_value("EventType"), "allows New for WebhookUpdate.eventTypes of update_webhook", "eventTypes"),
    ],
}


@pytest.mark.parametrize(
    ("operation", "change", "said", "line"),
    [(operation, *case) for operation, cases in RULES.items() for case in cases],
)
def test_a_rule_that_changed_leads_to_its_line(
    specification: Document, operation: str, change: Change, said: str, line: str | None
) -> None:
    """The sandbox would accept what the service rejects, or reject what it accepts."""
    document = copy.deepcopy(specification)
    change(document)
    (found,) = [text for text in wrong_rules(read(document), [operation]) if said in text]
    assert LISTED in found
    assert line is None or leads_to(found, line)


@pytest.mark.parametrize(
    ("change", "said", "line"),
    [
        (renamed_value, "no longer has the value PhotoObjectDetector, which the sandbox accepts", "DETECTOR_TYPES"),
        (without_header_authentication, "no longer has the value Header", "AUTHENTICATION_PROPERTIES"),
    ],
)
def test_a_value_that_is_gone_leads_to_its_line(specification: Document, change: Change, said: str, line: str) -> None:
    """The sandbox would accept a value that the service no longer knows."""
    document = copy.deepcopy(specification)
    change(document)
    (found,) = [text for text in sandbox_misfits(read(document)) if said in text]
    assert leads_to(found, line)


def leads_to(found: str, line: str) -> bool:
    """Return whether a text names a line of the sandbox's source that holds these words."""
    places = re.findall(r"([\w/]+\.py):(\d+)", found)
    lines = [(PROJECT / file).read_text(encoding="utf-8").splitlines()[int(number) - 1] for file, number in places]
    return any(line in text for text in lines)
