"""The sandbox has the operations of the specification; where it has not, the line to change is named."""

import copy
from collections.abc import Callable

import pytest

from tests.support.regenerated import PROJECT, Document
from tools.generation.sandbox_fit import sandbox_misfits, table
from tools.spec.reading import read

MEDIA_TYPE = "application/vnd.vendor.itwin-platform.v{}+json"


def test_the_sandbox_fits_the_specification(specification: Document) -> None:
    """Each row of its table has the name, method, path and version of an operation."""
    found = sandbox_misfits(read(specification))
    assert not found, "\n" + "\n".join(found)
    assert len(table()) == 8


def move(document: Document) -> None:
    """Give an operation another path."""
    document["paths"]["/reality/detectors"] = document["paths"].pop("/reality-analysis/detectors")


def rename(document: Document) -> None:
    """Give an operation another name."""
    document["paths"]["/reality-analysis/detectors"]["post"]["operationId"] = "add_detector"


def remove(document: Document) -> None:
    """Take an operation away."""
    del document["paths"]["/reality-analysis/detectors"]


def raise_version(document: Document) -> None:
    """Respond in another version."""
    content = document["paths"]["/reality-analysis/detectors"]["post"]["responses"]["201"]["content"]
    content[MEDIA_TYPE.format(3)] = content.pop(MEDIA_TYPE.format(2))


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (move, "has create_detector at POST /reality/detectors now: the sandbox still answers POST /reality-analysis"),
        (rename, "calls create_detector add_detector now: rename it"),
        (remove, "no longer has create_detector: remove its row"),
        (raise_version, "has create_detector in version 3 now, the sandbox in 2"),
    ],
)
def test_what_the_sandbox_still_has_is_named_with_its_line(
    specification: Document, change: Callable[[Document], None], said: str
) -> None:
    """A moved, renamed or removed operation, and one in another version, lead to the row of the table."""
    document = copy.deepcopy(specification)
    change(document)
    (text,) = sandbox_misfits(read(document))
    assert said in text
    file, line = text.partition("(")[2].partition(")")[0].split(":")
    assert '"create_detector"' in (PROJECT / file).read_text(encoding="utf-8").splitlines()[int(line) - 1]
