"""The data to start with: examples that only depend on the seed, or exactly what a document has."""

from .document import SeedDocument, platform_of_document, read_seed_file
from .examples import seeded_platform
from .seeded import Seeded

__all__ = ["SeedDocument", "Seeded", "platform_of_document", "read_seed_file", "seeded_platform"]
