"""The stored data, in memory."""

import pickle
import random
import uuid
from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from datetime import UTC, datetime

from .json_values import JSONObject


@dataclass(slots=True, kw_only=True)
class StoredRepository:
    """A repository (section 2.1) of an iTwin and the resources (section 2.4) in it, by id."""

    itwin_id: str
    content: JSONObject = field(repr=False)
    resources: dict[str, JSONObject] = field(default_factory=dict)


@dataclass(slots=True, kw_only=True)
class StoredScene:
    """A scene (section 2.6) without its objects, and the objects (section 2.7) as a listing shows them."""

    content: JSONObject
    objects: list[JSONObject] = field(default_factory=list)


@dataclass(slots=True, kw_only=True)
class StoredWebhook:
    """A webhook (section 2.9) and the iTwin whose maintainers may change it. Its secret is not stored."""

    itwin_id: str
    content: JSONObject


@dataclass(slots=True, kw_only=True)
class Platform:
    """Everything stored. Keys are ids: of iTwins, scenes and webhooks in lower case, of repositories as they are.

    No operation changes an iTwin, so `selections` caches selections from `itwins`: paging through 50,000 of them
    filters and sorts once, not once for every page.
    """

    now: Callable[[], datetime]
    random: random.Random
    account_id: str = ""
    user_id: str = ""
    itwins: dict[str, JSONObject] = field(default_factory=dict, repr=False)
    repositories: dict[tuple[str, str], StoredRepository] = field(default_factory=dict, repr=False)
    scenes: dict[str, StoredScene] = field(default_factory=dict, repr=False)
    detectors: list[JSONObject] = field(default_factory=list, repr=False)
    webhooks: dict[str, StoredWebhook] = field(default_factory=dict, repr=False)
    selections: dict[Hashable, list[JSONObject]] = field(default_factory=dict, repr=False)

    def snapshot(self) -> "Snapshot":
        """Return a copy of everything stored."""
        return Snapshot(
            itwins=dict(self.itwins),  # no operation changes an iTwin
            changing=pickle.dumps((self.repositories, self.scenes, self.detectors, self.webhooks)),
            random_state=self.random.getstate(),
        )

    def restore(self, snapshot: "Snapshot") -> None:
        """Replace everything stored by the content of a snapshot."""
        self.itwins = dict(snapshot.itwins)
        # pickle copies ten times as fast as `copy.deepcopy`.
        self.repositories, self.scenes, self.detectors, self.webhooks = pickle.loads(snapshot.changing)  # noqa: S301 - `snapshot` wrote it
        self.random.setstate(snapshot.random_state)
        self.selections.clear()

    def new_id(self) -> str:
        """Return a UUID that depends only on the seed."""
        return new_uuid(self.random)

    def time(self) -> str:
        """Return the current time as the service writes it."""
        return time_text(self.now())


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Snapshot:
    """A copy of everything stored, to restore later."""

    itwins: dict[str, JSONObject]
    changing: bytes
    random_state: tuple[object, ...]


def source_of(seed: int, purpose: str) -> random.Random:
    """Return a source of random numbers for one purpose, independent of all other purposes."""
    return random.Random(f"{seed} {purpose}")  # noqa: S311 - example data is the same in every run


def new_uuid(source: random.Random) -> str:
    """Return a version 4 UUID drawn from `source`."""
    return str(uuid.UUID(int=source.getrandbits(128), version=4))


def time_text(time: datetime) -> str:
    """Return an aware time as `YYYY-MM-DDTHH:mm:ss.sssZ`. Source: section 2, conventions."""
    return time.astimezone(UTC).replace(tzinfo=None).isoformat(timespec="milliseconds") + "Z"
