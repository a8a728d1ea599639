"""`make spec-diff` reports every difference, also one that no rule knows."""

import copy
import random
from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import Any

import pytest

from tests.support.examples import examples
from tests.support.regenerated import Document
from tools.spec.diff import report
from tools.spec.structure import differences


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


Keys = tuple[Any, ...]
#: Objects whose keys are names, and not keywords of OpenAPI.
NAMED = ("paths", "schemas", "properties", "parameters", "responses", "headers", "content", "examples", "value")


def places(node: object, keys: Keys = ()) -> Iterator[Keys]:
    """The keys that lead to each value in a document."""
    pairs = node.items() if isinstance(node, dict) else enumerate(node) if isinstance(node, list) else ()
    for key, inner in pairs:
        yield (*keys, key)
        yield from places(inner, (*keys, key))


def value_at(document: Any, keys: Keys) -> Any:
    """The value at a place."""
    for key in keys:
        document = document[key]
    return document


def mutated(document: Document, keys: Keys, *, remove: bool) -> Document:
    """The document without one value, or with another one in its place; the rest is shared."""
    *path, last = keys
    changed: Any = copy.copy(document)
    holder = changed
    for key in path:
        holder[key] = copy.copy(holder[key])
        holder = holder[key]
    if remove:
        del holder[last]
    else:
        holder[last] = another(holder[last])
    return changed  # type: ignore[no-any-return]  # a copy of what came


def another(value: Any) -> Any:
    """A value of the same type that is not the same."""
    match value:
        case bool():
            return not value
        case int() | float():
            return value + 1
        case list():
            return [*value, "another"]
        case dict():
            return {**value, "x-another": True}
    return f"{value}x"


def kind_of(keys: Keys) -> Keys:
    """The last keywords that lead to a place, without names: places of one kind are treated alike."""
    kept = ["*" if type(key) is int or before in NAMED else key for before, key in pairwise(("", *keys))]
    return tuple(kept[-3:])


def test_every_difference_is_found(specification: Document) -> None:
    """Whatever single value of the document is removed or replaced, it is a difference, at its place."""
    checked = 0
    for keys in places(specification):
        for remove in (True, False):
            found = list(differences(specification, mutated(specification, keys, remove=remove)))
            assert found, keys
            checked += 1
    assert checked > 5_000


@pytest.mark.parametrize("seed", range(examples(10)))
def test_any_two_mutations_give_their_lines(specification: Document, seed: int) -> None:
    """Two changes anywhere: each is told as if it were the only one. Each kind of keyword is drawn equally often."""
    choose, kinds = random.Random(seed), dict[Keys, list[Keys]]()  # noqa: S311  # a test's choice
    for keys in places(specification):
        kinds.setdefault(kind_of(keys), []).append(keys)
    one, other = (choose.choice(choose.choice([*kinds.values()])) for _ in range(2))
    if one[: len(other)] == other or other[: len(one)] == one:
        other = ("info", "title")
    remove = choose.random() < 0.5
    first, second = (mutated(specification, keys, remove=remove) for keys in (one, other))
    try:
        lines = report(specification, mutated(first, other, remove=remove))
        alone = [report(specification, document) for document in (first, second)]
    except (KeyError, TypeError, AttributeError):
        return  # a document that no tool can read is not silent
    for told in alone:
        expected = {line for line in told if line.startswith("  ")}
        assert expected, (one, other)
        assert expected <= set(lines), (one, other)
