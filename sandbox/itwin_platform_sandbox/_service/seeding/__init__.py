"""Example data that only depends on the seed: iTwins, repositories, one scene, two webhooks."""

from .platform import Seeded, seeded_platform

__all__ = ["Seeded", "seeded_platform"]
