"""Stores example data."""

from collections.abc import Callable
from datetime import datetime

from ..state import Platform, new_uuid, source_of
from .itwins import seed_itwins
from .repositories import seed_repositories
from .scene import seed_scene
from .seeded import Seeded
from .webhooks import seed_webhooks


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
