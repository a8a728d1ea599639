"""The stored data, in memory.

Stored values never change in place: a change stores a new value. So a snapshot copies references only, and a response
may share its values with the store.
"""

import copy
import random
import uuid
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime

from .json_values import JSON, FieldError, JSONObject, check_choice


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredRepository:
    """A repository (section 2.1) of an iTwin."""

    itwin_id: str
    content: JSONObject = field(repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredScene:
    """A scene (section 2.6) without its objects, and the objects (section 2.7) as a listing shows them."""

    content: JSONObject
    objects: tuple[JSONObject, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredWebhook:
    """A webhook (section 2.9), its iTwin, and the secret that signs its deliveries."""

    itwin_id: str
    content: JSONObject
    secret: str = field(repr=False)


_STORED_IN = ["itwins", "repositories", "resources", "resource_names", "scenes", "detectors", "webhooks", "object_ids"]


@dataclass(slots=True, kw_only=True)
class Platform:
    """The stored data, by id. The keys of iTwins, scenes and webhooks are in lower case; other ids are case-sensitive.

    `itwin_id` is the iTwin that owns the seeded data. The key of a resource (section 2.4) begins with the key of its
    repository, and its name is unique in the repository.
    """

    now: Callable[[], datetime]
    random: random.Random
    account_id: str = ""
    user_id: str = ""
    itwin_id: str = ""
    itwins: dict[str, JSONObject] = field(default_factory=dict, repr=False)
    repositories: dict[tuple[str, str], StoredRepository] = field(default_factory=dict, repr=False)
    resources: dict[tuple[str, str, str], JSONObject] = field(default_factory=dict, repr=False)
    resource_names: set[tuple[str, str, str]] = field(default_factory=set, repr=False)
    scenes: dict[str, StoredScene] = field(default_factory=dict, repr=False)
    detectors: list[JSONObject] = field(default_factory=list, repr=False)
    webhooks: dict[str, StoredWebhook] = field(default_factory=dict, repr=False)
    object_ids: set[str] = field(default_factory=set, repr=False)

    @property
    def repository_ids(self) -> dict[str, str]:
        """The first repository of each subclass, and of each class without a subclass."""
        found: dict[str, str] = {}
        for content in (stored.content for stored in self.repositories.values()):
            found.setdefault(str(content.get("subClass") or content["class"]), str(content["id"]))
        return found

    @property
    def webhook_ids(self) -> dict[str, str]:
        """The first webhook of each scope, `iTwin` and `Account`."""
        found = [(str(stored.content["scope"]), str(stored.content["id"])) for stored in self.webhooks.values()]
        return dict(reversed(found))

    def first_id(self, kind: str) -> str | None:
        """Return the id of the first stored item of a kind; None if there is none."""
        return next((str(item["id"]) for item in stored_items(self, kind)), None)

    def store_resource(self, repository: StoredRepository, resource: JSONObject) -> bool:
        """Store a resource and return True, unless the repository has one of its id or display name."""
        itwin_id, repository_id = repository.itwin_id, str(repository.content["id"])
        key = itwin_id, repository_id, str(resource["id"])
        name = itwin_id, repository_id, str(resource["displayName"])
        if key in self.resources or name in self.resource_names:
            return False
        self.resources[key] = resource
        self.resource_names.add(name)
        return True

    def store_scene(self, scene: StoredScene) -> None:
        """Store a scene; it replaces a scene with the same id."""
        key = str(scene.content["id"]).lower()
        if key in self.scenes:
            self.object_ids -= _ids(self.scenes[key].objects)
        self.scenes[key] = scene
        self.object_ids |= _ids(scene.objects)

    def snapshot(self) -> "Snapshot":
        """Return everything stored."""
        values = {name: copy.copy(getattr(self, name)) for name in _STORED_IN}
        return Snapshot(values=values, random_state=self.random.getstate())

    def restore(self, snapshot: "Snapshot") -> None:
        """Replace everything stored by the content of a snapshot."""
        for name, value in snapshot.values.items():
            setattr(self, name, copy.copy(value))
        self.random.setstate(snapshot.random_state)

    def new_id(self) -> str:
        """Return a UUID that depends only on the seed."""
        return new_uuid(self.random)

    def time(self) -> str:
        """Return the current time as the service writes it."""
        return time_text(self.now())


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Snapshot:
    """Everything stored at one time, to restore later."""

    values: Mapping[str, object]
    random_state: tuple[object, ...]


# The stored items by kind. A scene has its objects.
_STORED: Mapping[str, Callable[[Platform], Iterable[JSONObject]]] = {
    "itwin": lambda platform: platform.itwins.values(),
    "repository": lambda platform: (stored.content for stored in platform.repositories.values()),
    "resource": lambda platform: platform.resources.values(),
    "scene": lambda platform: (
        {**scene.content, "sceneData": {"objects": [*scene.objects]}} for scene in platform.scenes.values()
    ),
    "scene_object": lambda platform: (item for scene in platform.scenes.values() for item in scene.objects),
    "detector": lambda platform: platform.detectors,
    "webhook": lambda platform: (stored.content for stored in platform.webhooks.values()),
}


def stored_items(platform: Platform, kind: str) -> Iterable[JSONObject]:
    """Return the stored items of a kind, which may hold secrets; `FieldError` for an unknown kind."""
    return _STORED[check_choice("kind", kind, _STORED)](platform)


def stored_item(platform: Platform, kind: str, item_id: str) -> JSONObject | None:
    """Return a stored item, which may hold secrets, by its id: a UUID in any letter case, of a detector its name."""
    key = "name" if kind == "detector" else "id"
    is_uuid = kind in ("itwin", "scene", "scene_object", "webhook")
    wanted = item_id.lower() if is_uuid else item_id
    items = stored_items(platform, kind)
    return next((item for item in items if (str(item[key]).lower() if is_uuid else item[key]) == wanted), None)


def stored_webhook(platform: Platform, webhook_id: str) -> StoredWebhook:
    """Return a webhook; `FieldError` if there is none with this id."""
    webhook = platform.webhooks.get(webhook_id.lower())
    if webhook is None:
        raise FieldError("webhook_id", "no webhook with this id is stored")
    return webhook


def has_secret(platform: Platform, webhook_id: str, secret: str) -> bool:
    """Return whether a webhook has this secret."""
    return stored_webhook(platform, webhook_id).secret == secret


def has_authentication(platform: Platform, repository_id: str, authentication: JSON) -> bool:
    """Return whether a repository has this authentication, None for none."""
    stored = stored_item(platform, "repository", repository_id)
    if stored is None:
        raise FieldError("repository_id", "no repository with this id is stored")
    return stored["authentication"] == authentication


def source_of(seed: int, purpose: str) -> random.Random:
    """Return a source of random numbers for one purpose, independent of all other purposes."""
    return random.Random(f"{seed} {purpose}")  # noqa: S311 - example data is the same in every run


def new_uuid(source: random.Random) -> str:
    """Return a version 4 UUID drawn from `source`."""
    return str(uuid.UUID(int=source.getrandbits(128), version=4))


def new_secret(source: random.Random) -> str:
    """Return a made-up secret of a webhook drawn from `source`, the same for the same seed."""
    return f"{source.getrandbits(160):040x}"


def time_text(time: datetime) -> str:
    """Return an aware time as `YYYY-MM-DDTHH:mm:ss.sssZ`. Source: section 2, conventions."""
    return time.astimezone(UTC).replace(tzinfo=None).isoformat(timespec="milliseconds") + "Z"


def _ids(objects: Iterable[JSONObject]) -> set[str]:
    return {str(item["id"]).lower() for item in objects}
