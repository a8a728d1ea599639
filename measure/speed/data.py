"""The data of the benchmarks, as a service stores it: floats of 17 digits, signed links, nulls, long names.

It starts from the iTwins and scene objects of the sandbox. `make_data` reads them once and writes files, because the
other clients run in environments without the sandbox. The same seed gives the same files. Two more folders have a
property that the service does not document, in one of 1,000 iTwins and in all. The environment variable BENCH_DATA
names the folder to read.
"""

import asyncio
import json
import math
import os
import random
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).resolve().parents[2] / ".cache" / "speed" / "data-5"
SEED = 20
SCENE_ID = "6a2d2381-6c57-4332-b87a-5b7c00000000"
_IMAGES = "https://images.example.com/thumbnails"
_NAMES = (
    "null",
    "Bâtiment n° 7, façade «Est», niveau 3",
    '12" riser, "as built" & surveyed <2024>',
    "東京湾横断道路 海ほたる",
    "0123456789012345678901234567890123456789",
    "Northern access tunnel, ventilation shaft B, revision of the as-built survey after the second construction phase",
)
_Item = dict[str, Any]


def authority() -> Path:
    """Return the file with the certificate of the authority."""
    return FOLDER / "authority.pem"


def certificate() -> Path:
    """Return the file with the private key and the certificate of the servers."""
    return FOLDER / "certificate.pem"


def make_certificate() -> None:
    """Write a new certificate for the TLS servers."""
    import trustme

    signing = trustme.CA()
    issued = signing.issue_cert("127.0.0.1")
    signing.cert_pem.write_to_path(authority())
    certificate().write_bytes(
        issued.private_key_pem.bytes() + b"".join(each.bytes() for each in issued.cert_chain_pems)
    )


