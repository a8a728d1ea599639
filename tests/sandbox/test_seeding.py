"""The example data. Source: sections 2.1 to 2.9 and 3."""

import re
from datetime import UTC, datetime

import httpx
import pytest
from itwin_platform_sandbox import Sandbox
from itwin_platform_sandbox._service.document import CHECKS, SCHEMAS, values_of
from itwin_platform_sandbox._service.examples import seeded_platform
from itwin_platform_sandbox._service.messages import is_uuid
from itwin_platform_sandbox._service.scenes import object_problems
from itwin_platform_sandbox._service.state import Seeded, time_text

from tests.support.counted_calls import counted_calls


def seeded(itwins: int = 250, objects: int = 100, seed: int = 1, *, as_seen: bool = False) -> Seeded:
    """Fresh data."""
    return seeded_platform(itwins=itwins, objects=objects, seed=seed, as_seen=as_seen, now=lambda: datetime.now(UTC))


def test_the_same_seed_gives_the_same_data() -> None:
    """Two platforms of one seed are equal, two of different seeds share no id."""
    first, again, other = seeded(), seeded(), seeded(seed=2)
    assert first.platform.itwins == again.platform.itwins
    assert first.platform.scenes == again.platform.scenes
    assert first.platform.repositories == again.platform.repositories
    assert first.platform.webhooks == again.platform.webhooks
    assert not first.platform.itwins.keys() & other.platform.itwins.keys()


@pytest.mark.parametrize("count", [1, 2, 7, 250, 1000])
def test_the_default_listing_has_as_many_itwins_as_asked_for(count: int) -> None:
    """Inactive iTwins, at least one and a tenth, come on top."""
    statuses = [itwin["status"] for itwin in seeded(itwins=count).platform.itwins.values()]
    assert len(statuses) - statuses.count("Inactive") == count
    assert statuses.count("Inactive") == max(1, count // 10)


def test_the_itwins_form_one_hierarchy() -> None:
    """One Account is the root of all, every parent exists, numbers are unique, all subclasses and statuses occur."""
    data = seeded().platform
    itwins = data.itwins
    roots = [itwin["id"] for itwin in itwins.values() if itwin["parentId"] is None]
    assert roots == [data.account_id]
    assert all(itwin["parentId"] in itwins for itwin in itwins.values() if itwin["id"] not in roots)
    assert {str(itwin["iTwinAccountId"]) for itwin in itwins.values()} == {data.account_id}
    assert len({str(itwin["number"]) for itwin in itwins.values()}) == len(itwins)
    assert {str(itwin["subClass"]) for itwin in itwins.values()} == set(values_of("ITwinSubClass"))
    assert {str(itwin["status"]) for itwin in itwins.values()} == set(values_of("ITwinStatus"))
    assert all(is_uuid(key) and key == itwin["id"] for key, itwin in itwins.items())


def test_times_have_the_documented_form() -> None:
    """Times are YYYY-MM-DDTHH:mm:ss.sssZ, also those of other zones."""
    times = [itwin["createdDateTime"] for itwin in seeded().platform.itwins.values()]
    assert all(re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", str(text)) for text in times)
    assert time_text(datetime.fromisoformat("2024-01-01T00:30:00.123456+01:00")) == "2023-12-31T23:30:00.123Z"


def test_the_seeded_objects_would_be_taken_if_they_were_posted() -> None:
    """The objects of the seeded scene keep the rules of Create scene."""
    (scene,) = seeded().platform.scenes.values()
    assert len(scene.objects) == 100
    assert not [problem for item in scene.objects for problem in CHECKS.check(SCHEMAS["SceneObjectCreate"])(item) or ()]
    assert list(object_problems(list(scene.objects), frozenset())) == []
    assert {str(item["kind"]) for item in scene.objects} == {"RepositoryResource", "View3d", "Layer", "GISStyling"}


def test_every_repository_that_can_be_updated_is_there() -> None:
    """One repository of each subclass, and one of a class that cannot be updated."""
    assert seeded().repository_ids.keys() == {
        "WebMapService",
        "WebMapTileService",
        "WebFeatureService",
        "ArcGIS",
        "UrlTemplate",
        "OgcApiFeatures",
        "Performance",
        "EvoWorkspace",
        "Storage",
        "GeographicInformationSystem",
    }


@pytest.mark.parametrize(
    "name",
    [
        "type",
        "geographicLocation",
        "latitude",
        "longitude",
        "ianaTimeZone",
        "parentId",
        "imageName",
        "image",
        "createdBy",
    ],
)
def test_what_may_be_null_is_sometimes_null(name: str) -> None:
    """A client meets both, the value and null. Source: section 2.5."""
    values = [itwin[name] for itwin in seeded().platform.itwins.values()]
    assert None in values
    assert any(value is not None for value in values)


async def test_a_gis_repository_without_sub_class_takes_resources(http: httpx.AsyncClient, sandbox: Sandbox) -> None:
    """Neither the repository nor its resource has the key. Source: section 2.4, "may be empty"."""
    repository_id = sandbox.repository_ids["GeographicInformationSystem"]
    url = f"/itwins/{sandbox.itwin_id}/repositories/{repository_id}"
    repository = (await http.patch(url, json={"displayName": "Points"})).json()["repository"]
    created = await http.post(f"{url}/resources", json={"id": "a", "displayName": "A"})
    assert created.status_code == 201
    assert "subClass" not in repository
    assert "subClass" not in created.json()["resource"]


def test_ids_are_as_seen_when_asked_for() -> None:
    """With as_seen no iTwin id is an RFC 4122 UUID, and repository ids have words and characters to encode."""
    data = seeded(as_seen=True)
    assert all(is_uuid(key) and key[14] == "9" and key.endswith("00000000") for key in data.platform.itwins)
    assert data.repository_ids["Storage"] == "storage"
    assert set("/#?%") <= set(data.repository_ids["OgcApiFeatures"])


async def test_the_sandbox_names_what_a_test_starts_with(http: httpx.AsyncClient, sandbox: Sandbox) -> None:
    """The ids of the sandbox are those of stored things, and webhooks begin inactive."""
    account = (await http.get("/itwins/myprimaryaccount")).json()["iTwin"]
    assert account["id"] == sandbox.account_id
    assert sandbox.repository_id == sandbox.repository_ids["WebMapService"]
    url = f"/itwins/{sandbox.itwin_id}/repositories/{sandbox.repository_id}"
    assert (await http.patch(url, json={})).json()["repository"]["subClass"] == "WebMapService"
    assert (await http.patch(f"/webhooks/{sandbox.webhook_id}", json={})).json()["active"] is False


def test_seeding_an_itwin_takes_few_calls() -> None:
    """An iTwin takes at most 25 calls of Python functions, so that 50,000 are seeded in under two seconds."""
    with counted_calls() as calls:
        found = seeded(itwins=2_000).platform.itwins
    assert 0 < len(calls) <= 25 * len(found)
