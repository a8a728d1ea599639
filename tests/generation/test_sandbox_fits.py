"""The sandbox has the operations of the specification; where it has not, the line to change is named."""

import copy
import re
from collections.abc import Callable

import pytest

from tests.support.regenerated import PROJECT, Document
from tools.generation.sandbox_fit import sandbox_misfits, table
from tools.spec.reading import read

MEDIA_TYPE = "application/vnd.vendor.itwin-platform.v{}+json"


def test_the_sandbox_fits_the_specification(specification: Document) -> None:
    """Its table has the names, methods, paths and versions of the operations, and its rules have their wire names."""
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


def test_a_wire_name_that_is_gone_is_named_with_its_lines(specification: Document) -> None:
    """The sandbox would still accept the old one."""
    document = copy.deepcopy(specification)
    document["components"]["parameters"]["IncludeInactive"]["name"] = "withInactive"
    text, _ = sandbox_misfits(read(document))  # the other text says that the new name is not known
    assert "no longer has includeInactive, which the sandbox writes out (sandbox/" in text
    for file, line in re.findall(r"([\w/]+\.py):(\d+)", text):
        assert '"includeInactive"' in (PROJECT / file).read_text(encoding="utf-8").splitlines()[int(line) - 1]


def test_a_new_required_parameter_leads_to_the_operation(specification: Document) -> None:
    """The sandbox would accept a request without it."""
    document = copy.deepcopy(specification)
    header = {"name": "X-Region", "in": "header", "required": True, "schema": {"type": "string"}}
    document["paths"]["/webhooks/{webhookId}"]["patch"]["parameters"].append(header)
    (text,) = sandbox_misfits(read(document))
    assert text.startswith("openapi.yaml requires X-Region in update_webhook, and the sandbox does not: check it in ")
    assert (PROJECT / text.rpartition(" ")[2].rstrip(".")).is_file()


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (
            move,
            "has create_detector at POST /reality/detectors now: the sandbox still responds at POST /reality-analysis",
        ),
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
    text = sandbox_misfits(read(document))[0]
    assert said in text
    if change is move:
        page = (PROJECT / "docs" / "regenerating.md").read_text(encoding="utf-8")
        assert re.sub(r":\d+", "", text) in re.sub(r":\d+", "", page)
    file, line = text.partition("(")[2].partition(")")[0].split(":")
    assert '"create_detector"' in (PROJECT / file).read_text(encoding="utf-8").splitlines()[int(line) - 1]
