"""What the package shows, and what it does not load."""

import re
from pathlib import Path

import itwin_platform_sandbox
import pytest


def test_every_public_name_is_there_and_sorted() -> None:
    """__all__ is sorted, and each name in it can be had."""
    names = itwin_platform_sandbox.__all__
    assert names == sorted(names, key=lambda name: (not name.isupper(), name))
    assert all(getattr(itwin_platform_sandbox, name) is not None for name in names)
    with pytest.raises(AttributeError, match="no attribute 'Sandpit'"):
        _ = itwin_platform_sandbox.Sandpit


LAYERS = {"_service": 0, "_faults": 1, "_server": 2}


def test_imports_point_downward() -> None:
    """The service knows neither faults nor servers, faults know no server, and only the face knows all of them."""
    root = Path(itwin_platform_sandbox.__file__).parent
    upward = []
    for file in root.glob("_*/**/*.py"):
        folder = file.relative_to(root).parts
        for dots, module in re.findall(
            r"^\s*from (\.+)([\w.]*) import", file.read_text(encoding="utf-8"), re.MULTILINE
        ):
            target = [*folder[: len(folder) - len(dots)], *module.split(".")]
            if LAYERS.get(target[0], 3) > LAYERS[folder[0]]:
                upward.append(f"{'/'.join(folder)} imports {'.'.join(target)}")
    assert upward == []


def test_nothing_comes_from_the_client() -> None:
    """Only the fixture that makes a client imports the client."""
    root = Path(itwin_platform_sandbox.__file__).parent
    importing = [
        file.name
        for file in root.rglob("*.py")
        if re.search(r"^\s*(from|import) itwin_platform(_api)?\b", file.read_text(encoding="utf-8"), re.MULTILINE)
    ]
    assert sorted(importing) == ["_pytest_async_client.py", "_pytest_client.py"]


def test_the_first_level_stays_small() -> None:
    """What is not the face lies in one of the three folders."""
    root = Path(itwin_platform_sandbox.__file__).parent
    assert len(list(root.glob("*.py"))) <= 8
