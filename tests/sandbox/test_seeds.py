"""The example data, and exactly the data that a test needs. Source: sections 2.1 to 2.9 and 3."""

import json
import re
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from itwin_platform_sandbox import Sandbox
from itwin_platform_sandbox._service.document import CHECKS, SCHEMAS, values_of
from itwin_platform_sandbox._service.examples import seeded_platform
from itwin_platform_sandbox._service.messages import is_uuid
from itwin_platform_sandbox._service.scenes import object_problems
from itwin_platform_sandbox._service.state import Platform, time_text

from tests.support.sandboxes import serving

DAY = datetime(2026, 11, 22, tzinfo=UTC)


def seeded(itwins: int = 250, seed: int = 1, now: datetime = DAY) -> Platform:
    """Fresh data."""
    return seeded_platform(itwins=itwins, objects=100, seed=seed, now=lambda: now)


def test_the_same_seed_gives_the_same_data_on_every_day() -> None:
    """Two platforms of one seed are equal, two of different seeds share no id."""
    first, again, other = (seeded(), seeded(now=datetime(2031, 2, 3, tzinfo=UTC)), seeded(seed=2))
    for name in ("itwins", "scenes", "repositories", "webhooks"):
        assert getattr(first, name) == getattr(again, name)
    assert not first.itwins.keys() & other.itwins.keys()


@pytest.mark.parametrize("count", [1, 2, 7, 250, 1000])
def test_the_default_listing_has_as_many_itwins_as_asked_for(count: int) -> None:
    """Inactive iTwins, at least one and a tenth, come on top."""
    statuses = [itwin["status"] for itwin in seeded(itwins=count).itwins.values()]
    assert (len(statuses) - count, statuses.count("Inactive")) == (max(1, count // 10),) * 2


def test_the_itwins_form_one_hierarchy() -> None:
    """The Account is the root, parents exist, numbers are unique, every value occurs, and null where it may."""
    data = seeded()
    itwins = data.itwins
    columns = {name: [str(itwin[name]) for itwin in itwins.values()] for name in SCHEMAS["ITwin"]["properties"]}
    assert [itwin["id"] for itwin in itwins.values() if itwin["parentId"] is None] == [data.account_id]
    assert {*columns["parentId"]} <= {"None", *itwins}
    assert {*columns["iTwinAccountId"]} == {data.account_id}
    assert len({*columns["number"]}) == len(itwins)
    assert {*columns["subClass"]} == {*values_of("ITwinSubClass")}
    assert {*columns["status"]} == {*values_of("ITwinStatus")}
    assert all(is_uuid(key) and key == itwin["id"] for key, itwin in itwins.items())
    nullable = {name for name, values in columns.items() if "None" in values}
    places = {"geographicLocation", "latitude", "longitude", "ianaTimeZone"}
    assert nullable == places | {"type", "parentId", "imageName", "image", "createdBy"}
    assert all({*columns[name]} != {"None"} for name in nullable)
    time = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z")
    assert all(time.fullmatch(text) for text in columns["createdDateTime"])


def test_a_time_of_another_zone_has_the_documented_form() -> None:
    """Times are YYYY-MM-DDTHH:mm:ss.sssZ."""
    assert time_text(datetime.fromisoformat("2024-01-01T00:30:00.123456+01:00")) == "2023-12-31T23:30:00.123Z"


def test_the_seeded_objects_would_be_taken_if_they_were_posted() -> None:
    """The objects of the seeded scene keep the rules of Create scene."""
    (scene,) = seeded().scenes.values()
    assert len(scene.objects) == 100
    assert not [problem for item in scene.objects for problem in CHECKS.check(SCHEMAS["SceneObjectCreate"])(item) or ()]
    assert list(object_problems(list(scene.objects), frozenset())) == []
    assert {str(item["kind"]) for item in scene.objects} == {"RepositoryResource", "View3d", "Layer", "GISStyling"}


def test_every_repository_that_can_be_updated_is_there() -> None:
    """One repository of each subclass, one without any, and one of a class that cannot be updated."""
    assert seeded().repository_ids.keys() == {
        *("WebMapService", "WebMapTileService", "WebFeatureService", "ArcGIS", "UrlTemplate", "OgcApiFeatures"),
        *("Performance", "EvoWorkspace", "Storage", "GeographicInformationSystem"),
    }


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


@pytest.mark.parametrize("is_file", [False, True], ids=["mapping", "file"])
async def test_a_seed_has_exactly_what_it_names(tmp_path: Path, *, is_file: bool) -> None:
    """A mapping or a file is stored with an Account and plausible values, and a reset restores the same data."""
    path = tmp_path / "seed.json"
    path.write_text(json.dumps(SEED), encoding="utf-8")
    async with serving(seed=str(path) if is_file else SEED) as (sandbox, http):
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
    """What is not seeded has no id."""
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
#: A seed, and the place that its error names: a row for each rule of seeds, and one for each list of the document.
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
    (one("repositories", iTwinId=STYLED_ID), "repositories[0].iTwinId"),
    (one("repositories", subClass="ArcGIS", **{"class": "Storage"}), "repositories[0].class"),
    (one("repositories", capabilities={}), "repositories[0].capabilities"),
    (one("repositories", authentication=BASIC), "repositories[0].authentication.password"),
    ({"repositories": [{"id": "a"}, {"id": "a"}]}, "repositories[1].id"),
    ({"repositories": [{"displayName": "a"}, {"displayName": "a"}]}, "repositories[1].displayName"),
    (one("scenes", parentId=OTHER_ID), "scenes[0].parentId"),
    (one("scenes", objects=[{"kind": "Layer", "data": {}}]), "scenes[0].objects[0].version"),
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


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("seed.json", "{", "seed.json is not JSON"),
        ("seed", None, "cannot read "),
    ],
)
def test_a_file_that_is_no_seed_is_rejected(tmp_path: Path, name: str, text: str | None, message: str) -> None:
    """The error says whether the file, its form or one of its values is wrong."""
    if text is not None:
        (tmp_path / name).write_text(text, encoding="utf-8")
    with pytest.raises(ValueError, match=f"^seed: {message}"):
        Sandbox(seed=tmp_path / name)
