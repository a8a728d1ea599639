"""A generated name that is gone is reported with what to do about it."""

import contextlib
import re
from collections.abc import Callable

import pytest

from tests.support.regenerated import Change, Document, Regenerated
from tools.spec.reading import SPECIFICATION

THIS = "tests/generation/test_wrapper_fits.py::test_the_wrapper_fits_the_generated_package"


def remove_operation(document: Document) -> None:
    """The preview takes an operation back."""
    del document["paths"]["/reality-analysis/detectors"]


def rename_operation(document: Document) -> None:
    """The preview calls an operation otherwise."""
    document["paths"]["/scenes/"]["post"]["operationId"] = "create_new_scene"


def rename_parameter(document: Document) -> None:
    """The preview calls a parameter otherwise."""
    document["components"]["parameters"]["SceneObjectsOrderBy"]["name"] = "sortBy"


def rename_sent_field(document: Document) -> None:
    """The preview calls a field of a body otherwise."""
    properties = document["components"]["schemas"]["WebhookUpdate"]["properties"]
    properties["callbackAddress"] = properties.pop("callbackUrl")


def rename_field_set_by_wire_name(document: Document) -> None:
    """The preview calls a field otherwise that the wrapper sets by its wire name."""
    properties = document["components"]["schemas"]["RepositoryUpdate"]["properties"]
    properties["settings"] = properties.pop("options")


def rename_returned_field(document: Document) -> None:
    """The preview calls the envelope of a response otherwise."""
    schema = document["components"]["schemas"]["ResourceResponse"]
    schema["properties"] = {"created": schema["properties"]["resource"]}
    schema["required"] = ["created"]


def require_parameter(document: Document) -> None:
    """The preview demands what it did not know before."""
    region = {"name": "region", "in": "query", "required": True, "schema": {"type": "string"}}
    document["paths"]["/webhooks/{webhookId}"]["patch"]["parameters"].append(region)


def remove_model(document: Document) -> None:
    """The preview folds an enum into its field."""
    schemas = document["components"]["schemas"]
    del schemas["WebhookScope"]
    schemas["Webhook"]["properties"]["scope"] = {"type": "string"}


def is_live(told: str) -> bool:
    """Whether the committed specification still has what a text is about."""
    document = SPECIFICATION.read_text(encoding="utf-8")
    names = [name for name in re.findall(r"\w+", told) if "_" in name or name[:1].isupper()]
    return any(re.search(rf"(operationId: |^    ){name}\b", document, re.MULTILINE) for name in names)


@pytest.fixture(scope="module")
def changed(regenerated: Callable[[Change], Regenerated]) -> Regenerated:
    """The package generated from a specification with all of these changes."""

    def change(document: Document) -> None:
        for one in (remove_operation, rename_operation, rename_parameter, rename_sent_field, remove_model):
            with contextlib.suppress(KeyError):  # a real change took it away: the others are made all the same
                one(document)
        for one in (rename_field_set_by_wire_name, rename_returned_field, require_parameter):
            with contextlib.suppress(KeyError):
                one(document)

    return regenerated(change)


@pytest.mark.parametrize(
    "told",
    [
        [
            "no longer gives create_detector, which the wrapper uses (_api.py:",
            "and _operations/detectors.py",
            "removed: remove it",
        ],
        ["no longer gives create_scene, which", "create_new_scene", "renamed: put the new name there"],
        ["order_by= of list_scene_objects, which", "_operations/scenes.py:", "The nearest that there is: sort_by."],
        ["callback_url of WebhookUpdate, which", "platform.webhooks.update()", "callback_address"],
        ["[options] of RepositoryUpdate, which", "platform.repositories.update()"],
        ["resource of ResourceResponse, which", "platform.repositories.create_resource()"],
        ["update_webhook needs region= now", "give the method a keyword for it"],
        ["no longer gives WebhookScope, which", "and __init__.py", "say so in CHANGELOG.md, under Service"],
    ],
)
def test_what_is_gone_is_reported_with_what_to_do(changed: Regenerated, told: list[str]) -> None:
    """Generating from a specification that takes something away names each place, and the way on."""
    assert "The wrapper does not fit any more:" in changed.told
    if not any(told[0] in text for text in changed.told.split("\n\n")) and not is_live(told[0]):
        pytest.skip("the specification has lost it for good")
    (text,) = [text for text in changed.told.split("\n\n") if told[0] in text]
    for part in told:
        assert part in text


def test_the_test_fails_with_what_to_do(changed: Regenerated) -> None:
    """The test of `make test` reports the same, although the wrapper cannot be imported, and the summary repeats it."""
    ended = changed.run("-m", "pytest", "-q", "-p", "no:cacheprovider", THIS, status=1)
    first, last = ended.stdout.split("short test summary info")
    for text in (first, last.partition("the wrapper does not fit the generated package")[2]):
        assert re.search(r"openapi\.yaml no longer gives create_\w+, which the wrapper uses \(_api\.py:", text)
        assert "say so in CHANGELOG.md, under Service" in text
