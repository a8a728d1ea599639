"""The example data at the start: the same seed gives the same data."""

import copy
import math
import random
from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta

from .document import example_of
from .json_values import JSON, JSONObject
from .state import (
    Platform,
    Seeded,
    StoredRepository,
    StoredScene,
    StoredWebhook,
    new_secret,
    new_uuid,
    source_of,
    time_text,
)

# city, time zone, data center, latitude, longitude
CITIES = (
    ("Bergen", "Europe/Oslo", "North Europe", 60.39, 5.32),
    ("Rotterdam", "Europe/Amsterdam", "West Europe", 51.92, 4.48),
    ("Leeds", "Europe/London", "UK South", 53.8, -1.55),
    ("Philadelphia", "America/New_York", "East US", 39.95, -75.17),
    ("Montréal", "America/Toronto", "Canada Central", 45.5, -73.57),
    ("Pune", "Asia/Kolkata", "Central India", 18.52, 73.86),
    ("Singapore", "Asia/Singapore", "Southeast Asia", 1.35, 103.82),
    ("Brisbane", "Australia/Brisbane", "Australia East", -27.47, 153.03),
    ("Yokohama", "Asia/Tokyo", "Japan East", 35.44, 139.64),
)
STRUCTURES = ("Harbour Bridge", "Ring Road", "Water Works", "Metro Line", "Wind Farm", "Airport", "Hospital", "Dam")
CLASS_OF = {
    "Account": "Account",
    "Portfolio": "Thing",
    "Asset": "Thing",
    "Program": "Endeavor",
    "Project": "Endeavor",
    "WorkPackage": "Endeavor",
}
# The repeated sequence of subclasses, and the subclass of the parent of each.
SEQUENCE = ("Portfolio", "Asset", "Program", "Project", "Project", "WorkPackage", "Asset", "Project")
PARENT_OF = {
    "Portfolio": "Account",
    "Asset": "Portfolio",
    "Program": "Account",
    "Project": "Program",
    "WorkPackage": "Project",
}
TRIAL_EVERY = 20
INACTIVE_SHARE = 10  # one extra Inactive iTwin for every ten others, at least one
SPARSE_EVERY = 7  # every seventh iTwin has null in several fields that allow it
TYPES = (None, "Bridge", "Road", None, "Utility")
FIRST_DAY = datetime(2019, 3, 4, 8, 30, tzinfo=UTC)


# An iTwin of the specification: it has each property that nothing here gives a value.
EXAMPLE = example_of("ITwin")


