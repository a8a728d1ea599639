"""What cannot be sent, or would reach another path, is rejected with the checks lifted, too."""

from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from itwin_platform import PlatformClient, RepositoryOptions, SceneObjectCreate, UsageError
from pytest_httpx import HTTPXMock

from tests.operations.conftest import ITWIN, SCENE

Call = Callable[[PlatformClient, str], Awaitable[object]]

BY_ID: dict[str, Call] = {
    "update, iTwin": lambda platform, value: platform.repositories.update(value, "r", uri="u"),
    "update, repository": lambda platform, value: platform.repositories.update(ITWIN, value, uri="u"),
    "create_resource, iTwin": lambda platform, value: platform.repositories.create_resource(
        value, "r", id="i", display_name="n"
    ),
    "create_resource, repository": lambda platform, value: platform.repositories.create_resource(
        ITWIN, value, id="i", display_name="n"
    ),
    "list_objects": lambda platform, value: platform.scenes.list_objects(value, ITWIN).collect(),
    "update webhook": lambda platform, value: platform.webhooks.update(value, active=True),
    "activate": lambda platform, value: platform.webhooks.activate(value),
    "deactivate": lambda platform, value: platform.webhooks.deactivate(value),
}
BY_HEADER: dict[str, Call] = {
    "create": lambda platform, value: platform.scenes.create(ITWIN, display_name="S", correlation_id=value),
    "list_objects": lambda platform, value: platform.scenes.list_objects(SCENE, ITWIN, correlation_id=value).collect(),
    "list": lambda platform, value: platform.itwins.list(query_scope=value).collect(),
}
NO_IDS = ["", ".", "..", "\ud800"]
NO_HEADERS = ["", " a", "a ", "a\r\nX-Evil: 1", "a\x00", "ü"]


@pytest.mark.parametrize("lifted", [False, True], ids=["checked", "lifted"])
@pytest.mark.parametrize("id", NO_IDS, ids=["empty", "dot", "dots", "surrogate"])
@pytest.mark.parametrize("call", BY_ID.values(), ids=BY_ID)
async def test_an_id_that_leaves_its_place_in_the_path_is_rejected(
    call: Call, id: str, lifted: bool, platform: PlatformClient, unchecked: PlatformClient, httpx_mock: HTTPXMock
) -> None:
    """Empty and dot ids would be resolved away, and half a surrogate pair cannot be encoded."""
    with pytest.raises(UsageError, match="id "):
        await call(unchecked if lifted else platform, id)
    assert httpx_mock.get_requests() == []


@pytest.mark.parametrize("lifted", [False, True], ids=["checked", "lifted"])
@pytest.mark.parametrize("value", NO_HEADERS, ids=ascii)
@pytest.mark.parametrize("call", BY_HEADER.values(), ids=BY_HEADER)
async def test_a_header_that_cannot_be_sent_is_rejected(
    call: Call, value: str, lifted: bool, platform: PlatformClient, unchecked: PlatformClient, httpx_mock: HTTPXMock
) -> None:
    """A line break would start another header, and the transport would take the failure for a lost response."""
    with pytest.raises(UsageError, match="visible ASCII"):
        await call(unchecked if lifted else platform, value)
    assert httpx_mock.get_requests() == []


@pytest.mark.parametrize("lifted", [False, True], ids=["checked", "lifted"])
@pytest.mark.parametrize("itwin_id", ["", None, 7], ids=repr)
async def test_the_itwin_of_a_scene_is_required(
    itwin_id: str, lifted: bool, platform: PlatformClient, unchecked: PlatformClient, httpx_mock: HTTPXMock
) -> None:
    """An empty parameter is a missing one."""
    client = unchecked if lifted else platform
    with pytest.raises(UsageError, match="itwin_id must be a str that is not empty"):
        await client.scenes.create(itwin_id, display_name="S")
    with pytest.raises(UsageError, match="itwin_id must be a str that is not empty"):
        client.scenes.list_objects(SCENE, itwin_id)
    assert httpx_mock.get_requests() == []


