"""`make spec-diff` reports every difference, also one that no rule knows."""

import copy
import random
from collections.abc import Callable
from typing import Any

import pytest

from tests.support.examples import examples
from tests.support.regenerated import Document
from tools.spec.diff import report

SILENT = ["Breaking: 0", "Not breaking: 0"]


def operation(document: Document) -> dict[str, Any]:
    """One operation."""
    found: dict[str, Any] = document["paths"]["/itwins/"]["get"]
    return found


# The change, and the location that is reported.
CASES: list[tuple[Callable[[Document], object], str]] = [
    (lambda d: operation(d).update(security=[{"bearer": ["other"]}]), "paths /itwins/ get security 0 bearer"),
    (lambda d: operation(d).update(deprecated=True), "paths /itwins/ get deprecated: new: True"),
    (lambda d: d["servers"][0].update(url="{base_url}/v3"), "servers 0 url: is {base_url}/v3 now"),
    (
        lambda d: d["components"]["securitySchemes"]["bearer"].update(scheme="basic"),
        "components securitySchemes bearer scheme: is basic now, was bearer",
    ),
    (lambda d: d["components"]["parameters"]["Select"].update(explode=True), "parameters Select explode: is True now"),
    (
        lambda d: d["components"]["headers"]["RetryAfter"]["schema"].update(type="string"),
        "headers RetryAfter schema type",
    ),
    (
        lambda d: d["components"]["schemas"]["Vector3d"].update(additionalProperties=False),
        "schemas Vector3d additionalProperties: new: False",
    ),
    (
        lambda d: operation(d)["responses"].update({"200": {"description": "x", "content": {"text/csv": {}}}}),
        "platform.itwins.list(), response 200",
    ),
    (
        lambda d: d["components"]["schemas"].update(
            Vector3d={**d["components"]["schemas"]["Vector3d"], "properties": {**_reversed(d, "Vector3d")}}
        ),
        "components schemas Vector3d properties: is in another order now",
    ),
    (lambda d: d["info"].update(title="Another"), "info title"),
    (
        lambda d: d["components"]["responses"]["SceneExists"].update(description="Twice."),
        "responses SceneExists description",
    ),
    (
        lambda d: d["components"]["schemas"]["ITwinStatus"].update({"x-enum-varnames": ["ON", "INACTIVE", "TRIAL"]}),
        "the member of Active is called ON now, was ACTIVE",
    ),
]


def _reversed(document: Document, schema: str) -> dict[str, Any]:
    return dict(reversed(document["components"]["schemas"][schema]["properties"].items()))


def test_a_difference_that_no_rule_knows_is_reported_by_its_location(specification: Document) -> None:
    """Changes of security, deprecation, servers, media types, explode, header types and order are all reported."""
    document = copy.deepcopy(specification)
    for change, _ in CASES:
        change(document)
    lines = report(specification, document)
    assert [location for _, location in CASES if not any(location in line for line in lines)] == []


def test_a_removed_operation_is_one_breaking_line(specification: Document) -> None:
    """The line of a removed operation names the models that only it used."""
    document = copy.deepcopy(specification)
    del document["paths"]["/reality-analysis/detectors"]
    for name in ("Detector", "DetectorCreate", "DetectorResponse"):
        del document["components"]["schemas"][name]
    first, line, second = report(specification, document)[:3]
    assert (first, second) == ("Breaking: 1", "Not breaking: 0")
    assert "with Detector, DetectorCreate, DetectorResponse" in line


def holders(node: object) -> list[Any]:
    """Return every object and list of a document that is not empty."""
    inner = list(node.values()) if isinstance(node, dict) else node if isinstance(node, list) else []
    return [*([node] if inner else []), *(found for value in inner for found in holders(value))]


@pytest.mark.parametrize("seed", range(examples(12)))
def test_any_mutation_gives_a_line(specification: Document, seed: int) -> None:
    """Removing or replacing any value of the document gives at least one line."""
    document, choose = copy.deepcopy(specification), random.Random(seed)  # noqa: S311 - a test's choice
    holder = choose.choice(holders(document))
    key = choose.choice(list(holder) if isinstance(holder, dict) else list(range(len(holder))))
    if isinstance(holder[key], str):
        holder[key] += "x"
    else:
        del holder[key]
    try:
        lines = report(specification, document)
    except (KeyError, TypeError, AttributeError):
        return  # a document that no tool can read is not silent
    assert lines != SILENT
