"""What the description forbids is rejected before anything is sent; with the checks lifted the service rejects it."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

import pytest
from itwin_platform import UNSET, APIStatusError, BasicAuthentication, PlatformClient, RepositoryOptions, UsageError
from itwin_platform_sandbox import Sandbox
from pytest_httpx import HTTPXMock

from tests.operations.conftest import ITWIN, OPERATIONS, SCENE, request_of, sent_json

Keywords = dict[str, Any]
OBJECT = {"kind": "Layer", "version": "1.0.0", "data": {}}
PKCE = {"type": "OAuth2AuthorizationCodePKCE", "clientId": "c", "scopes": "s", "tokenEndpoint": "t"}
NOBODY: Any = None  # where a type checker expects a string
OMITS: Any = UNSET  # the same


@dataclass(frozen=True, slots=True)
class Rule:
    """A rule, broken: by which keywords, what is documented for it, and the body that goes out without the check."""

    operation: str
    keywords: Keywords
    body: Any
    code: str | None = None
    target: str | None = None
    #: The service may accept it: no rule is documented, or only the full-object replacement.
    taken: bool = False


def level(wire: str, keyword: str, value: object) -> Rule:
    """A level out of its range, the other options omitted."""
    given: Any = {"query_parameters": None, "minimum_level": None, "maximum_level": None} | {keyword: value}
    body = {"options": {wire: value}}
    return Rule("update_repository", {"options": RepositoryOptions(**given)}, body, "InvalidValue", wire.lower())


def part(name: str, given: object, code: str | None, target: str | None, *, taken: bool = False) -> Rule:
    """An object that lacks something, as a mapping."""
    return Rule("update_repository", {name: given}, {name: given}, code, target, taken)


def resource(code: str, name: str, keyword: str, value: object) -> Rule:
    """A resource with one bad property."""
    body = {"id": "r", "displayName": "R"} | {name: value}
    return Rule("create_repository_resource", {"id": "r", "display_name": "R"} | {keyword: value}, body, code, name)


def scene(keywords: Keywords, body: Keywords, code: str, target: str | None = None) -> Rule:
    """A scene with one bad property."""
    return Rule("create_scene", {"display_name": "S"} | keywords, {"displayName": "S"} | body, code, target)


def detector(keywords: Keywords, code: str, target: str | None = None) -> Rule:
    """A detector with one bad property."""
    complete = {"name": "n", "type": "PhotoObjectDetector"} | keywords
    return Rule("create_detector", complete, complete, code, target)


def webhook(keyword: str, name: str, value: object) -> Rule:
    """A webhook with one bad property."""
    return Rule("update_webhook", {keyword: value}, {name: value}, "InvalidRequestBody")


RULES = [
    Rule("update_repository", {}, {}, taken=True),
    *(
        Rule("update_repository", {keyword: value}, {name: value}, "InvalidValue", name)
        for name, keyword, most in (("displayName", "display_name", 200), ("uri", "uri", 2000))
        for value in (None, "", "x" * (most + 1))
    ),
    *(level("minimumLevel", "minimum_level", value) for value in (-1, 25, 1.5, True)),
    *(level("maximumLevel", "maximum_level", value) for value in (-1, 25, "3")),
    part("options", {}, "InvalidValue", "options", taken=True),
    part("options", {"queryParameters": {"a": "b"}}, "InvalidValue", "options", taken=True),
    part("options", {"queryParameters": "a=b", "minimumLevel": 1, "maximumLevel": 2}, "InvalidValue", "options"),
    *(
        part("authentication", {"type": kind, other: "x"} | rest, "InvalidValue", name)
        for kind in ("Header", "QueryParameter")
        for name, other in (("key", "value"), ("value", "key"))
        for rest in ({}, {name: None}, {name: 5})
    ),
    part("authentication", {"type": "Basic", "password": "p"}, "InvalidValue", "username"),
    part("authentication", {"type": "Basic", "username": "u"}, "InvalidValue", "password"),
    part("authentication", PKCE, "InvalidiTwinsRequest", None),
    part("authentication", {}, "InvalidiTwinsRequest", None),
    part("authentication", {"type": "ApiKey", "apiKey": "x"}, "InvalidiTwinsRequest", None),
    part("authentication", {"username": "u", "password": "p"}, "InvalidiTwinsRequest", None),
    Rule(
        "update_repository",
        {"authentication": BasicAuthentication(username="u", password=NOBODY)},
        {"authentication": {"type": "Basic", "username": "u", "password": None}},
        "InvalidValue",
        "password",
    ),
    *(resource("MissingRequiredProperty", "id", "id", value) for value in (None, "")),
    *(resource("MissingRequiredProperty", "type", "type", value) for value in (None, "")),
    *(resource("MissingRequiredProperty", "displayName", "display_name", value) for value in (None, "")),
    resource("InvalidValue", "id", "id", "x" * 201),
    resource("InvalidValue", "type", "type", "x" * 101),
    resource("InvalidValue", "displayName", "display_name", "x" * 201),
    scene({"display_name": None}, {"displayName": None}, "InvalidScenesRequest"),
    scene({"description": None}, {"description": None}, "InvalidScenesRequest"),
    scene({"id": "scene-1"}, {"id": "scene-1"}, "InvalidScenesRequest"),
    scene({"parent_id": "x"}, {"parentId": "x"}, "InvalidRequestBody", "parentId"),
    scene({"parent_id": None}, {"parentId": None}, "InvalidRequestBody", "parentId"),
    scene({"objects": None}, {"sceneData": {"objects": None}}, "InvalidScenesRequest"),
    scene({"objects": [OBJECT] * 101}, {"sceneData": {"objects": [OBJECT] * 101}}, "InvalidScenesRequest"),
    detector({"name": None}, "InvalidRealityAnalysisRequest"),
    detector({"type": None}, "InvalidValue", "detector.type"),
    detector({"type": 5}, "InvalidValue", "detector.type"),
    Rule("update_webhook", {}, {}, taken=True),
    *(webhook("active", "active", value) for value in (None, "true", 1)),
    webhook("callback_url", "callbackUrl", None),
    webhook("secret", "secret", None),
    webhook("event_types", "eventTypes", None),
]
named = pytest.mark.parametrize("rule", RULES, ids=lambda rule: f"{rule.operation} {str(rule.keywords)[:60]}")
CALLS: dict[str, Callable[[PlatformClient, str, str, str, Keywords], Awaitable[object]]] = {
    "update_repository": lambda client, itwin, repository, _, keywords: client.repositories.update(
        itwin, repository, **keywords
    ),
    "create_repository_resource": lambda client, itwin, repository, _, keywords: client.repositories.create_resource(
        itwin, repository, **keywords
    ),
    "create_scene": lambda client, itwin, _repository, _, keywords: client.scenes.create(itwin, **keywords),
    "create_detector": lambda client, _itwin, _repository, _, keywords: client.detectors.create(**keywords),
    "update_webhook": lambda client, _itwin, _repository, webhook, keywords: client.webhooks.update(
        webhook, **keywords
    ),
}
OMITTED: list[tuple[Callable[[PlatformClient], Awaitable[object]], str]] = [
    (lambda platform: platform.scenes.create(OMITS, display_name="S"), "itwin_id"),
    (lambda platform: platform.scenes.create(ITWIN, display_name=OMITS), "display_name"),
    (lambda platform: platform.scenes.list_objects(SCENE, OMITS).collect(), "itwin_id"),
    (lambda platform: platform.detectors.create(name=OMITS, type="PhotoObjectDetector"), "name"),
    (lambda platform: platform.detectors.create(name="D", type=OMITS), "type"),
    (lambda platform: platform.repositories.create_resource("i", "r", id=OMITS, display_name="R"), "id"),
    (lambda platform: platform.repositories.create_resource("i", "r", id="1", display_name=OMITS), "display_name"),
]


@named
async def test_a_broken_rule_is_rejected_before_anything_is_sent(
    rule: Rule, platform: PlatformClient, httpx_mock: HTTPXMock
) -> None:
    """The error is a ValueError with the documented code and target, and no request goes out."""
    with pytest.raises(UsageError) as caught:
        await CALLS[rule.operation](platform, ITWIN, "r", "w", rule.keywords)
    assert isinstance(caught.value, ValueError)
    assert (caught.value.code, caught.value.target) == (rule.code, rule.target)
    assert caught.value.rule
    assert httpx_mock.get_requests() == []


@named
async def test_without_the_checks_it_is_sent_as_it_is(
    rule: Rule, unchecked: PlatformClient, httpx_mock: HTTPXMock
) -> None:
    """`check_requests=False` lifts every one of these rules, partial mappings included."""
    operation = OPERATIONS[rule.operation]
    httpx_mock.add_response(status_code=operation.success, json=operation.sample())
    await CALLS[rule.operation](unchecked, ITWIN, "r", "w", rule.keywords)
    assert sent_json(httpx_mock) == rule.body
    assert request_of(httpx_mock).method == operation.method


@pytest.mark.parametrize("rule", [rule for rule in RULES if not rule.taken], ids=lambda rule: str(rule)[:90])
async def test_the_service_rejects_the_same_with_the_same_code(rule: Rule, sandbox: Sandbox) -> None:
    """The service rejects what the check rejects, with the same code and target."""
    async with PlatformClient(sandbox.base_url, vendor="sandbox", token=sandbox.token, check_requests=False) as client:
        repository = sandbox.repository_ids["UrlTemplate"]
        with pytest.raises(APIStatusError) as caught:
            await CALLS[rule.operation](client, sandbox.itwin_id, repository, sandbox.webhook_id, rule.keywords)
    error = caught.value
    said = {(error.code, error.target), *((detail.code, detail.target) for detail in error.details)}
    assert rule.code is None or rule.code in {code for code, _ in said}
    assert rule.target is None or (rule.code, rule.target) in said
    assert len(sandbox.requests) == 1


@pytest.mark.parametrize(("call", "named"), OMITTED)
async def test_a_required_argument_cannot_be_omitted(
    call: Callable[[PlatformClient], Awaitable[object]], named: str, platform: PlatformClient
) -> None:
    """UNSET omits an argument, which is rejected by its name where the service requires it."""
    with pytest.raises(UsageError, match=f"^[A-Z]+ /.*: {named} is required: UNSET would omit it") as caught:
        await call(platform)
    assert caught.value.argument == named


@pytest.mark.parametrize("objects", [5, 1.5, object()])
async def test_objects_that_cannot_be_iterated_are_rejected(objects: Any, platform: PlatformClient) -> None:
    """A single value is no list of objects, and the error says what was passed."""
    with pytest.raises(
        UsageError, match=r"^POST /scenes/: objects must be an iterable of scene objects, not (int|float|object)"
    ):
        await platform.scenes.create(ITWIN, display_name="S", objects=objects)
