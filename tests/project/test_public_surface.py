"""The public face: what is exported, that it is all, and that it is typed and documented."""

import ast
import inspect
import re
from pathlib import Path
from typing import get_type_hints

import itwin_platform
import pytest

from tests.support.public_face import CALLABLES, EXPORTED, GROUPS, NAMES

PROJECT = Path(__file__).resolve().parents[2]
CONSUMER = PROJECT / "tests" / "project" / "typing" / "consumer.py"
#: The names that are promised.
PROMISED = {
    *("PlatformClient", "Pager", "Page", "BackoffPolicy", "BackoffTransport", "Gate", "RateLimit", "AccessToken"),
    "RedisGate",
    *("HeaderAuthentication", "QueryParameterAuthentication", "BasicAuthentication", "RepositoryOptions"),
    *("OAuth2AuthorizationCodePKCEAuthentication", "escape", "UNSET", "ErrorCode", "ErrorDetail"),
    *("ITwin", "ITwinSummary", "Repository", "Resource", "Scene", "SceneObject", "SceneObjectCreate", "Detector"),
    *("Webhook", "RepositoryResourceData", "View3dData", "Vector3d"),
    *("WebhookDelivery", "verify_delivery", "sign_delivery"),
    *("PlatformError", "UsageError", "StateError", "TransportError", "NotSentError", "OutcomeUnknownError"),
    "DeadlineExceededError",
    *(
        "TokenError",
        "PagingError",
        "DeliveryError",
        "ResponseDecodeError",
        "APIStatusError",
        "BadRequestError",
        "AuthenticationError",
    ),
    *("PermissionDeniedError", "NotFoundError", "ConflictError", "RequestTooLargeError", "UnprocessableError"),
    *("RateLimitError", "ServerError"),
    *("RepositoryClass", "RepositorySubClass", "ResourceClass", "ResourceSubClass", "ITwinClass", "ITwinSubClass"),
    *("ITwinStatus", "DataCenterLocation", "DetectorType", "WebhookScope", "EventType", "QueryScope"),
}


def test_all_is_sorted_and_holds_what_is_promised() -> None:
    """`__all__` is in the order of `sorted`, without a name twice, and has every promised name."""
    assert sorted(set(NAMES)) == NAMES
    assert PROMISED - set(NAMES) == set()


def test_nothing_else_is_public() -> None:
    """What `dir` shows without an underscore in front is exported, and what is exported is shown."""
    public = {name for name in dir(itwin_platform) if not name.startswith("_")}
    assert public == set(NAMES) - {"__version__"}
    with pytest.raises(ImportError, match="Nothing"):
        from itwin_platform import Nothing  # type: ignore[attr-defined]  # noqa: F401  # as a mistake


def test_a_star_import_works() -> None:
    """`__all__` names what exists."""
    names: dict[str, object] = {}
    exec("from itwin_platform import *", names)  # noqa: S102  # the form of import that reads `__all__`
    assert set(NAMES) <= names.keys()


CLASSES_AND_FUNCTIONS = [name for name, value in EXPORTED.items() if inspect.isroutine(value) or inspect.isclass(value)]


@pytest.mark.parametrize("name", sorted(CLASSES_AND_FUNCTIONS))
def test_every_name_is_documented(name: str) -> None:
    """Each exported class and function, and each public method and property of a class, says what it is for."""
    exported = EXPORTED[name]
    assert exported.__doc__
    own = vars(exported) if inspect.isclass(exported) else {}
    documentable = (staticmethod, classmethod, property)
    undocumented = [
        inner
        for inner, member in own.items()
        if not inner.startswith("_")
        and (inspect.isfunction(member) or isinstance(member, documentable))
        and not inspect.getdoc(getattr(exported, inner))
    ]
    assert undocumented == []


@pytest.mark.parametrize("name", sorted(CALLABLES))
def test_no_argument_is_untyped_or_unnamed(name: str) -> None:
    """No `**kwargs`, no `Any`: an editor shows what can be given, and every type in it is public or the standard's."""
    target = CALLABLES[name].__init__ if inspect.isclass(CALLABLES[name]) else CALLABLES[name]
    for parameter in inspect.signature(target).parameters.values():
        assert parameter.kind not in (parameter.VAR_KEYWORD, parameter.VAR_POSITIONAL)
    hints = get_type_hints(target, localns=EXPORTED)
    assert all("typing.Any" not in str(hint) for hint in hints.values())


@pytest.mark.parametrize("name", sorted(name for name in CALLABLES if name.partition(".")[0] in GROUPS))
def test_what_a_call_takes_is_named(name: str) -> None:
    """Only ids of what it is about may be given by position; every argument, and the section, is documented."""
    text = inspect.getdoc(CALLABLES[name]) or ""
    assert "Source: section" in text
    parameters = inspect.signature(CALLABLES[name]).parameters.values()
    by_position = {each.name for each in parameters if each.kind is not each.KEYWORD_ONLY}
    assert by_position <= {"itwin_id", "repository_id", "scene_id", "webhook_id"}
    if "activate" not in name:
        assert [each.name for each in parameters if not re.search(rf"\b{each.name}\b.*:", text)] == []


@pytest.mark.parametrize(
    "package", ["wrapper/itwin_platform", "generated/itwin_platform_api", "sandbox/itwin_platform_sandbox"]
)
def test_each_package_says_that_it_is_typed(package: str) -> None:
    """Type checkers read annotations only where `py.typed` stands."""
    assert (PROJECT / package / "py.typed").is_file()


def test_the_typed_consumer_uses_what_is_promised() -> None:
    """consumer.py, which type checkers read, uses every public name except errors and enums of responses."""
    used = {node.id for node in ast.walk(ast.parse(CONSUMER.read_text())) if isinstance(node, ast.Name)}
    unseen = {name for name in PROMISED - used if not name.endswith(("Error", "Class", "Location", "Scope"))}
    assert unseen == set()
