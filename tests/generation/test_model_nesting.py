"""What is nested as deeply as a response can be decoded can be used like everything else."""

import copy
import json
import pickle
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import pytest
from itwin_platform import ITwin, escape
from itwin_platform_api.types import copy_values, encode

LEVEL = {"dict": ('{"<": ', "}"), "list": ("[", "]")}


def deepest_model(opening: str, closing: str) -> ITwin:
    """Return a model with an unknown field of as many levels as this version of Python decodes."""
    model = ITwin.from_dict({})
    for depth in (800, 1_300, 9_000, 50_000):
        with suppress(RecursionError):
            model = ITwin.from_dict(json.loads('{"new": ' + opening * depth + '"<"' + closing * depth + "}"))
    return model


def levels(value: Any) -> tuple[int, Any]:
    """Count the levels of a value, and return them with what is inside; comparing such values fails by itself."""
    depth = 0
    while isinstance(value, dict | list):
        (value,) = value.values() if isinstance(value, dict) else value
        depth += 1
    return depth, value


USES: dict[str, Callable[[ITwin], Any]] = {
    "to_dict()": lambda model: model.to_dict(),
    "encode()": lambda model: encode([model])[0],
    "pickle": lambda model: pickle.loads(pickle.dumps(model)).additional_properties,  # noqa: S301  # our own bytes
    "deepcopy()": lambda model: copy.deepcopy(model).additional_properties,
}


@pytest.mark.parametrize("use", USES)
@pytest.mark.parametrize("level", LEVEL)
def test_what_can_be_decoded_can_be_used(level: str, use: str) -> None:
    """Python functions, pickle and deepcopy give up at fewer levels than decoding does; the model does not."""
    model = deepest_model(*LEVEL[level])
    depth, inside = levels(model.additional_properties)
    assert depth > 800
    assert levels(USES[use](model)) == (depth, inside)


@pytest.mark.parametrize("level", LEVEL)
def test_what_can_be_decoded_can_be_escaped(level: str) -> None:
    """Also the innermost string."""
    model = deepest_model(*LEVEL[level])
    assert levels(escape(model)) == (levels(model.additional_properties)[0], "&lt;")


def test_a_copy_of_what_holds_itself_ends() -> None:
    """What holds itself twice becomes a copy that does, in no more time than it has parts."""
    circle: list[Any] = []
    circle += [circle, circle]
    copied = encode(circle)
    assert copied is not circle
    assert copied[0] is copied[1] is copied
    assert len(copy_values({"a": circle, "b": circle}, scalar=encode)["a"]) == 2
    model = pickle.loads(pickle.dumps(ITwin.from_dict({"new": circle})))  # noqa: S301  # our own bytes
    assert model["new"][0] is model["new"][1] is model["new"]
