"""A list that is as described is read without dictionaries, and any list gives the models that dictionaries give."""

import copy
import gc
import json
import pickle
from collections.abc import Callable, Sequence
from typing import Any

import attrs
import httpx
import pytest
from itwin_platform_api.api.itwins import list_itwins
from itwin_platform_api.api.scenes import create_scene, list_scene_objects
from itwin_platform_api.models import ITwin, SceneObject, SceneObjectMinimal, SceneResponse, View3dData

from measure.promises.mutated_lists import CONTEXT, CREATED, DATA, ITWIN, LINKS, OBJECT, SCENE, SUMMARY, VIEW, different


@pytest.mark.parametrize("name", ["iTwins", "objects", "scene"])
def test_a_list_with_any_deviation_gives_the_models_of_dictionaries(name: str) -> None:
    """Fields that are unknown, missing, null, doubled or of another type, and broken bodies, are read alike."""
    assert different(name, count=2_000) == []


def rejected(_: object) -> Any:
    """Stand in for making a model of a dictionary."""
    raise AssertionError("a dictionary was made")


@pytest.mark.parametrize("names", [tuple(ITWIN), SUMMARY], ids=["full", "minimal"])
def test_a_page_of_itwins_is_read_without_dictionaries(names: tuple[str, ...], monkeypatch: pytest.MonkeyPatch) -> None:
    """Pages of full and of minimal iTwins take the fast way."""
    items = [{name: ITWIN[name] for name in names}] * 3
    monkeypatch.setattr(ITwin, "from_dict", rejected)
    page = list_itwins.parse_response(httpx.Response(200, json={"iTwins": items, "_links": LINKS}))
    assert [itwin.number for itwin in page.itwins] == ["PRO-000005"] * 3


KINDS = pytest.mark.parametrize("kinds", [("View3d", "RepositoryResource"), ("Layer", "View3d", "Évo"), ()], ids=repr)


@KINDS
def test_a_page_of_objects_of_any_kind_is_read_without_dictionaries(
    kinds: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    """So do pages of scene objects: `data` is typed for the documented kinds, and stays a dict for all others."""
    items = [OBJECT | {"kind": kind, "data": DATA.get(kind, DATA["Layer"])} for kind in kinds]
    body = json.dumps({"objects": items, "sceneContext": CONTEXT, "_links": LINKS}).encode()
    monkeypatch.setattr(SceneObject, "from_dict", rejected)
    page = list_scene_objects.parse_response(httpx.Response(200, content=body))
    check_data(page.objects, kinds)


@KINDS
def test_the_objects_of_a_created_scene_are_read_without_dictionaries(
    kinds: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A list that an object of the response holds is read as that of a page."""
    items = [CREATED | {"kind": kind, "data": DATA.get(kind, DATA["Layer"])} for kind in kinds]
    body = json.dumps({"scene": SCENE | {"sceneData": {"objects": items}}}).encode()
    for model in (SceneResponse, SceneObjectMinimal):
        monkeypatch.setattr(model, "from_dict", rejected)
    scene = create_scene.parse_response(httpx.Response(200, content=body)).scene
    assert (scene.display_name, scene.creation_time.year) == ("Harbour", 2024)
    check_data(scene.scene_data.objects, kinds)


def listed_view() -> SceneObject:
    """Return an object of a page, whose data has not been read."""
    body = {"objects": [OBJECT | {"kind": "View3d", "data": VIEW}], "sceneContext": CONTEXT, "_links": LINKS}
    return list_scene_objects.parse_response(httpx.Response(200, json=body)).objects[0]


def count_of_views() -> int:
    """Return how many models of views there are."""
    return sum(type(each) is View3dData for each in gc.get_objects())


def test_the_models_of_the_data_of_an_object_are_made_once_when_it_is_first_read() -> None:
    """A listing whose data nobody reads makes no models of it, and what is changed in the data stays changed."""
    before = count_of_views()
    item = listed_view()
    assert count_of_views() <= before
    assert isinstance(item.data, View3dData)
    item.data.far = 5.0
    assert item.data.far == 5.0


COPIES: dict[str, Callable[[SceneObject], SceneObject]] = {
    "copy": copy.copy,
    "deepcopy": copy.deepcopy,
    "pickle": lambda item: pickle.loads(pickle.dumps(item)),  # noqa: S301  # our own bytes
    "evolve": attrs.evolve,
}


@pytest.mark.parametrize("copied", COPIES.values(), ids=COPIES)
def test_an_object_whose_data_was_not_read_is_like_one_whose_data_was(
    copied: Callable[[SceneObject], SceneObject],
) -> None:
    """It is equal, and has the same copies, the same representation, and the same JSON."""
    known = SceneObject.from_dict(OBJECT | {"kind": "View3d", "data": VIEW})
    assert copied(listed_view()) == known
    assert (repr(listed_view()), listed_view().to_dict()) == (repr(known), known.to_dict())


def test_the_data_of_an_object_can_be_replaced_before_it_is_read() -> None:
    """What the caller assigns is what the object has."""
    item = listed_view()
    item.data = {"far": 1}
    assert item.data == {"far": 1}


def check_data(items: Sequence[SceneObject | SceneObjectMinimal], kinds: tuple[str, ...]) -> None:
    """Check the kinds of scene objects, and their data."""
    assert [item.kind for item in items] == [*kinds]
    assert [type(item.data) is dict for item in items] == [
        kind not in ("View3d", "RepositoryResource") for kind in kinds
    ]
    assert [item.data.far for item in items if isinstance(item.data, View3dData)] == [3639.451176275867] * kinds.count(
        "View3d"
    )
