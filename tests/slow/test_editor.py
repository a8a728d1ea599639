"""What an editor shows while an application is written: methods, signatures, documentation, and types."""

from collections.abc import Iterator
from typing import Any

import pytest

from tests.support.language_server import LanguageServer

pytest.importorskip("basedpyright", reason="a tool of the checkout, which environments of the wheel are without")

PROGRAM = '''
from itwin_platform import BasicAuthentication, PlatformClient, SceneObjectCreateParam


async def use(platform: PlatformClient) -> None:
    """Each group, each way to be shown something."""
    pager = platform.itwins.list(sub_class="Project")
    async for itwin in pager:
        print(itwin.display_name)
    await platform.repositories.update("i", "r", uri="u")
    await platform.scenes.create("i", display_name="S")
    await platform.detectors.create(name="n", type="PhotoObjectDetector")
    await platform.webhooks.activate("w")
    platform.itwins.list(status="")
    platform.itwins.list(sub_class=["Asset", ""])
    platform.itwins.list(query_scope="")
    await platform.detectors.create(name="n", type="")
    await platform.webhooks.update("w", event_types="")
    await platform.repositories.update("i", "r", authentication={"type": "", "passw": ""})
    await platform.repositories.update("i", "r", options={"minim": 1})
    await platform.scenes.create("i", display_name="S", objects=[{"kind": "View3d", "disp": "V"}])
    camera: SceneObjectCreateParam = {"kind": "View3d", "version": "1.0.0", "data": {"isOrth": True}}
    await platform.scenes.create("i", display_name="S", objects=[camera])
    BasicAuthentication(
'''
#: What is completed in a string: the values of an enum, and the names of a mapping.
COMPLETED = {
    'list(status="': {"Active", "Inactive", "Trial"},
    'list(sub_class=["Asset", "': {"Account", "Asset"},
    'list(query_scope="': {"MemberOfiTwin", "OrganizationAdmin"},
    'name="n", type="': {"PhotoObjectDetector", "PointCloudSegmentationDetector"},
    'event_types="': {"iTwins.iTwinCreated.v1"},
    'authentication={"type": "': {"Basic", "Header", "OAuth2AuthorizationCodePKCE", "QueryParameter"},
    '"passw': {"password"},
    'options={"minim': {"minimumLevel"},
    'objects=[{"kind": "View3d", "disp': {"displayName"},
    '"data": {"isOrth': {"isOrthographic"},
}
METHODS = {
    "itwins": {"get_primary_account", "list", "list_all"},
    "repositories": {"create_resource", "update"},
    "scenes": {"create", "list_objects"},
    "detectors": {"create"},
    "webhooks": {"activate", "deactivate", "update"},
}
#: What hovering over each name shows: a part of the signature or type, and of the documentation.
HOVERS = {
    "platform.itwins.lis": ("-> Pager[ITwin]", "The first request is sent when iteration starts"),
    "platform.itwin": ("itwins: ITwins", "The operations on iTwins"),
    "itwin.display_nam": ("display_name: str", "Display name."),
    "platform.repositories.updat": ("-> CoroutineType[Any, Any, Repository]", "Technical Preview"),
    "platform.scenes.creat": ("display_name: str", "Technical Preview"),
    "platform.detectors.creat": ("-> CoroutineType[Any, Any, Detector]", "Source: section 4.7"),
    "platform.webhooks.activat": ("-> CoroutineType[Any, Any, Webhook]", "Source: section"),
}


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LanguageServer]:
    """A language server that reads an application."""
    with LanguageServer(tmp_path_factory.mktemp("application"), PROGRAM) as running:
        yield running


@pytest.mark.parametrize("group", sorted(METHODS))
def test_a_group_offers_its_methods_and_nothing_else(server: LanguageServer, group: str) -> None:
    """After `platform.itwins.` an editor lists the operations."""
    offered: Any = server.at(f"platform.{group}.", "completion")
    assert {item["label"] for item in offered["items"] if not item["label"].startswith("_")} == METHODS[group]


@pytest.mark.parametrize("text", sorted(HOVERS))
def test_hovering_shows_signature_and_documentation(server: LanguageServer, text: str) -> None:
    """A call shows what it takes and gives, and what it does; a field its type and meaning."""
    shown: Any = server.at(text, "hover")["contents"]["value"]
    for part in HOVERS[text]:
        assert part in shown


def test_the_arguments_show_while_a_call_is_written(server: LanguageServer) -> None:
    """Every keyword with its type, and the documentation of the call."""
    shown: Any = server.at("platform.itwins.list(", "signatureHelp")["signatures"][0]
    for part in ("sub_class: ITwinSubClassParam | Iterable[ITwinSubClassParam] | Unset", "concurrency: int = 1"):
        assert part in shown["label"]
    assert "one value or an iterable; recommended" in shown["documentation"]["value"]


@pytest.mark.parametrize("text", COMPLETED)
def test_strings_are_completed(server: LanguageServer, text: str) -> None:
    """An editor offers the values of an enum, although any string is accepted, and the names of a mapping."""
    offered: Any = server.at(text, "completion")
    assert {item["label"].strip('"') for item in offered["items"]} >= COMPLETED[text]


def test_a_complete_object_shows_its_fields(server: LanguageServer) -> None:
    """So that no property of what is replaced is forgotten."""
    shown: Any = server.at("    BasicAuthentication(", "signatureHelp")["signatures"][0]
    assert "username: str, password: str" in shown["label"]
