"""Repositories of one iTwin: each that can be updated, and one of a class that cannot. Source: section 2.1."""

import copy
import random

from ..json_values import JSON, JSONObject
from ..state import Platform, StoredRepository, new_uuid

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
