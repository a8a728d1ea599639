"""Exactly the data that a test needs, from a mapping or a file."""

import json
import sys
from pathlib import Path
from typing import Any

import httpx
import pytest
from itwin_platform_sandbox import Sandbox

ITWIN_ID = "6a2d2381-6c57-9332-387a-5b7c00000000"
STYLED_ID = "7f2c1f8e-0000-9332-387a-5b7c00000000"
SEED: dict[str, Any] = {
    "itwins": [
        {"id": ITWIN_ID, "displayName": "Harbour", "subClass": "Asset", "latitude": 60.389999999999999},
        {"displayName": "Closed", "status": "Inactive"},
    ],
    "repositories": [
        {
            "id": "maps/1",
            "subClass": "ArcGIS",
            "displayName": "Maps",
            "resources": [{"id": "roads", "displayName": "Roads"}],
        },
        {"class": "Storage", "displayName": "Documents"},
    ],
    "scenes": [
        {
            "displayName": "Review",
            "objects": [
                {"id": STYLED_ID, "kind": "RepositoryResource", "version": "1.0.0", "data": {"id": "roads"}},
                {"kind": "GISStyling", "version": "1.0.0", "relatedId": STYLED_ID, "data": {"opacity": 0.5}},
            ],
        }
    ],
    "detectors": [{"name": "cracks", "versions": [{"versionNumber": "1.0"}]}],
    "webhooks": [{"active": True, "eventTypes": ["iTwins.iTwinDeleted.v1"]}],
}
HEADERS = {"Authorization": "Bearer a"}


async def check(sandbox: Sandbox) -> None:
    """The data of the seed is stored, and an Account."""
    async with httpx.AsyncClient(base_url=sandbox.base_url, headers=HEADERS) as http:
        everything = (await http.get("/itwins/?includeInactive=true&$orderby=displayName")).json()["iTwins"]
        assert [itwin["displayName"] for itwin in everything] == ["Closed", "Harbour", "Seeded account"]
        full = (await http.get("/itwins/?$filter=latitude gt 60&$select=id,latitude,iTwinAccountId")).json()["iTwins"]
        assert full == [{"id": ITWIN_ID, "latitude": 60.389999999999999, "iTwinAccountId": sandbox.account_id}]
        assert (sandbox.itwin_id, sandbox.repository_id) == (ITWIN_ID, "maps/1")
        assert sandbox.repository_ids.keys() == {"ArcGIS", "Storage"}
        url = f"/itwins/{ITWIN_ID}/repositories/maps%2F1/resources"
        assert (await http.post(url, json={"id": "roads", "displayName": "Other"})).status_code == 409
        objects = (await http.get(f"/scenes/{sandbox.scene_id}/objects?iTwinId={ITWIN_ID}")).json()["objects"]
        assert [item["kind"] for item in objects] == ["GISStyling", "RepositoryResource"]
        webhook = (await http.patch(f"/webhooks/{sandbox.webhook_id}", json={})).json()
        assert (webhook["active"], webhook["scopeId"]) == (True, ITWIN_ID)


async def test_a_mapping_seeds_exactly_what_it_has() -> None:
    """Omitted fields have plausible values, and a reset restores the same data."""
    async with Sandbox(seed=SEED) as sandbox:
        await check(sandbox)
        ids = sandbox.scene_id, sandbox.webhook_id, sandbox.account_id
        sandbox.reset()
        assert ids == (sandbox.scene_id, sandbox.webhook_id, sandbox.account_id)
        await check(sandbox)


@pytest.mark.parametrize("suffix", ["json", "yaml", "yml"])
async def test_a_file_seeds_the_same(tmp_path: Path, suffix: str) -> None:
    """JSON, and YAML by the name of the file; JSON is YAML too."""
    path = tmp_path / f"seed.{suffix}"
    path.write_text(json.dumps(SEED), encoding="utf-8")
    async with Sandbox(seed=path) as sandbox:
        await check(sandbox)
    async with Sandbox(seed=str(path)) as sandbox:
        assert sandbox.itwin_id == ITWIN_ID


