"""A ninth operation takes two places, and with a method the five that CONTRIBUTING.md lists."""

import os
import re
import shutil
from pathlib import Path

import pytest

from tests.support.processes import PROJECT, ended

#: The names of get primary account, and those of its copy.
NAMES = {
    "get_primary_account": "get_first_account",
    "myprimaryaccount": "myfirstaccount",
    "Get primary account": "Get first account",
    "get primary account": "get first account",
    "4.4": "4.9",
}
#: The text of each file about get primary account; the copy follows it, in openapi.yaml after all paths.
PARTS = {
    "openapi.yaml": (r"  /itwins/myprimaryaccount:\n(?:    .*\n)+(?:\n    .*\n(?:    .*\n)*)*",),
    "wrapper/itwin_platform/_operations/itwins.py": (
        r"get_primary_account, ",
        r"    async def get_primary_account(?s:.*?)\n\n(?=    def )",
    ),
    "tests/support/calls.py": (r"    \"get_primary_account\": .*\n",),
    "docs/reference/itwins.md": (r"::: \S*get_primary_account\n(?s:.*?)\n\n",),
    "README.md": (r"\| `platform\.itwins\.get_primary_account.*\n",),
    "CHANGELOG.md": (r"get primary account, ",),
}
CHECKS = (
    *("tests/generated/test_spec_document.py", "tests/project/test_public_surface.py", "tests/project/test_pages.py"),
    *("tests/tools/test_repository.py", "tests/tools/test_wrapper_fits.py", "tests/wrapper/operations"),
)
#: The tests of the new operation, and the tests that compare it with the document.
SELECTED = "first_account or fits or not wrapper"


class Copy:
    """A copy of the project, with or without the parts of the ninth operation."""

    def __init__(self, folder: Path) -> None:
        ignored = shutil.ignore_patterns(".git", ".venv*", ".cache", "__pycache__", ".*_cache")
        self.folder = Path(shutil.copytree(PROJECT, folder / "project", ignore=ignored))
        self.path = os.pathsep.join(
            str(self.folder / name) for name in ("wrapper", "transport", "generated", "sandbox")
        )

    def write(self, *, without: tuple[str, ...] = ()) -> None:
        """Write every file with its part, except those of some places."""
        for name, patterns in PARTS.items():
            text = (PROJECT / name).read_text(encoding="utf-8")
            for pattern in () if name.startswith(without) else patterns:
                found = re.search(pattern, text)
                assert found is not None, pattern
                end, copied = found.end() if name != "openapi.yaml" else text.index("\ncomponents:\n"), found[0]
                for old, new in NAMES.items():
                    copied = copied.replace(old, new)
                text = text[:end] + copied + text[end:]
            (self.folder / name).write_text(text, encoding="utf-8")

    def run(self, *command: str) -> str:
        """Run a module in the copy, and return its output."""
        variables = {"PYTHONPATH": self.path, "COVERAGE_PROCESS_START": ""}
        process = ended("python", "-m", *command, folder=self.folder, variables=variables, status=None)
        return process.stdout + process.stderr

    def check(self) -> str:
        """Run the checks of a complete operation."""
        return self.run("pytest", "-q", "-p", "no:cacheprovider", "--tb=short", "-k", SELECTED, *CHECKS)


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Copy:
    """A copy with every part, for which the package is generated."""
    made = Copy(tmp_path_factory.mktemp("ninth"))
    made.write(without=("openapi.yaml",))
    assert "cannot import name 'get_first_account'" in made.run("itwin_platform._operations.itwins")
    made.write()
    said = made.run("tools.generation.generate")
    assert "The wrapper fits." in said
    assert "Without a method" not in said
    return made


def test_a_ninth_operation_takes_the_places_of_the_list(copy: Copy) -> None:
    """A ninth operation in all places of the list passes all checks of an operation."""
    copy.write()
    assert re.search(r"failed|error", said := copy.check()) is None, said


def test_an_operation_without_a_method_takes_two_places(copy: Copy) -> None:
    """An operation in `openapi.yaml` and the changelog alone breaks no test."""
    copy.write(without=tuple(name for name in PARTS if name not in ("openapi.yaml", "CHANGELOG.md")))
    said = copy.run("tools.generation.generate")
    assert "Without a method, to be called through `platform.generated`: get_first_account" in said
    assert re.search(r"failed|error", said := copy.check()) is None, said