def make_data() -> None:
    """Write the files unless they exist."""
    if (FOLDER / "all" / "account.json").exists():
        return
    source = random.Random(SEED)
    itwins, objects = asyncio.run(_seeded())
    itwins = [_itwin(item, source) for item in itwins]
    objects = [_object(item, source) for item in objects]
    new = [{name: item[name] for name in ("displayName", "kind", "version", "data")} for item in objects[:100]]
    scene = {name: objects[0][name] for name in ("id", "createdById", "creationTime", "lastModified")}
    scene |= {"displayName": "Harbour", "iTwinId": itwins[0]["id"]}
    echoed = [{"id": item["id"], "visible": True, **data} for item, data in zip(objects, new, strict=False)]
    account = {name: itwins[0][name] for name in _SUMMARY}
    files: dict[str, object] = {
        "itwins": itwins,
        "objects": objects,
        "new_objects": new,
        "scene": {"scene": {**scene, "sceneData": {"objects": []}}},
        "scene_echoed": {"scene": {**scene, "sceneData": {"objects": echoed}}},
        "repository": {"repository": _repository(itwins[1])},
        "account": {"iTwin": account},
    }
    _write("real", files)
    for data, every in (("one", 1_000), ("all", 1)):
        odd = [item | ({"region": "x"} if number % every == every // 2 else {}) for number, item in enumerate(itwins)]
        _write(data, files | {"itwins": odd})


def _write(data: str, files: dict[str, object]) -> None:
    """Write the files of one folder."""
    (FOLDER / data).mkdir(parents=True, exist_ok=True)
    for name, value in files.items():
        (FOLDER / data / f"{name}.json").write_bytes(encoded(value))


async def _seeded() -> tuple[list[_Item], list[_Item]]:
    import httpx
    from itwin_platform_sandbox import Sandbox

    async with Sandbox(itwins=10_000, objects=5_000, seed=SEED) as sandbox, httpx.AsyncClient() as client:

        async def listed(path: str, name: str) -> list[_Item]:
            items: list[_Item] = []
            url: str | None = sandbox.base_url + path
            while url:
                accept = "application/vnd.bench.itwin-platform.v1+json"
                headers = {"Accept": accept, "Authorization": "Bearer t", "Prefer": "return=representation"}
                page = (await client.get(url, headers=headers | {"X-Max-Return": "10000"}, timeout=60)).json()
                items += page[name]
                url = page["_links"].get("next", {}).get("href")
            return items

        return (
            await listed("/itwins/?$top=1000", "iTwins"),
            await listed(f"/scenes/{sandbox.scene_id}/objects?iTwinId={sandbox.itwin_id}", "objects"),
        )


_SUMMARY = ("id", "class", "subClass", "type", "number", "displayName", "status")


def _itwin(seeded: _Item, source: random.Random) -> _Item:
    """Return a full iTwin with random coordinates, image links and nulls."""
    item = dict(seeded)
    has_coordinates = source.random() < 0.8
    item["latitude"] = source.uniform(-66, 66) if has_coordinates else None
    item["longitude"] = source.uniform(-180, 180) if has_coordinates else None
    for name in ("geographicLocation", "ianaTimeZone", "type", "createdBy", "lastModifiedBy"):
        if source.random() < 0.15:
            item[name] = None
    if source.random() < 0.1:
        item["displayName"] = source.choice(_NAMES)
    if source.random() < 0.6:
        item["imageName"] = f"{source.getrandbits(160):040x}.png"
        signature = f"{source.getrandbits(256):064x}"
        item["image"] = f"{_IMAGES}/{item['imageName']}?se=2026-11-22T08%3A00%3A00Z&sr=b&sp=r&sig={signature}"
    return item


def _object(seeded: _Item, source: random.Random) -> _Item:
    """Return a listed scene object of kind View3d."""
    item = {name: value for name, value in seeded.items() if name != "relatedId"}
    item |= {"displayName": f"View {item['order']}", "kind": "View3d", "version": "1.0.0", "data": _view(source)}
    if source.random() < 0.1:
        item["displayName"] = source.choice(_NAMES)
    return item


def _view(source: random.Random) -> _Item:
    """Return the data of a View3d as a viewer writes it, with numbers of 17 digits."""
    matrix = [source.uniform(-6.4e6, 6.4e6) if at % 4 == 3 else source.uniform(-1, 1) for at in range(12)]
    return {
        "position": _vector(source.uniform(1e6, 6.4e6) for _ in range(3)),
        "direction": _vector(_unit(source)),
        "up": _vector(_unit(source)),
        "isOrthographic": False,
        "aspectRatio": source.uniform(1, 2),
        "near": source.uniform(0.001, 0.1),
        "far": source.uniform(1e3, 1e5),
        "fov": source.uniform(0.5, 1.5),
        "ecefTransform": [*matrix, 0, 0, 0, 1],
    }


def _vector(numbers: Iterator[float]) -> _Item:
    return dict(zip("xyz", numbers, strict=True))


def _unit(source: random.Random) -> Iterator[float]:
    around, above = source.uniform(0, math.tau), source.gauss(0, 0.3)
    yield from (math.cos(around) * math.cos(above), math.sin(around) * math.cos(above), math.sin(above))


def _repository(itwin: _Item) -> _Item:
    return {
        "id": itwin["id"],
        "class": "GeographicInformationSystem",
        "subClass": "UrlTemplate",
        "displayName": "Base map: null",
        "uri": "https://tiles.example.com/{level}/{column}/{row}",
        "capabilities": {"resources": {"uri": "https://example.com/resources"}},
        "authentication": {"type": "Basic", "username": "u", "password": "p"},
        "options": {"queryParameters": {"style": "dark"}, "minimumLevel": 0, "maximumLevel": 18},
    }


def stored(name: str) -> bytes:
    """Return a file as the service sends it."""
    return (FOLDER / os.environ.get("BENCH_DATA", "real") / f"{name}.json").read_bytes()


# Loaded on first use: in a client process, each garbage collection would visit them.
@cache
def itwins() -> list[dict[str, object]]:
    """Return the iTwins of the listings."""
    return list(json.loads(stored("itwins")))


@cache
def objects() -> list[dict[str, object]]:
    """Return the scene objects of the listings."""
    return list(json.loads(stored("objects")))


@cache
def new_objects() -> list[dict[str, object]]:
    """Return the objects of the scene that is created."""
    return list(json.loads(stored("new_objects")))


def encoded(value: object) -> bytes:
    """Serialize a value as the service does."""
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False).encode()
