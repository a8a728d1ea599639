"""Reads a seed, a mapping or a file whose fields have their names on the wire, and stores exactly its data."""

import copy
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import cast

from .document import CHECKS, SCHEMAS, example_of, properties_of, values_of
from .examples import CLASS_OF
from .itwin_filter import ITWIN_PROPERTIES
from .json_values import (
    JSON,
    FieldError,
    JSONObject,
    NotJSONError,
    check_choice,
    read_boolean,
    read_fields,
    read_json,
    read_string,
    read_strings,
    write_json,
)
from .messages import is_uuid
from .scenes import object_problems
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

PARTS = ("itwins", "repositories", "scenes", "detectors", "webhooks")


def read_seed_file(path: Path) -> JSONObject:
    """Return the document in the file; `FieldError` if there is none."""
    try:
        content = path.read_bytes()
    except OSError as error:
        raise FieldError("seed", f"cannot read {path}: {error.strerror}") from error
    if path.suffix.lower() in (".yaml", ".yml"):
        value = _read_yaml(path.name, content)
    else:
        try:
            value = read_json(content)
        except NotJSONError as error:
            raise FieldError("seed", f"{path.name} is not JSON: {error}") from error
    return read_fields(value, PARTS)


def _read_yaml(name: str, content: bytes) -> JSON:
    try:
        import yaml
    except ImportError as error:
        message = "YAML needs PyYAML: `pip install pyyaml`, or write the seed file as JSON"
        raise FieldError("seed", message) from error

    class Loader(yaml.SafeLoader):
        """A loader without times, which are strings in JSON."""

    Loader.yaml_implicit_resolvers = {
        first: [(tag, pattern) for tag, pattern in resolvers if tag != "tag:yaml.org,2002:timestamp"]
        for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
    }
    try:
        # By way of JSON: YAML has sets and numbers that JSON does not have.
        return read_json(write_json(yaml.load(content, Loader)))  # noqa: S506 - a kind of SafeLoader
    except RecursionError:
        raise FieldError("seed", f"{name} nests too many levels") from None
    except (yaml.YAMLError, TypeError, ValueError) as error:
        raise FieldError("seed", f"{name} is not YAML with JSON's values: {' '.join(str(error).split())}") from error


CREATED = datetime(2024, 1, 15, 12, tzinfo=UTC)
_ITWIN_CHECKS = {name: CHECKS.check(schema) for name, schema in properties_of("ITwin").items()}
_OBJECT_CHECK = CHECKS.check(SCHEMAS["SceneObjectCreate"])
SeedDocument = Mapping[str, object]


def platform_of_document(document: SeedDocument, *, now: Callable[[], datetime]) -> Seeded:
    """Store the data of the document, and an Account if it has none; `FieldError` names the wrong field."""
    try:
        values = read_fields(read_json(write_json(cast("JSON", dict(document)))), PARTS)
    except (TypeError, ValueError) as error:
        if isinstance(error, FieldError):
            raise
        raise FieldError(None, f"the seed cannot be serialized as JSON: {error}") from error
    platform = Platform(now=now, random=source_of(1, "later"))
    reader = _DocumentReader(platform, values)
    platform.user_id = reader.new_id()
    reader.store_itwins()
    reader.store_repositories()
    reader.store_scenes()
    reader.store_detectors()
    reader.store_webhooks()
    repository_ids: dict[str, str] = {}
    for stored in platform.repositories.values():
        key = str(stored.content.get("subClass") or stored.content["class"])
        repository_ids.setdefault(key, str(stored.content["id"]))
    return Seeded(
        platform=platform,
        itwin_id=reader.main_itwin_id,
        repository_ids=repository_ids,
        scene_id=next((str(scene.content["id"]) for scene in platform.scenes.values()), None),
        webhook_id=next(iter(platform.webhooks), None),
    )


