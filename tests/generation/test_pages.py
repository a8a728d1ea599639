"""A page that is as described is read without dictionaries, and any page gives the models that dictionaries give."""

import json
from typing import Any

import httpx
import pytest
from itwin_platform_api.api.itwins import list_itwins
from itwin_platform_api.api.scenes import list_scene_objects
from itwin_platform_api.models import ITwin, SceneObject, View3dData

from measure.promises.mutated_pages import CONTEXT, DATA, ITWIN, LINKS, OBJECT, SUMMARY, different


@pytest.mark.parametrize("name", ["iTwins", "objects"])
def test_a_page_with_any_deviation_gives_the_models_of_dictionaries(name: str) -> None:
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


@pytest.mark.parametrize("kinds", [("View3d", "RepositoryResource"), ("Layer", "View3d", "Évo"), ()], ids=repr)
def test_a_page_of_objects_of_any_kind_is_read_without_dictionaries(
    kinds: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    """So do pages of scene objects: `data` is typed for the documented kinds, and stays a dict for all others."""
    items = [OBJECT | {"kind": kind, "data": DATA.get(kind, DATA["Layer"])} for kind in kinds]
    body = json.dumps({"objects": items, "sceneContext": CONTEXT, "_links": LINKS}).encode()
    monkeypatch.setattr(SceneObject, "from_dict", rejected)
    page = list_scene_objects.parse_response(httpx.Response(200, content=body))
    assert [item.kind for item in page.objects] == [*kinds]
    assert [type(item.data) is dict for item in page.objects] == [
        kind not in ("View3d", "RepositoryResource") for kind in kinds
    ]
    assert [item.data.far for item in page.objects if isinstance(item.data, View3dData)] == [
        3639.451176275867
    ] * kinds.count("View3d")
