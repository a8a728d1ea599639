"""Names and limits that the wrapper repeats agree with the specification; a failure names the line to change."""

import copy
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support.regenerated import PROJECT, Document
from tools.generation.wire_names import dead_names, dead_properties
from tools.generation.wrapper_limits import wrong_limits
from tools.spec.reading import read

WRAPPER = PROJECT / "wrapper" / "itwin_platform"


def lines_named(text: str) -> list[str]:
    """The lines of the wrapper's source that a message names."""
    places = re.findall(r"([\w/]+\.py):(\d+)", text)
    return [Path(WRAPPER / file).read_text(encoding="utf-8").splitlines()[int(line) - 1] for file, line in places]


def changed(specification: Document, change: Callable[[Document], object]) -> Document:
    """A copy with a change."""
    document = copy.deepcopy(specification)
    change(document)
    return document


def rename(document: Document, *, schema: str, old: str, new: str) -> None:
    """Call a property otherwise."""
    properties = document["components"]["schemas"][schema]["properties"]
    properties[new] = properties.pop(old)


def test_the_committed_specification_has_every_name_and_limit(specification: Document) -> None:
    """What the wrapper writes out and checks is what `openapi.yaml` says."""
    document = read(specification)
    assert dead_names(document) + dead_properties(document) + wrong_limits(document) == []


@pytest.mark.parametrize(
    ("change", "said", "line"),
    [
        (
            lambda d: rename(d, schema="StoredRepositoryOptions", old="minimumLevel", new="leastLevel"),
            *("no longer gives minimumLevel of StoredRepositoryOptions", "minimum_level: int | None"),
        ),
        (
            lambda d: rename(d, schema="StoredHeaderAuthentication", old="value", new="content"),
            *("no longer gives value of StoredHeaderAuthentication", "value: str"),
        ),
        (
            lambda d: d["components"]["schemas"]["StoredBasicAuthentication"]["properties"]["type"].update(
                const="Plain"
            ),
            *("gives the type 'Plain' to StoredBasicAuthentication", 'TYPE: ClassVar[str] = "Basic"'),
        ),
    ],
)
def test_a_dead_property_of_a_complete_object_names_its_field(
    specification: Document, change: Callable[[Document], object], said: str, line: str
) -> None:
    """A property that a complete object would still send is reported with the line of its field."""
    (text,) = [text for text in dead_properties(read(changed(specification, change))) if said in text]
    (named,) = lines_named(text)
    assert line in named


@pytest.mark.parametrize(
    ("change", "name"),
    [
        (lambda d: d["components"]["parameters"]["IncludeInactive"].update(name="withInactive"), "includeInactive"),
        (lambda d: d["components"]["parameters"]["Search"].update(name="$find"), "$search"),
        (
            lambda d: d["components"]["schemas"]["PreferredReturn"].update(enum=["return=short", "return=long"]),
            "return=minimal",
        ),
    ],
)
def test_a_dead_wire_name_names_its_lines(
    specification: Document, change: Callable[[Document], object], name: str
) -> None:
    """A wire name in a rule that no longer stands in the specification is reported with each line that writes it."""
    texts = [text for text in dead_names(read(changed(specification, change))) if f"no longer has {name}," in text]
    assert texts
    assert all(name in line for text in texts for line in lines_named(text))


def limit(kind: str, name: str, **limits: int) -> Callable[[Document], object]:
    """Change limits of a parameter, or of a property given as `Model.property`."""

    def change(document: Document) -> None:
        if kind == "parameters":
            document["components"]["parameters"][name]["schema"].update(limits)
        else:
            model, _, field = name.partition(".")
            document["components"]["schemas"][model]["properties"][field].update(limits)

    return change


@pytest.mark.parametrize(
    ("change", "said", "limits_named"),
    [
        (limit("parameters", "ITwinsTop", maximum=50), "page_size= of platform.itwins.list() sends more", "1000"),
        (limit("parameters", "ITwinsTop", maximum=2000), "which page_size= of platform.itwins.list() rejects", "1000"),
        (limit("parameters", "ITwinsTop", minimum=5), "page_size= of platform.itwins.list() sends less", "least=1"),
        (limit("parameters", "SceneObjectsTop", maximum=50), "page_size= of platform.scenes.list_objects()", "100"),
        (limit("parameters", "MaxReturn", maximum=9999), "max_return= of platform.itwins.list() sends more", "10_000"),
        (
            limit("schemas", "RepositoryUpdate.displayName", maxLength=100),
            *("display_name= of platform.repositories.update() sends more", "200"),
        ),
        (
            limit("schemas", "StoredRepositoryOptions.maximumLevel", maximum=30),
            *("which options= of platform.repositories.update() rejects", "24"),
        ),
        (
            limit("schemas", "SceneDataCreate.objects", maxItems=200),
            *("which objects= of platform.scenes.create() rejects", "100"),
        ),
        (
            limit("schemas", "DetectorCreate.name", maxLength=20),
            *("name= of platform.detectors.create() sends more, and checks nothing", ""),
        ),
    ],
)
def test_a_changed_limit_names_the_lines_to_change(
    specification: Document, change: Callable[[Document], object], said: str, limits_named: str
) -> None:
    """A limit that differs from the specification's is reported with the check and with the constant that holds it."""
    found = wrong_limits(read(changed(specification, change)))
    assert len(found) == 1
    assert said.replace(", and checks nothing", "") in found[0]
    lines = lines_named(found[0])
    assert any(limits_named in line for line in lines) if limits_named else "has no check for it" in found[0]


def test_a_limit_that_is_gone_names_the_check(specification: Document) -> None:
    """Where the specification has no limit any more, the wrapper's own is reported."""
    document = copy.deepcopy(specification)
    del document["components"]["schemas"]["ResourceCreate"]["properties"]["type"]["maxLength"]
    (found,) = wrong_limits(read(document))
    assert "ResourceCreate.type of create_repository_resource has no upper limit" in found
    assert lines_named(found)