class _DocumentReader:
    """The lists of a document, to store in order, because later lists refer to earlier ones."""

    def __init__(self, platform: Platform, values: JSONObject) -> None:
        self._platform = platform
        self._values = values
        self._source = source_of(1, "document")
        self._secrets = source_of(1, "secrets")
        self.main_itwin_id = ""

    def new_id(self) -> str:
        return new_uuid(self._source)

    def store_itwins(self) -> None:
        entries = self._entries("itwins", tuple(ITWIN_PROPERTIES))
        if all(entry.get("subClass") != "Account" for _, entry in entries):
            entries.insert(0, ("itwins", {"subClass": "Account", "displayName": "Seeded account"}))
        for where, entry in entries:
            with _fields_of(where):
                itwin = self._itwin(where, entry)
            self._platform.itwins[str(itwin["id"])] = itwin
        itwins = list(self._platform.itwins.values())
        self._platform.account_id = next(str(itwin["id"]) for itwin in itwins if itwin["subClass"] == "Account")
        for itwin in itwins:
            if itwin["iTwinAccountId"] is None:
                itwin["iTwinAccountId"] = self._platform.account_id
        others = [str(itwin["id"]) for itwin in itwins if itwin["subClass"] != "Account"]
        self.main_itwin_id = others[0] if others else self._platform.account_id

    def _itwin(self, where: str, entry: JSONObject) -> JSONObject:
        sub_class = check_choice(f"{where}.subClass", entry.get("subClass", "Project"), values_of("ITwinSubClass"))
        check_choice(f"{where}.status", entry.get("status", "Active"), values_of("ITwinStatus"))
        itwin = example_of("ITwin")
        itwin.update(
            id=self._id(where, entry, self._platform.itwins).lower(),
            subClass=sub_class,
            status="Active",
            dataCenterLocation="East US",
            createdDateTime=time_text(CREATED),
            lastModifiedDateTime=time_text(CREATED),
        )
        itwin["class"] = CLASS_OF.get(sub_class, "Thing")
        itwin["number"] = itwin["displayName"] = f"{sub_class} {len(self._platform.itwins) + 1}"
        itwin.update({name: value for name, value in entry.items() if name != "id"})
        for name, kind in ITWIN_PROPERTIES.items():
            _check_property(f"{where}.{name}", name, kind, itwin[name])
        for name in ("number", "displayName"):
            read_string(entry, name, "made by the sandbox")
        return itwin

    def store_repositories(self) -> None:
        known = ("iTwinId", "id", "class", "subClass", "displayName", "uri", "authentication", "options", "resources")
        for where, entry in self._entries("repositories", known):
            with _fields_of(where):
                itwin_id = self._itwin_id(where, entry)
                repository_id = read_string(entry, "id", self.new_id())
                content: JSONObject = {
                    "id": repository_id,
                    "class": read_string(entry, "class", "GeographicInformationSystem"),
                }
                if entry.get("subClass") is not None:
                    content["subClass"] = read_string(entry, "subClass")
                address = read_string(entry, "uri", f"https://data.example.com/{len(self._platform.repositories) + 1}")
                content.update(displayName=read_string(entry, "displayName", "Seeded repository"), uri=address)
                content["capabilities"] = {"resources": {"uri": f"{address}/resources"}}
                for name in ("authentication", "options"):
                    value = entry.get(name)
                    if not isinstance(value, dict | None):
                        raise FieldError(f"{where}.{name}", "must be an object or null")
                    content[name] = copy.deepcopy(value)
                resources = _resources(f"{where}.resources", entry.get("resources", []), content)
                stored = StoredRepository(itwin_id=itwin_id, content=content, resources=resources)
                if (itwin_id, repository_id) in self._platform.repositories:
                    raise FieldError(f"{where}.id", "is not unique in its iTwin")
                self._platform.repositories[(itwin_id, repository_id)] = stored

    def store_scenes(self) -> None:
        known = ("id", "iTwinId", "displayName", "description", "parentId", "objects")
        for where, entry in self._entries("scenes", known):
            with _fields_of(where):
                scene_id = self._id(where, entry, self._platform.scenes)
                content: JSONObject = {"id": scene_id, "displayName": read_string(entry, "displayName", "Seeded scene")}
                content.update(
                    {name: read_string(entry, name) for name in ("description", "parentId") if name in entry}
                )
                time = time_text(CREATED)
                content.update(
                    iTwinId=self._itwin_id(where, entry),
                    createdById=self._platform.user_id,
                    creationTime=time,
                    lastModified=time,
                )
                stamps: JSONObject = {"sceneId": scene_id, "createdById": self._platform.user_id}
                objects: list[JSONObject] = []
                for index, item in enumerate(_list(f"{where}.objects", entry.get("objects", []))):
                    values = read_fields(item, tuple(properties_of("SceneObjectCreate")), f"{where}.objects[{index}].")
                    objects.append(
                        {"id": self.new_id(), **values, **stamps, "creationTime": time, "lastModified": time}
                    )
                _check_objects(f"{where}.objects", objects)
                self._platform.store_scene(StoredScene(content=content, objects=tuple(objects)))

    def store_detectors(self) -> None:
        known = ("name", "displayName", "description", "type", "documentationUrl", "versions")
        for where, entry in self._entries("detectors", known):
            with _fields_of(where):
                detector: JSONObject = {"name": read_string(entry, "name"), "displayName": None, "description": None}
                detector["type"] = check_choice(
                    f"{where}.type", entry.get("type", values_of("DetectorType")[0]), values_of("DetectorType")
                )
                self._platform.detectors.append({**detector, "documentationUrl": None, "versions": [], **entry})

    def store_webhooks(self) -> None:
        known = ("id", "scope", "scopeId", "active", "callbackUrl", "eventTypes", "secret", "created", "modified")
        for where, entry in self._entries("webhooks", known):
            with _fields_of(where):
                scope = check_choice(f"{where}.scope", entry.get("scope", "iTwin"), ("Account", "iTwin"))
                owner = self.main_itwin_id if scope == "iTwin" else self._platform.account_id
                webhook_id = self._id(where, entry, self._platform.webhooks)
                content: JSONObject = {
                    "id": webhook_id,
                    "scope": scope,
                    "scopeId": read_string(entry, "scopeId", owner),
                    "active": read_boolean(entry, "active", default=False),
                    "callbackUrl": read_string(entry, "callbackUrl", "https://hooks.example.com/seeded"),
                    "eventTypes": [*read_strings(entry, "eventTypes", ("iTwins.iTwinUpdated.v1",))],
                    "created": read_string(entry, "created", time_text(CREATED)),
                    "modified": read_string(entry, "modified", time_text(CREATED)),
                }
                self._platform.webhooks[webhook_id.lower()] = StoredWebhook(
                    itwin_id=str(content["scopeId"]).lower(),
                    content=content,
                    secret=read_string(entry, "secret", new_secret(self._secrets)),
                )

    def _entries(self, name: str, known: tuple[str, ...]) -> list[tuple[str, JSONObject]]:
        entries = _list(name, self._values.get(name, []))
        return [(f"{name}[{at}]", read_fields(item, known, f"{name}[{at}].")) for at, item in enumerate(entries)]

    def _id(self, where: str, entry: JSONObject, used: Mapping[str, object]) -> str:
        value = entry.get("id", self.new_id())
        if not is_uuid(value) or str(value).lower() in used:
            raise FieldError(f"{where}.id", "must be a UUID that no other entry has")
        return str(value)

    def _itwin_id(self, where: str, entry: JSONObject) -> str:
        itwin_id = read_string(entry, "iTwinId", self.main_itwin_id).lower()
        if itwin_id not in self._platform.itwins:
            raise FieldError(f"{where}.iTwinId", "must be the id of an iTwin of the seed")
        return itwin_id


