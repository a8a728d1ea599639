"""`make spec-diff` says something of every difference, also of one that no rule knows."""

import copy
import random
import re
from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import Any

import pytest

from tests.support.examples import examples
from tests.support.regenerated import Document
from tests.support.small_preview import small_document
from tools.spec.diff import report
from tools.spec.differences import differences


def operation(document: Document) -> dict[str, Any]:
    """One operation."""
    found: dict[str, Any] = document["paths"]["/itwins/"]["get"]
    return found


# What is done, and the place that is reported.
CASES: list[tuple[Callable[[Document], object], str]] = [
    (lambda d: operation(d).update(security=[{"bearer": ["other"]}]), "list_itwins, security 0 bearer"),
    (lambda d: operation(d).update(deprecated=True), "list_itwins, deprecated: new: True"),
    (lambda d: d["servers"][0].update(url="{base_url}/v3"), "servers 0 url: is {base_url}/v3 now"),
    (
        lambda d: d["components"]["securitySchemes"]["bearer"].update(scheme="basic"),
        "securitySchemes bearer scheme: is basic now, was bearer",
    ),
    (lambda d: d["components"]["parameters"]["Select"].update(explode=True), "query $select explode: is True now"),
    (lambda d: d["components"]["headers"]["RetryAfter"].update(style="other"), "headers RetryAfter style"),
    (
        lambda d: d["components"]["schemas"]["Vector3d"].update(additionalProperties=False),
        "list_scene_objects): new: False",
    ),
    (
        lambda d: operation(d)["responses"].update({"200": {"description": "x", "content": {"text/csv": {}}}}),
        "list_itwins, responses 200",
    ),
    (
        lambda d: d["components"]["schemas"].update(
            Vector3d={**d["components"]["schemas"]["Vector3d"], "properties": {**_reversed(d, "Vector3d")}}
        ),
        "is in another order now",
    ),
    (lambda d: d["info"].update(title="Another"), "info title"),
    (
        lambda d: d["components"]["responses"]["SceneExists"].update(description="Twice."),
        "responses SceneExists description",
    ),
]


def _reversed(document: Document, schema: str) -> dict[str, Any]:
    return dict(reversed(document["components"]["schemas"][schema]["properties"].items()))


@pytest.mark.parametrize(("change", "place"), CASES)
def test_a_difference_that_no_rule_knows_is_reported_by_its_place(
    specification: Document, change: Callable[[Document], object], place: str
) -> None:
    """Security, deprecation, servers, media types, explode, header types and order are never silent."""
    document = copy.deepcopy(specification)
    change(document)
    assert any(place in line for line in report(specification, document)), report(specification, document)


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


def drawn(document: Document, choose: random.Random) -> Keys:
    """A place in a document. Each kind of keyword is drawn equally often."""
    kinds: dict[Keys, list[Keys]] = {}
    for keys in places(document):
        kinds.setdefault(kind_of(keys), []).append(keys)
    return choose.choice(choose.choice([*kinds.values()]))


def said(before: Document, after: Document) -> set[str]:
    """The lines about changes, without the operations that send or return a model: a change may rename these."""
    lines = [line for line in report(before, after) if line.startswith("  ")]
    return {re.sub(r" \((sent|returned) by .*?\):", ":", line) for line in lines}


@pytest.mark.parametrize("seed", range(examples(40)))
def test_any_two_mutations_give_their_lines(seed: int) -> None:
    """Two changes anywhere in a document: each is told as if it were the only one."""
    document, choose = small_document(), random.Random(seed)  # noqa: S311  # a test's choice
    one, other = drawn(document, choose), drawn(document, choose)
    if one[: len(other)] == other or other[: len(one)] == one:
        other = ("info", "title")
    remove = seed % 2 == 0
    first, second = (mutated(document, keys, remove=remove) for keys in (one, other))
    try:
        both, *alone = (said(document, changed) for changed in (mutated(first, other, remove=remove), first, second))
    except (KeyError, TypeError, AttributeError):
        return  # a document that no tool can read is not silent
    for expected in alone:
        assert expected, (one, other)
        assert expected <= both, (one, other)
