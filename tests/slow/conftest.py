"""Packages generated from changed specifications, and a service with a vendored client."""

import copy
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from itwin_platform import __version__

from tests.support.processes import PROJECT
from tests.support.regenerated import Change, Document, Regenerated
from tests.support.vendored import vendored


@pytest.fixture(scope="session")
def regenerated(specification: Document, tmp_path_factory: pytest.TempPathFactory) -> Callable[[Change], Regenerated]:
    """Change a copy of the specification and generate from it, in a folder of its own."""

    def make(change: Change) -> Regenerated:
        document = copy.deepcopy(specification)
        change(document)
        return Regenerated(document, tmp_path_factory.mktemp("regenerated"))

    return make


@pytest.fixture(scope="session")
def service(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the example service with the client vendored into it; not to be changed."""
    folder = tmp_path_factory.mktemp("service") / "my_service"
    example = PROJECT / "examples" / "vendored_service"
    shutil.copytree(example, folder, ignore=shutil.ignore_patterns("_vendor", ".venv", "__pycache__"))
    vendored(folder / "src" / "my_service" / "_vendor", "itwin")
    return folder


@pytest.fixture(scope="session")
def older_checkout(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A checkout of another version, which knows a detector type that this one does not know."""
    folder = tmp_path_factory.mktemp("older")
    for package in ("wrapper/itwin_platform", "generated/itwin_platform_api"):
        shutil.copytree(PROJECT / package, folder / package, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("LICENSE", "openapi.yaml", "pyproject.toml"):
        shutil.copy(PROJECT / name, folder / name)
    version = folder / "wrapper/itwin_platform/_version.py"
    older = version.read_text().replace(f'"{__version__}"', '"0.0.1"')
    assert '"0.0.1"' in older
    version.write_text(older)
    types = folder / "generated/itwin_platform_api/models/detector_type.py"
    first = types.read_text().replace(
        "    PHOTO_OBJECT_DETECTOR =", '    OLD_DETECTOR = "OldDetector"\n    PHOTO_OBJECT_DETECTOR ='
    )
    assert "OLD_DETECTOR" in first
    types.write_text(first)
    return folder
