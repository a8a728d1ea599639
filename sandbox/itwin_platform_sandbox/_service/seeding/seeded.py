"""The result of seeding."""

from collections.abc import Mapping
from dataclasses import dataclass

from ..state import Platform


@dataclass(frozen=True, slots=True, kw_only=True)
class Seeded:
    """The stored data and the ids in it that a test starts with; None if a seed document has none."""

    platform: Platform
    itwin_id: str
    repository_ids: Mapping[str, str]
    scene_id: str | None
    webhook_id: str | None