async def test_an_empty_seed_has_an_account_and_nothing_else() -> None:
    """What is not seeded has no id."""
    async with Sandbox(seed={}) as sandbox, httpx.AsyncClient(base_url=sandbox.base_url, headers=HEADERS) as http:
        account = (await http.get("/itwins/myprimaryaccount")).json()["iTwin"]
        assert (await http.get("/itwins/")).json()["iTwins"] == [account]
        assert (await http.get("/sandbox")).json()["ids"]["scene_id"] is None
        assert (await http.get("/")).status_code == 200
    for name in ("repository_id", "scene_id", "webhook_id"):
        with pytest.raises(LookupError, match="the seed has no"):
            getattr(sandbox, name)


@pytest.mark.parametrize(
    ("seed", "field"),
    [
        ({"projects": []}, "projects"),
        ({"itwins": {}}, "itwins"),
        ({"itwins": ["x"]}, r"itwins\[0\]"),
        ({"itwins": [{"name": "x"}]}, r"itwins\[0\].name"),
        ({"itwins": [{"subClass": "Bridge"}]}, r"itwins\[0\].subClass"),
        ({"itwins": [{"status": "active"}]}, r"itwins\[0\].status"),
        ({"itwins": [{"id": "x"}]}, r"itwins\[0\].id"),
        ({"itwins": [{"id": ITWIN_ID}, {"id": ITWIN_ID.upper()}]}, r"itwins\[1\].id"),
        ({"itwins": [{"latitude": "north"}]}, r"itwins\[0\].latitude"),
        ({"itwins": [{"createdDateTime": "yesterday"}]}, r"itwins\[0\].createdDateTime"),
        ({"itwins": [{"displayName": None}]}, r"itwins\[0\].displayName"),
        ({"repositories": [{"iTwinId": STYLED_ID}]}, r"repositories\[0\].iTwinId"),
        ({"repositories": [{"options": []}]}, r"repositories\[0\].options"),
        ({"repositories": [{"id": "a"}, {"id": "a"}]}, r"repositories\[1\].id"),
        ({"scenes": [{"objects": [{"kind": "Layer"}]}]}, r"scenes\[0\].objects\[0\]"),
        ({"detectors": [{"name": "d", "type": "XRay"}]}, r"detectors\[0\].type"),
        ({"repositories": [{"resources": [{}]}]}, r"repositories\[0\].resources\[0\].id"),
        ({"webhooks": [{"active": "yes"}]}, r"webhooks\[0\].active"),
    ],
)
def test_a_seed_that_makes_no_sense_is_rejected(seed: dict[str, Any], field: str) -> None:
    """The error names the entry and the field."""
    with pytest.raises(ValueError, match=f"^{field}: "):
        Sandbox(seed=seed)


def test_values_that_json_does_not_have_are_rejected(tmp_path: Path) -> None:
    """Neither a mapping nor a YAML file can bring them in."""
    with pytest.raises(ValueError, match="cannot be serialized as JSON"):
        Sandbox(seed={"itwins": [{"latitude": float("nan")}]})
    path = tmp_path / "seed.yaml"
    path.write_text("itwins: [{latitude: .nan}]", encoding="utf-8")
    with pytest.raises(ValueError, match="YAML"):
        Sandbox(seed=path)
    for text in ("itwins: [", "[" * 10_000):
        path.write_text(text, encoding="utf-8")
        with pytest.raises(ValueError, match=r"YAML|nests"):
            Sandbox(seed=path)


def test_a_time_in_yaml_needs_no_quotes(tmp_path: Path) -> None:
    """YAML has times of its own; the sandbox stores what the file says."""
    path = tmp_path / "seed.yaml"
    path.write_text("itwins: [{createdDateTime: 2024-01-15T12:00:00.000Z}]", encoding="utf-8")
    sandbox = Sandbox(seed=path)
    assert sandbox._running.seeded.platform.itwins[sandbox.itwin_id]["createdDateTime"] == "2024-01-15T12:00:00.000Z"


def test_yaml_without_its_package_says_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without PyYAML, a seed in JSON works and one in YAML raises an error that names the package."""
    monkeypatch.setitem(sys.modules, "yaml", None)
    for suffix in ("json", "yaml"):
        (tmp_path / f"seed.{suffix}").write_text("{}", encoding="utf-8")
    Sandbox(seed=tmp_path / "seed.json")
    with pytest.raises(ValueError, match="pip install pyyaml"):
        Sandbox(seed=tmp_path / "seed.yaml")
