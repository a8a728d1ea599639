"""The rules of the document, which the generated functions apply before anything is sent."""

from functools import partial
from typing import Any

import pytest
from itwin_platform import UNSET, SceneObjectCreate, UsageError
from itwin_platform._operations import usage_error
from itwin_platform_api.api.itwins import list_itwins
from itwin_platform_api.api.repositories import update_repository
from itwin_platform_api.api.scenes import create_scene
from itwin_platform_api.rules import Rule, check

from tests.support.calls import SCENE
from tests.wrapper.client.conftest import Index


class OtherBool:
    """A truth value of another library, which is neither a bool nor an integer."""

    def __bool__(self) -> bool:
        return True


UUID = {"pattern": create_scene.RULES["body"].properties["id"].pattern, "form": "a UUID string"}
OBJECT: Any = create_scene.RULES["body"].properties["sceneData"].properties["objects"].items
SEMVER = {"pattern": OBJECT.properties["version"].pattern, "form": "a semantic version"}
#: A rule of the document; values that fit, and values that do not.
FITTING: list[tuple[dict[str, Any], list[object], list[object]]] = [
    ({"kind": "integer", "least": 0, "most": 9}, [0, 9], [-1, 10, True, 1.0, "1", None, float("nan"), [1]]),
    ({"kind": "integer"}, [-(10**9), 10**9, Index()], [OtherBool()]),
    ({"kind": "number", "most": 3599}, [Index(), 1.5], [OtherBool(), float("-inf")]),
    ({"kind": "number", "most": 3598}, [], [Index()]),
    ({"kind": "number", "least": 0, "most": 9}, [0, 9, 0.0, 9.0], [-0.1, 9.1, True, "1", None, [1]]),
    ({"kind": "string", "least": 2, "most": 3}, ["ab", "abc"], ["", "a", "abcd", None, 1, b"xx", ["x", "y"], {}]),
    ({"kind": "string", **UUID}, [SCENE, SCENE.upper()], [f"{SCENE}\n", f" {SCENE}", SCENE[:-1], "x"]),
    ({"kind": "string", **SEMVER}, ["1.0.0", "1.12.3-beta.1+build.5"], ["1.0", "v1.0.0", "01.0.0", ""]),
    ({"kind": "boolean"}, [True, False], [None, 1, "true", []]),
    ({"kind": "array", "least": 2, "most": 3}, [[1, 2], [1, 2, 3]], [[], [1], [1] * 4, None, 1, "xy", {}, {"x", "y"}]),
    ({"kind": "object"}, [{}], [None, 1, "x", ["x"]]),
]


def by_rule(value: object, **details: Any) -> tuple[str | None, str | None] | None:
    """The code and target with which a rule with the target T rejects a value; None where it passes."""
    try:
        check({"n": Rule(argument="n", code="Invalid", target="T", **details)}, {"n": value}, usage_error)
    except UsageError as error:
        return error.code, error.target
    return None


@pytest.mark.parametrize(("details", "fitting", "others"), FITTING, ids=lambda value: str(value)[:40])
def test_a_value_fits_its_rule_to_both_ends(
    details: dict[str, Any], fitting: list[object], others: list[object]
) -> None:
    """A range includes its ends, a bool is no number, a string is no list, and None is null."""
    assert [by_rule(value, **details) for value in fitting] == [None] * len(fitting)
    for extra in ({}, {"required": True}):
        assert [by_rule(value, **details, **extra) for value in others] == [("Invalid", "T")] * len(others)


@pytest.mark.parametrize("kind", ["string", "integer", "number", "boolean", "array", "object", "any"])
def test_an_optional_or_nullable_value_passes(kind: str) -> None:
    """UNSET passes an optional value, None a nullable one; an empty string counts as missing."""
    assert by_rule(UNSET, kind=kind) is None
    assert by_rule(None, kind=kind, nullable=True) is None
    assert by_rule(UNSET, kind=kind, required=True, missing_code="Missing") == ("Missing", "T")
    assert by_rule("", kind="string", least=1, missing_code="Missing") == ("Missing", "T")


def test_a_limit_that_the_document_does_not_state_is_none() -> None:
    """Reading a limit that the document does not state is a ValueError that names it."""
    with pytest.raises(ValueError, match="no maximum of skip"):
        assert list_itwins.RULES["skip"].maximum


