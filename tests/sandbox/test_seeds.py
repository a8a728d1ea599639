"""The example data, and exactly the data that a test needs. Source: sections 2.1 to 2.9 and 3."""

import re
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from itwin_platform_sandbox import Sandbox

from tests.support.sandboxes import serving
from tests.support.schema_values import SCHEMAS


def test_the_same_seed_gives_the_same_data_on_every_day() -> None:
    """Two sandboxes of one seed have the same ids and objects of several kinds, one of another seed has other ids."""
    first, again = Sandbox(), Sandbox(now=lambda: datetime(2031, 1, 1, tzinfo=UTC))
    scene: Any = first.stored("scene", first.scene_id)
    assert scene == again.stored("scene", first.scene_id)
    kinds = {item["kind"] for item in scene["sceneData"]["objects"]}
    assert kinds == {"RepositoryResource", "View3d", "Layer", "GISStyling"}
    for name in ("account_id", "itwin_id", "repository_ids", "webhook_ids"):
        assert getattr(first, name) == getattr(again, name) != getattr(Sandbox(seed=2), name)


@pytest.mark.parametrize("count", [1, 7, 250])
async def test_the_itwins_form_one_hierarchy(count: int) -> None:
    """The default listing has as many as asked for, and Inactive ones come on top; the Account is the root."""
    async with serving(itwins=count) as (sandbox, http):
        url = "/itwins/?$top=1000&includeInactive=true&$select=id,parentId,status,subClass"
        itwins = (await http.get(url)).json()["iTwins"]
    ids, statuses = {itwin["id"] for itwin in itwins}, [itwin["status"] for itwin in itwins]
    assert (len(itwins) - count, statuses.count("Inactive")) == (max(1, count // 10),) * 2
    assert {itwin["parentId"] for itwin in itwins} <= {None, *ids}
    assert [itwin["id"] for itwin in itwins if itwin["parentId"] is None] == [sandbox.account_id]
    for name, schema in (("status", "ITwinStatus"), ("subClass", "ITwinSubClass")):
        assert count < 250 or {itwin[name] for itwin in itwins} == {*SCHEMAS[schema]["enum"]}


ITWIN_ID = "6a2d2381-6c57-9332-387a-5b7c00000000"
STYLED_ID = "7f2c1f8e-0000-9332-387a-5b7c00000000"
STYLED = {"id": STYLED_ID, "kind": "RepositoryResource", "version": "1.0.0", "data": {"id": "roads"}}
STYLING = {"kind": "GISStyling", "version": "1.0.0", "relatedId": STYLED_ID, "data": {"opacity": 0.5}}
CREATED = "2024-01-15T12:00:00.000Z"
SEED: dict[str, Any] = {
    "itwins": [
        {"id": ITWIN_ID, "displayName": "Harbour", "subClass": "Asset"}
        | {"latitude": 60.389999999999999, "createdDateTime": CREATED},
        {"displayName": "Closed", "status": "Inactive"},
    ],
    "repositories": [
        {"id": "maps/1", "subClass": "ArcGIS", "displayName": "Maps"},
        {"class": "Storage", "displayName": "Documents"},
    ],
    "scenes": [{"displayName": "Review", "objects": [STYLED, STYLING]}],
    "webhooks": [{"active": True, "eventTypes": ["iTwins.iTwinDeleted.v1"]}],
}


async def test_a_seed_has_exactly_its_entries() -> None:
    """A seed is stored with an Account and plausible defaults, and a reset restores it."""
    async with serving(seed=SEED) as (sandbox, http):
        ids = sandbox.scene_id, sandbox.webhook_id, sandbox.account_id
        for _ in range(2):
            everything = (await http.get("/itwins/?includeInactive=true&$orderby=displayName")).json()["iTwins"]
            assert [itwin["displayName"] for itwin in everything] == ["Closed", "Harbour", "Seeded account"]
            full = (
                await http.get("/itwins/?$filter=latitude gt 60&$select=latitude,iTwinAccountId,createdDateTime")
            ).json()
            values = {"iTwinAccountId": sandbox.account_id, "createdDateTime": CREATED}
            assert full["iTwins"] == [{"latitude": 60.389999999999999} | values]
            assert (sandbox.itwin_id, sandbox.repository_id) == (ITWIN_ID, "maps/1")
            assert sandbox.repository_ids.keys() == {"ArcGIS", "Storage"}
            objects = (await http.get(f"/scenes/{sandbox.scene_id}/objects?iTwinId={ITWIN_ID}")).json()["objects"]
            assert [item["kind"] for item in objects] == ["GISStyling", "RepositoryResource"]
            webhook = (await http.patch(f"/webhooks/{sandbox.webhook_id}", json={})).json()
            assert (webhook["active"], webhook["scopeId"]) == (True, ITWIN_ID)
            sandbox.reset()
            assert ids == (sandbox.scene_id, sandbox.webhook_id, sandbox.account_id)


async def test_an_empty_seed_has_an_account_and_nothing_else() -> None:
    """An empty seed has an Account only, and the other ids are a LookupError."""
    async with serving(seed={}) as (sandbox, http):
        account = (await http.get("/itwins/myprimaryaccount")).json()["iTwin"]
        assert (await http.get("/itwins/")).json()["iTwins"] == [account]
        assert (await http.get("/sandbox")).json()["ids"]["scene_id"] is None
    for name in ("repository_id", "scene_id", "webhook_id"):
        with pytest.raises(LookupError, match="the seed has no"):
            getattr(sandbox, name)


def one(part: str, **entry: Any) -> dict[str, Any]:
    """A seed with one entry."""
    return {part: [entry]}


BASIC = {"type": "Basic", "username": "reader"}
LAYER = {"kind": "Layer", "version": "1.0.0", "data": {}}
OTHER_ID = "7f2c1f8e-0000-9332-387a-5b7c00000009"
#: A seed, and the place that its error names: a row for each rule.
WRONG_SEEDS: list[tuple[dict[str, Any], str]] = [
    ({"projects": []}, "projects"),
    ({"itwins": {}}, "itwins"),
    ({"itwins": ["x"]}, "itwins[0]"),
    (one("itwins", name="x"), "itwins[0].name"),
    (one("itwins", subClass="Bridge"), "itwins[0].subClass"),
    (one("itwins", id="x"), "itwins[0].id"),
    ({"itwins": [{"id": ITWIN_ID}, {"id": ITWIN_ID.upper()}]}, "itwins[1].id"),
    (one("itwins", createdDateTime="yesterday"), "itwins[0].createdDateTime"),
    (one("itwins", parentId=OTHER_ID), "itwins[0].parentId"),
    (one("itwins", latitude=float("nan")), "the seed cannot be serialized as JSON"),
    (one("repositories", subClass="ArcGIS", **{"class": "Storage"}), "repositories[0].class"),
    (one("repositories", authentication=BASIC), "repositories[0].authentication.password"),
    ({"repositories": [{"id": "a"}, {"id": "a"}]}, "repositories[1].id"),
    ({"repositories": [{"displayName": "a"}, {"displayName": "a"}]}, "repositories[1].displayName"),
    (one("scenes", parentId=OTHER_ID), "scenes[0].parentId"),
    (one("scenes", objects=[{**LAYER, "kind": "View3d", "data": {"fov": "wide"}}]), "scenes[0].objects[0].data.fov"),
    (one("scenes", objects=[{**LAYER, "kind": "GISStyling"}]), "scenes[0].objects[0].relatedId"),
    ({"scenes": [{"objects": [STYLED]}, {"objects": [STYLED]}]}, "scenes[1].objects[0].id"),
    (one("webhooks", scopeId=OTHER_ID), "webhooks[0].scopeId"),
    (one("webhooks", eventTypes=["iTwins.iTwinMoved.v1"]), "webhooks[0].eventTypes"),
]


@pytest.mark.parametrize(("seed", "field"), WRONG_SEEDS)
def test_a_seed_that_makes_no_sense_is_rejected(seed: dict[str, Any], field: str) -> None:
    """The error names the entry and the field."""
    with pytest.raises(ValueError, match=f"^{re.escape(field)}: "):
        Sandbox(seed=seed)


def test_a_file_that_is_no_seed_is_rejected(tmp_path: Path) -> None:
    """The error says whether the file or its form is wrong."""
    (tmp_path / "seed.json").write_text("{", encoding="utf-8")
    for name, message in (("seed.json", "seed.json is not JSON"), ("none", "cannot read ")):
        with pytest.raises(ValueError, match=f"^seed: {message}"):
            Sandbox(seed=tmp_path / name)