def _resources(where: str, value: JSON, repository: JSONObject) -> dict[str, JSONObject]:
    resources: dict[str, JSONObject] = {}
    for index, item in enumerate(_list(where, value)):
        entry = read_fields(item, ("id", "type", "displayName"), f"{where}[{index}].")
        resource: JSONObject = {"class": repository["class"]}
        if "subClass" in repository:
            resource["subClass"] = repository["subClass"]
        with _fields_of(f"{where}[{index}]"):
            resource.update({name: read_string(entry, name) for name in ("id", "displayName", *entry)})
        resource["capabilities"] = {"graphics": {"uri": f"{repository['uri']}/graphics/{index}"}}
        resources[str(resource["id"])] = resource
    return resources


@contextmanager
def _fields_of(where: str) -> Iterator[None]:
    """Name the entry in errors that name only its field."""
    try:
        yield
    except FieldError as error:
        if error.field is None or error.field.startswith(where):
            raise
        raise FieldError(f"{where}.{error.field}", error.message) from error


def _list(field: str, value: JSON) -> list[JSON]:
    if not isinstance(value, list):
        raise FieldError(field, "must be a list")
    return value


def _check_property(field: str, name: str, kind: str, value: JSON) -> None:
    # Null stands for what the document leaves out.
    for problem in (_ITWIN_CHECKS[name](value) or ()) if value is not None else ():
        raise FieldError(field, problem.message)
    if kind == "time" and value is not None:
        try:
            datetime.fromisoformat(str(value))
        except ValueError:
            raise FieldError(field, "must be a time such as 2024-01-15T12:00:00.000Z") from None


def _check_objects(field: str, objects: list[JSONObject]) -> None:
    for index, item in enumerate(objects):
        for problem in _OBJECT_CHECK(item) or ():
            raise FieldError(f"{field}[{index}]", f"{'.'.join(map(str, problem.path))} {problem.message}")
    for target, message in object_problems(objects, frozenset()):
        raise FieldError(f"{field}{target}", message)