def seed_itwins(platform: Platform, count: int, source: random.Random, *, as_seen: bool) -> str:
    """Store the iTwins; return the id of the one that owns the other seeded data."""
    latest: dict[str, str] = {}
    for index in range(count + max(1, count // INACTIVE_SHARE)):
        sub_class = SEQUENCE[(index - 1) % len(SEQUENCE)] if index else "Account"
        itwin_id = new_uuid(source)
        if as_seen:
            itwin_id = f"{itwin_id[:14]}9{itwin_id[15:28]}00000000"
        itwin = _itwin(platform, index, sub_class, latest, itwin_id)
        itwin["status"] = "Inactive" if index >= count else "Trial" if index % TRIAL_EVERY == 7 else "Active"
        platform.itwins[itwin_id] = itwin
        if index < count:
            latest[sub_class] = itwin_id
        platform.account_id = latest["Account"]
    return next((key for key, itwin in platform.itwins.items() if itwin["subClass"] == "Project"), platform.account_id)


def _itwin(platform: Platform, index: int, sub_class: str, latest: dict[str, str], itwin_id: str) -> JSONObject:
    city, zone, center, latitude, longitude = CITIES[index % len(CITIES)]
    account_id = latest.get("Account", itwin_id)
    parent: JSON = latest.get(PARENT_OF[sub_class], account_id) if index else None
    created = FIRST_DAY + timedelta(hours=index, milliseconds=index * 37 % 1000)
    has_image = index % 3 == 1
    is_sparse = index % SPARSE_EVERY == 6
    structure = STRUCTURES[index // len(CITIES) % len(STRUCTURES)]
    return {
        **EXAMPLE,
        "id": itwin_id,
        "class": CLASS_OF[sub_class],
        "subClass": sub_class,
        "type": TYPES[index % len(TYPES)],
        "number": f"{sub_class[:3].upper()}-{index:06d}",
        "displayName": f"{city} {structure} {index}" if index else "Northwind Engineering",
        "status": "Active",
        "geographicLocation": None if is_sparse else city,
        "latitude": None if is_sparse else latitude,
        "longitude": None if is_sparse else longitude,
        "ianaTimeZone": None if is_sparse else zone,
        "dataCenterLocation": center,
        "parentId": parent,
        "iTwinAccountId": account_id,
        "imageName": f"{structure.lower().replace(' ', '-')}.png" if has_image else None,
        "image": f"https://images.example.com/{structure.lower().replace(' ', '-')}.png" if has_image else None,
        "createdDateTime": time_text(created),
        "createdBy": None if is_sparse else platform.user_id,
        "lastModifiedDateTime": time_text(created + timedelta(days=index % 400)),
        "lastModifiedBy": platform.user_id,
    }


GIS = "GeographicInformationSystem"
# class, sub class, display name, authentication, options
REPOSITORIES: tuple[tuple[str, str | None, str, JSON, JSON], ...] = (
    (
        GIS,
        "WebMapService",
        "City orthophotos",
        {"type": "Basic", "username": "map.reader", "password": "seeded-password"},
        {"queryParameters": {"apiVersion": "1.3.0"}},
    ),
    (GIS, "WebMapTileService", "Terrain tiles", {"type": "Header", "key": "X-Key", "value": "seeded-value"}, None),
    (GIS, "WebFeatureService", "Cadastre", None, None),
    (GIS, "ArcGIS", "Utilities", {"type": "QueryParameter", "key": "token", "value": "seeded-value"}, None),
    (
        GIS,
        "UrlTemplate",
        "Street map",
        None,
        {"queryParameters": {"style": "light"}, "minimumLevel": 1, "maximumLevel": 19},
    ),
    (
        GIS,
        "OgcApiFeatures",
        "Flood zones",
        {
            "type": "OAuth2AuthorizationCodePKCE",
            "clientId": "seeded-client",
            "scopes": "features:read openid",
            "authorizationEndpoint": "https://login.example.com/authorize",
            "tokenEndpoint": "https://login.example.com/token",
            "redirectUri": "https://viewer.example.com/signed-in",
        },
        None,
    ),
    ("Construction", "Performance", "Site progress", None, None),
    ("Subsurface", "EvoWorkspace", "Boreholes", None, None),
    ("Storage", None, "Documents", None, None),
    (GIS, None, "Survey points", None, None),
)
SEEN_IDS = {"Storage": "storage", "OgcApiFeatures": "zones/flood #2?draft=50%"}


def seed_repositories(platform: Platform, itwin_id: str, source: random.Random, *, as_seen: bool) -> dict[str, str]:
    """Store the repositories and return their ids by subclass, by class without one."""
    ids: dict[str, str] = {}
    for class_, sub_class, display_name, authentication, options in REPOSITORIES:
        key = sub_class or class_
        repository_id = new_uuid(source)
        if as_seen:
            repository_id = SEEN_IDS.get(key, repository_id)
        content: JSONObject = {"id": repository_id, "class": class_}
        if sub_class is not None:
            content["subClass"] = sub_class
        address = f"https://data.example.com/{key.lower()}"
        content.update(displayName=display_name, uri=address)
        content["capabilities"] = {"resources": {"uri": f"{address}/resources"}}
        content.update(authentication=copy.deepcopy(authentication), options=copy.deepcopy(options))
        platform.repositories[(itwin_id, repository_id)] = StoredRepository(itwin_id=itwin_id, content=content)
        ids[key] = repository_id
    return ids


SCENE_CREATED = datetime(2024, 5, 14, 9, 26, 53, 589000, tzinfo=UTC)
# The repeated sequence of kinds. The specification does not have the data of the last two, which is made up.
KINDS = ("RepositoryResource", "View3d", "RepositoryResource", "Layer", "GISStyling")


def seed_scene(
    platform: Platform, itwin_id: str, repository_ids: Mapping[str, str], count: int, source: random.Random
) -> str:
    """Store the scene; every tenth object refers to an iTwin of its own. Return the id of the scene."""
    scene_id = new_uuid(source)
    content: JSONObject = {
        "id": scene_id,
        "displayName": "Design review",
        "description": "What was agreed on in the design review.",
        "iTwinId": itwin_id,
        "createdById": platform.user_id,
        "creationTime": time_text(SCENE_CREATED),
        "lastModified": time_text(SCENE_CREATED + timedelta(minutes=count)),
    }
    itwin_ids = list(platform.itwins)
    objects: list[JSONObject] = []
    for index in range(count):
        owner = itwin_ids[index % len(itwin_ids)] if index % 10 == 0 else itwin_id
        item = _scene_object(index, owner, repository_ids, source)
        item.update(sceneId=scene_id, createdById=platform.user_id)
        if item["kind"] == "GISStyling":
            # A styling object names its repository resource; the latest one is two objects before it.
            item["relatedId"] = objects[index - 2]["id"]
        objects.append(item)
    platform.store_scene(StoredScene(content=content, objects=tuple(objects)))
    return scene_id


def _scene_object(index: int, owner: str, repository_ids: Mapping[str, str], source: random.Random) -> JSONObject:
    kind = KINDS[index % len(KINDS)]
    time = time_text(SCENE_CREATED + timedelta(minutes=index))
    return {
        "id": new_uuid(source),
        "displayName": f"{kind} {index}",
        "order": index,
        "visible": index % 4 != 3,
        "version": "1.0.0",
        "kind": kind,
        "data": _data(kind, index, owner, repository_ids),
        "creationTime": time,
        "lastModified": time,
    }


def _data(kind: str, index: int, owner: str, repository_ids: Mapping[str, str]) -> JSON:
    if kind == "RepositoryResource":
        return {
            "iTwinId": owner,
            "repositoryId": repository_ids["WebMapService"],
            "id": f"layers/{index}",
            "class": "GeographicInformationSystem",
            "subClass": "WebMapService",
        }
    if kind == "View3d":
        return _view(index)
    if kind == "Layer":
        return {"opacity": 0.5 + index % 5 / 10, "group": "Background"}
    return {"opacity": 0.75}


def _view(index: int) -> JSON:
    angle = index / 10
    return {
        "position": {"x": 100.5 + index, "y": -20.25, "z": 42.0},
        "direction": {"x": math.cos(angle), "y": math.sin(angle), "z": 0.0},
        "up": {"x": 0.0, "y": 0.0, "z": 1.0},
        "isOrthographic": False,
        "aspectRatio": 1.7778,
        "near": 0.1,
        "far": 10000.0,
        "fov": 1.0472,
        "width": 250.0,
        "ecefTransform": [1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0],
    }


WEBHOOKS_CREATED = datetime(2024, 2, 29, 23, 59, 59, tzinfo=UTC)


def seed_webhooks(platform: Platform, itwin_id: str, source: random.Random) -> str:
    """Store one webhook of the iTwin and one of the account; return the id of the first."""
    ids = []
    for scope, scope_id in (("iTwin", itwin_id), ("Account", platform.account_id)):
        webhook_id = new_uuid(source)
        platform.webhooks[webhook_id] = StoredWebhook(
            itwin_id=scope_id,
            content={
                "id": webhook_id,
                "scope": scope,
                "scopeId": scope_id,
                "active": False,
                "callbackUrl": f"https://hooks.example.com/{scope.lower()}",
                "eventTypes": ["iModels.iModelDeleted.v1", "iTwins.iTwinUpdated.v1"],
                "created": time_text(WEBHOOKS_CREATED),
                "modified": time_text(WEBHOOKS_CREATED),
            },
            secret=new_secret(source),
        )
        ids.append(webhook_id)
    return ids[0]


def seeded_platform(*, itwins: int, objects: int, seed: int, as_seen: bool, now: Callable[[], datetime]) -> Seeded:
    """Store `itwins` iTwins of the default listing, extra Inactive ones, and a scene of `objects` objects.

    With `as_seen` the ids have observed forms: UUIDs that are not of RFC 4122, words for built-in repositories, and
    characters that a path must encode.
    """
    # Each kind has its own source, so the number of iTwins does not change the ids of everything else.
    platform = Platform(now=now, random=source_of(seed, "later"))
    platform.user_id = new_uuid(source_of(seed, "user"))
    itwin_id = seed_itwins(platform, itwins, source_of(seed, "itwins"), as_seen=as_seen)
    repository_ids = seed_repositories(platform, itwin_id, source_of(seed, "repositories"), as_seen=as_seen)
    scene_id = seed_scene(platform, itwin_id, repository_ids, objects, source_of(seed, "scene"))
    webhook_id = seed_webhooks(platform, itwin_id, source_of(seed, "webhooks"))
    return Seeded(
        platform=platform,
        itwin_id=itwin_id,
        repository_ids=repository_ids,
        scene_id=scene_id,
        webhook_id=webhook_id,
    )
