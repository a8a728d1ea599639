"""The example data as a seed document: the same seed gives the same data.

`examples.json` has the texts and objects of the data.
"""

import json
import random
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

from .data_files import data_file
from .json_values import JSON, JSONObject
from .seed_document import store_document
from .state import Platform, new_uuid, source_of, time_text

_EXAMPLES: Any = json.loads(data_file("_service/examples.json"))
TRIAL_EVERY = 20
INACTIVE_SHARE = 10  # one extra Inactive iTwin for every ten others, at least one
SPARSE_EVERY = 7  # every seventh iTwin has null in several fields that allow it
FIRST_DAY = datetime(2019, 3, 4, 8, 30, tzinfo=UTC)
SCENE_CREATED = datetime(2024, 5, 14, 9, 26, 53, 589000, tzinfo=UTC)


def _itwins(count: int, source: random.Random, user_id: str) -> Iterator[JSONObject]:
    """Yield iTwins of one hierarchy below the Account."""
    latest: dict[str, str] = {}
    for index in range(count + max(1, count // INACTIVE_SHARE)):
        sub_class = _EXAMPLES["sequence"][(index - 1) % len(_EXAMPLES["sequence"])] if index else "Account"
        itwin_id = new_uuid(source)
        account_id = latest.get("Account", itwin_id)
        parent = latest.get(_EXAMPLES["parents"].get(sub_class), account_id) if index else None
        yield _itwin(index, sub_class, user_id) | {
            "id": itwin_id,
            "parentId": parent,
            "iTwinAccountId": account_id,
            "status": "Inactive" if index >= count else "Trial" if index % TRIAL_EVERY == 7 else "Active",
        }
        if index < count:
            latest[sub_class] = itwin_id


def _itwin(index: int, sub_class: str, user_id: str) -> JSONObject:
    cities, structures, types = (_EXAMPLES[name] for name in ("cities", "structures", "types"))
    city, zone, center, latitude, longitude = cities[index % len(cities)]
    structure = structures[index // len(cities) % len(structures)]
    created = FIRST_DAY + timedelta(hours=index, milliseconds=index * 37 % 1000)
    image = f"{structure.lower().replace(' ', '-')}.png" if index % 3 == 1 else None
    itwin: JSONObject = {
        "subClass": sub_class,
        "type": types[index % len(types)],
        "number": f"{sub_class[:3].upper()}-{index:06d}",
        "displayName": f"{city} {structure} {index}" if index else "Northwind Engineering",
        "dataCenterLocation": center,
        "imageName": image,
        "image": f"https://images.example.com/{image}" if image else None,
        "createdDateTime": time_text(created),
        "lastModifiedDateTime": time_text(created + timedelta(days=index % 400)),
        "lastModifiedBy": user_id,
    }
    if index % SPARSE_EVERY != SPARSE_EVERY - 1:
        itwin.update(geographicLocation=city, latitude=latitude, longitude=longitude, ianaTimeZone=zone)
        itwin["createdBy"] = user_id
    return itwin


def _objects(count: int, itwin_ids: list[JSON], owner: JSON, repository: JSON, source: random.Random) -> list[JSON]:
    """Return the objects of the scene; every tenth one refers to another iTwin than that of the scene."""
    objects: list[JSON] = []
    ids: list[str] = []
    for index in range(count):
        item: JSONObject = {**_EXAMPLES["objects"][index % len(_EXAMPLES["objects"])]}
        ids.append(new_uuid(source))
        item.update(id=ids[-1], displayName=f"{item['kind']} {index}", order=index, visible=index % 4 != 3)
        item["version"], data = "1.0.0", item["data"]
        if item["kind"] == "RepositoryResource" and isinstance(data, dict):
            itwin_id = itwin_ids[index % len(itwin_ids)] if index % 10 == 0 else owner
            item["data"] = {**data, "iTwinId": itwin_id, "repositoryId": repository, "id": f"layers/{index}"}
        elif item["kind"] == "GISStyling":
            # A styling object names its repository resource; the latest one is two objects before it.
            item["relatedId"] = ids[index - 2]
        objects.append(item)
    return objects


def seeded_platform(*, itwins: int, objects: int, seed: int, now: Callable[[], datetime]) -> Platform:
    """Store `itwins` iTwins of the default listing, extra Inactive ones, and a scene of `objects` objects."""
    # Each kind has its own source, so the number of iTwins does not change the ids of everything else.
    platform = Platform(now=now, random=source_of(seed, "later"))
    platform.user_id = new_uuid(source_of(seed, "user"))
    found = list(_itwins(itwins, source_of(seed, "itwins"), platform.user_id))
    owner = next((itwin["id"] for itwin in found if itwin["subClass"] == "Project"), found[0]["id"])
    scene, webhooks, ids = (source_of(seed, kind) for kind in ("scene", "webhooks", "repositories"))
    repositories = [{"iTwinId": owner, **each, "id": new_uuid(ids)} for each in _EXAMPLES["repositories"]]
    scene_id, itwin_ids = new_uuid(scene), [itwin["id"] for itwin in found]
    shown = _objects(objects, itwin_ids, owner, repositories[0]["id"], scene)
    document: dict[str, list[JSONObject]] = {
        "itwins": found,
        "repositories": repositories,
        "scenes": [{**_EXAMPLES["scene"], "id": scene_id, "iTwinId": owner, "objects": shown}],
        "webhooks": [{"id": new_uuid(webhooks), **webhook} for webhook in _EXAMPLES["webhooks"]],
    }
    return store_document(platform, document, ids=webhooks, created=SCENE_CREATED, itwin_id=str(owner))
