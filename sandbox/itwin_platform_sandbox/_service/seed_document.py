"""Stores the data of a seed: a mapping or a JSON file with the field names of JSON."""

import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import cast

from .document import CHECKS, SCHEMAS, properties_of
from .itwins import CREATED, new_itwin
from .json_values import JSON, FieldError, JSONObject, NotJSONError, read_json, write_json
from .messages import is_uuid
from .repositories import GIS, UPDATABLE
from .scenes import object_problems
from .schema_checks import Check
from .state import (
    Platform,
    StoredRepository,
    StoredScene,
    StoredWebhook,
    new_secret,
    new_uuid,
    source_of,
    time_text,
)

SeedDocument = Mapping[str, object]


def read_seed_file(path: Path) -> SeedDocument:
    """Return the document in the file; `FieldError` if there is none."""
    try:
        content = path.read_bytes()
    except OSError as error:
        raise FieldError("seed", f"cannot read {path}: {error.strerror}") from error
    try:
        return _object(read_json(content), tuple(PARTS), "")
    except NotJSONError as error:
        raise FieldError("seed", f"{path.name} is not JSON: {error}") from error


CLASS_OF = {"Account": "Account", "Portfolio": "Thing", "Asset": "Thing"}  # every other subclass is an Endeavor
TIMES = frozenset({"createdDateTime", "lastModifiedDateTime", "created", "modified"})