@pytest.mark.parametrize(
    "objects",
    [["x"], [None], {"kind": "Layer"}, [{"kind": "Layer"}, 5], "objects"],
    ids=["text", "None", "one mapping", "number", "a text"],
)
async def test_objects_of_another_kind_are_rejected(
    objects: list[dict[str, object]], unchecked: PlatformClient, httpx_mock: HTTPXMock
) -> None:
    """Neither a model nor a mapping can be an object, and the text says what was given."""
    with pytest.raises(UsageError, match="objects must hold SceneObjectCreate models or mappings, not "):
        await unchecked.scenes.create(ITWIN, display_name="S", objects=objects)
    assert httpx_mock.get_requests() == []


@pytest.mark.parametrize("given", ["Basic", 5, ["a"]], ids=repr)
@pytest.mark.parametrize("name", ["authentication", "options"])
async def test_a_complete_object_that_is_no_object_is_rejected(
    name: str, given: dict[str, object], unchecked: PlatformClient, httpx_mock: HTTPXMock
) -> None:
    """The error names the argument without its value, which may be a secret."""
    with pytest.raises(UsageError, match=f"{name} must be one of its types, a mapping"):
        await unchecked.repositories.update(ITWIN, "r", **{name: given})  # type: ignore[arg-type]  # as a mistake
    assert httpx_mock.get_requests() == []


NO_JSON: list[object] = [float("nan"), {1, 2}, object(), b"x", "\ud800", 10**5000]
LOOP: list[object] = []
LOOP.append(LOOP)
#: Where a value can stand in a body, and the argument that the error names.
IN_BODIES: list[tuple[str, Callable[[PlatformClient, Any], Awaitable[object]]]] = [
    (
        "objects[0].data.a[0]",
        lambda platform, value: platform.scenes.create(
            ITWIN, display_name="S", objects=[{"kind": "Layer", "version": "1.0.0", "data": {"a": [value]}}]
        ),
    ),
    (
        "objects[0].order",
        lambda platform, value: platform.scenes.create(
            ITWIN, display_name="S", objects=[SceneObjectCreate(kind="Layer", version="1.0.0", data={}, order=value)]
        ),
    ),
    (
        "options.queryParameters",
        lambda platform, value: platform.repositories.update(
            ITWIN, "r", options={"queryParameters": value, "minimumLevel": 1, "maximumLevel": 2}
        ),
    ),
    (
        "options.queryParameters",
        lambda platform, value: platform.repositories.update(
            ITWIN,
            "r",
            options=RepositoryOptions(query_parameters=value, minimum_level=None, maximum_level=None),
        ),
    ),
    ("name", lambda platform, value: platform.detectors.create(name=value, type="PhotoObjectDetector")),
    ("extra_body.a", lambda platform, value: platform.with_options(extra_body={"a": value}).aclose()),
    ("json.a", lambda platform, value: platform.generated.get_async_httpx_client().post("/scenes/", json={"a": value})),
]


@pytest.mark.parametrize("value", [*NO_JSON, LOOP], ids=lambda value: type(value).__name__)
@pytest.mark.parametrize(("argument", "call"), IN_BODIES, ids=lambda part: part if isinstance(part, str) else "")
async def test_a_value_that_json_does_not_have_is_rejected(
    argument: str,
    call: Callable[[PlatformClient, Any], Awaitable[object]],
    value: object,
    unchecked: PlatformClient,
    httpx_mock: HTTPXMock,
) -> None:
    """The error names the argument and the place inside it, before anything is sent."""
    with pytest.raises(UsageError, match=r"cannot be (serialized as JSON|sent)") as caught:
        await call(unchecked, value)
    place = caught.value.argument or ""
    assert place.startswith(argument.partition("[")[0]) if value is LOOP else place == argument
    assert httpx_mock.get_requests() == []


@pytest.mark.parametrize(
    ("value", "said"), [("x" * 70_000, "URL.* too long"), ("\ud800", "half of a surrogate pair")], ids=["long", "half"]
)
async def test_a_value_that_an_address_cannot_hold_is_rejected(
    value: str, said: str, platform: PlatformClient, httpx_mock: HTTPXMock
) -> None:
    """The error says why the request cannot be written, for a part of the path and for a value of the query."""
    with pytest.raises(UsageError, match=said):
        await platform.scenes.create(value, display_name="S")
    with pytest.raises(UsageError, match=said):
        await platform.webhooks.activate(value)
    with pytest.raises(UsageError, match=said):
        await platform.itwins.list(filter=value).collect()
    assert httpx_mock.get_requests() == []
