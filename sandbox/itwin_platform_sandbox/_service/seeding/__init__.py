"""The data at the start: examples that depend only on the seed, or exactly the data of a document."""

from .document import SeedDocument, platform_of_document
from .examples import seeded_platform
from .seed_file import read_seed_file
from .seeded import Seeded

__all__ = ["SeedDocument", "Seeded", "platform_of_document", "read_seed_file", "seeded_platform"]