@dataclass(frozen=True)
class _Part:
    """The fields of an entry of a list: the properties of `schemas`, and the fields `more`, `without` some of them."""

    schemas: tuple[str, ...]
    required: tuple[str, ...] = ()
    more: tuple[str, ...] = ()
    without: tuple[str, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the fields."""
        named = dict.fromkeys(name for schema in self.schemas for name in properties_of(schema))
        return (*(name for name in named if name not in self.without), *self.more)

    @property
    def checks(self) -> list[tuple[Mapping[str, object], Check]]:
        """The properties and the check of each schema; only the `required` fields are required."""
        required = list(self.required)
        return [(properties_of(name), CHECKS.check({**SCHEMAS[name], "required": required})) for name in self.schemas]


_STAMPS = ("sceneData", "createdById", "creationTime", "lastModified")
PARTS = {
    "itwins": _Part(("ITwin",)),
    "repositories": _Part(("Repository",), more=("iTwinId",), without=("capabilities",)),
    "scenes": _Part(("Scene",), more=("objects",), without=_STAMPS),
    "webhooks": _Part(("Webhook", "WebhookUpdate")),
}
OBJECTS = _Part(("SceneObjectCreate",), required=("kind", "version", "data"))


def platform_of_document(document: SeedDocument, *, now: Callable[[], datetime]) -> Platform:
    """Store the data of the document, and an Account if it has none; `FieldError` names the wrong field."""
    try:
        value = read_json(write_json(cast("JSON", dict(document))))
    except (TypeError, ValueError) as error:
        raise FieldError(None, f"the seed cannot be serialized as JSON: {error}") from error
    values = _object(value, tuple(PARTS), "")
    lists = {name: _entries(name, part, values.get(name, [])) for name, part in PARTS.items()}
    ids = source_of(1, "document")
    platform = Platform(now=now, random=source_of(1, "later"))
    platform.user_id = new_uuid(ids)
    return store_document(platform, lists, ids=ids, created=CREATED)


def _object(value: JSON, names: tuple[str, ...], place: str) -> JSONObject:
    """Return the value if it is a JSON object without unknown fields; `FieldError` otherwise."""
    if not isinstance(value, dict):
        raise FieldError(place or None, "must be a JSON object")
    for name in value:
        if name not in names:
            raise FieldError(f"{place}.{name[:100]}".strip("."), f"unknown field; known are {', '.join(names)}")
    return value


def _entries(place: str, part: _Part, value: JSON) -> list[JSONObject]:
    """Return the entries of a list, each checked by the document. The subclass null counts as omitted."""
    if not isinstance(value, list):
        raise FieldError(place, "must be a list")
    names, checks = part.names, part.checks
    found = []
    for index, item in enumerate(value):
        where = f"{place}[{index}]"
        entry = {
            name: inner for name, inner in _object(item, names, where).items() if (name, inner) != ("subClass", None)
        }
        for properties, check in checks:
            for problem in check({name: inner for name, inner in entry.items() if name in properties}) or ():
                path = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in problem.path)
                raise FieldError(f"{where}{path}", problem.message)
        for name in TIMES & entry.keys():
            _check_time(f"{where}.{name}", entry[name])
        if "objects" in part.more:
            entry["objects"] = [*_entries(f"{where}.objects", OBJECTS, entry.get("objects", []))]
        found.append(entry)
    return found


def _check_time(where: str, value: JSON) -> None:
    try:
        datetime.fromisoformat(str(value))
    except ValueError:
        raise FieldError(where, "must be a time such as 2024-01-15T12:00:00.000Z") from None


def store_document(
    platform: Platform,
    lists: Mapping[str, list[JSONObject]],
    *,
    ids: random.Random,
    created: datetime,
    itwin_id: str | None = None,
) -> Platform:
    """Store lists of checked entries and complete them; `FieldError` if ids or names contradict each other.

    `itwin_id` is the iTwin that owns each entry without an `iTwinId`; by default the first iTwin other than an Account.
    """
    store = _Store(platform, ids, created)
    store.itwins(lists["itwins"])
    others = (str(itwin["id"]) for itwin in platform.itwins.values() if itwin["subClass"] != "Account")
    platform.itwin_id = itwin_id or next(others, platform.account_id)
    for name, add in (("repositories", store.repository), ("scenes", store.scene), ("webhooks", store.webhook)):
        for index, entry in enumerate(lists.get(name, ())):
            add(f"{name}[{index}]", entry)
    for index, scene in enumerate(platform.scenes.values()):
        if str(scene.content.get("parentId", scene.content["id"])).lower() not in platform.scenes:
            raise FieldError(f"scenes[{index}].parentId", "must be the id of a scene of the seed")
    return platform


class _Store:
    """Stores entries, and fills their omitted fields."""

    def __init__(self, platform: Platform, ids: random.Random, created: datetime) -> None:
        self._platform = platform
        self._ids = ids
        self._secrets = source_of(1, "secrets")
        self._created = created
        self._time = time_text(created)
        self._itwin = new_itwin(self._time)

    def itwins(self, entries: list[JSONObject]) -> None:
        """Store the iTwins, with an Account."""
        if all(entry.get("subClass") != "Account" for entry in entries):
            self._add_itwin("itwins", {"subClass": "Account", "displayName": "Seeded account"})
        for index, entry in enumerate(entries):
            self._add_itwin(f"itwins[{index}]", entry)
        for index, entry in enumerate(entries):
            for name in ("parentId", "iTwinAccountId"):
                if entry.get(name) is not None:
                    self.known_itwin(f"itwins[{index}].{name}", entry[name])
        itwins = self._platform.itwins.values()
        self._platform.account_id = next(str(itwin["id"]) for itwin in itwins if itwin["subClass"] == "Account")
        for itwin in itwins:
            itwin["iTwinAccountId"] = itwin["iTwinAccountId"] or self._platform.account_id

    def _add_itwin(self, where: str, entry: JSONObject) -> None:
        itwins = self._platform.itwins
        itwin_id = self._new_id(where, entry, itwins).lower()
        sub_class = str(entry.get("subClass", "Project"))
        name = f"{sub_class} {len(itwins) + 1}"
        itwin: JSONObject = {**self._itwin, "class": CLASS_OF.get(sub_class, "Endeavor"), "subClass": sub_class}
        itwins[itwin_id] = {**itwin, "number": name, "displayName": name, **entry, "id": itwin_id}

    def repository(self, where: str, entry: JSONObject) -> None:
        """Store a repository."""
        itwin_id = self.known_itwin(f"{where}.iTwinId", entry.get("iTwinId", self._platform.itwin_id))
        others = [each.content for each in self._platform.repositories.values() if each.itwin_id == itwin_id]
        number, sub_class = len(self._platform.repositories) + 1, entry.get("subClass")
        class_ = next((name for name, known in UPDATABLE.items() if sub_class in known), GIS)
        if sub_class is not None and entry.get("class", class_) != class_:
            raise FieldError(f"{where}.class", f"must be {class_} for the subClass {sub_class}")
        content: JSONObject = {"id": entry.get("id", new_uuid(self._ids)), "class": entry.get("class", class_)}
        content.update({"subClass": sub_class} if sub_class is not None else {})
        content["displayName"] = entry.get("displayName", f"Seeded repository {number}")
        content["uri"] = entry.get("uri", f"https://data.example.com/{number}")
        content["capabilities"] = {"resources": {"uri": f"{content['uri']}/resources"}}
        content.update({name: entry.get(name) for name in ("authentication", "options")})
        for name in ("id", "displayName"):
            if not content[name] or any(other[name] == content[name] for other in others):
                raise FieldError(f"{where}.{name}", "must be unique in its iTwin, and not empty")
        self._platform.repositories[itwin_id, str(content["id"])] = StoredRepository(itwin_id=itwin_id, content=content)

    def scene(self, where: str, entry: JSONObject) -> None:
        """Store a scene and its objects."""
        scene_id = self._new_id(where, entry, self._platform.scenes)
        content = {name: value for name, value in entry.items() if name != "objects"}
        content = {"id": scene_id, "displayName": "Seeded scene", **content, "createdById": self._platform.user_id}
        content["iTwinId"] = self.known_itwin(f"{where}.iTwinId", entry.get("iTwinId", self._platform.itwin_id))
        entries = cast("list[JSONObject]", entry.get("objects", []))
        for target, message in object_problems(entries, self._platform.object_ids):
            raise FieldError(f"{where}.objects{target}", message)
        stamps: JSONObject = {"sceneId": scene_id, "createdById": self._platform.user_id}
        times = [time_text(self._created + timedelta(minutes=index)) for index in range(len(entries) + 1)]
        objects = [
            {"id": item.get("id") or new_uuid(self._ids), **item, **stamps, "creationTime": time, "lastModified": time}
            for item, time in zip(entries, times, strict=False)
        ]
        content.update(creationTime=self._time, lastModified=times[-1])
        self._platform.store_scene(StoredScene(content=content, objects=tuple(objects)))

    def webhook(self, where: str, entry: JSONObject) -> None:
        """Store a webhook and its secret."""
        webhook_id = self._new_id(where, entry, self._platform.webhooks)
        scope = entry.get("scope", "iTwin")
        owner = entry.get("scopeId", self._platform.itwin_id if scope == "iTwin" else self._platform.account_id)
        content: JSONObject = {"id": webhook_id, "scope": scope, "scopeId": owner, "active": False}
        content.update(callbackUrl="https://hooks.example.com/seeded", eventTypes=["iTwins.iTwinUpdated.v1"])
        content.update(created=self._time, modified=self._time)
        content.update({name: value for name, value in entry.items() if name != "secret"})
        self._platform.webhooks[webhook_id.lower()] = StoredWebhook(
            itwin_id=self.known_itwin(f"{where}.scopeId", owner),
            content=content,
            secret=str(entry.get("secret", new_secret(self._secrets))),
        )

    def known_itwin(self, where: str, value: JSON) -> str:
        """Return the id of an iTwin of the seed."""
        itwin_id = str(value).lower()
        if itwin_id not in self._platform.itwins:
            raise FieldError(where, "must be the id of an iTwin of the seed")
        return itwin_id

    def _new_id(self, where: str, entry: JSONObject, used: Mapping[str, object]) -> str:
        value = entry.get("id") or new_uuid(self._ids)
        if not is_uuid(value) or str(value).lower() in used:
            raise FieldError(f"{where}.id", "must be a UUID that no other entry has")
        return str(value)
