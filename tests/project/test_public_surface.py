"""The public face: all that is exported, typed and documented, and every operation, error and enum of the document."""

import inspect
import re
from typing import Any, get_type_hints

import attrs
import itwin_platform
import pytest
from itwin_platform._errors import status_error_class

from tests.support import calls
from tests.support.processes import PROJECT
from tests.support.public_face import CALLABLES, EXPORTED, GROUPS, NAMES
from tests.support.specification import specification
from tools.generation.document import operations
from tools.generation.wrapper_fit import wrapped
from tools.site.specification_links import linked

#: Where each operation is found.
METHODS = {name: method for name, (method, _, _) in calls.METHODS.items()}
DOCUMENT: dict[str, Any] = specification()
OPERATIONS = {operation["operationId"]: operation for _, _, operation, _ in operations(DOCUMENT)}
#: The errors that every call can raise.
RAISED_BY_EVERY_CALL = (
    *("TokenError", "NotSentError", "OutcomeUnknownError", "DeadlineExceededError"),
    *("ResponseDecodeError", "ServerError"),
)


def test_the_operations_have_methods() -> None:
    """Each operation that the wrapper imports has a method, in the group of its tag."""
    assert METHODS.keys() == wrapped()
    assert set(METHODS.values()) <= CALLABLES.keys()
    assert {name: [method.partition(".")[0]] for name, method in METHODS.items()} == {
        name: OPERATIONS[name]["tags"] for name in METHODS
    }


@pytest.mark.parametrize("file", ["README.md", "CHANGELOG.md"])
def test_every_operation_is_named(file: str) -> None:
    """README.md calls each operation, and the changelog announces it."""
    # `make spec-diff` prints lines for the changelog, in which an operation has underscores.
    text = " ".join((PROJECT / file).read_text(encoding="utf-8").lower().replace("_", " ").split())
    calls_of = {name: f"platform.{method}(".replace("_", " ") for name, method in METHODS.items()}
    announced = {name: operation["summary"].lower() for name, operation in OPERATIONS.items()}
    named = announced if file == "CHANGELOG.md" else calls_of
    assert [name for name, words in named.items() if words not in text] == []


@pytest.mark.parametrize("name", METHODS)
def test_a_docstring_names_previews_and_errors(name: str) -> None:
    """A docstring marks the previews, and names the error class of each documented status and of every call.

    It says where to read: an editor shows no link, and the site links that instead.
    """
    said = str(CALLABLES[METHODS[name]].__doc__)
    marker = "Technical Preview: for testing only, not for production use; may change."
    assert (marker in said) == OPERATIONS[name].get("x-technical-preview", False)
    statuses = [int(status) for status in OPERATIONS[name]["responses"] if int(status) >= 400]
    errors = [*RAISED_BY_EVERY_CALL, *(status_error_class(status).__name__ for status in statuses)]
    assert [error for error in errors if error not in said] == []
    assert f"Specification: [{name}](specification.md#{name})." in linked(said)


def test_all_is_sorted_and_complete() -> None:
    """`__all__` is sorted, without a name twice, and no name is public beside it.

    Users need no enum of the generated package; kinds and orders are open sets, and Prefer has words of its own.
    """
    enums = {name for name, schema in DOCUMENT["components"]["schemas"].items() if "enum" in schema}
    assert enums - set(NAMES) == {"SceneObjectKind", "SceneObjectOrder", "PreferredReturn"}
    assert sorted(set(NAMES)) == NAMES
    assert {name for name in dir(itwin_platform) if not name.startswith("_")} == set(NAMES) - {"__version__"}
    with pytest.raises(ImportError, match="Nothing"):
        from itwin_platform import Nothing  # type: ignore[attr-defined]  # noqa: F401  # as a mistake


def test_a_public_class_names_the_package_that_users_import() -> None:
    """`repr`, tracebacks and pickles show a name that can be imported, and type hints are still resolved."""
    named = [each for each in EXPORTED.values() if inspect.isclass(each) or inspect.isfunction(each)]
    assert {each.__module__ for each in named} == {"itwin_platform", "itwin_platform_transport"}
    assert get_type_hints(EXPORTED["Repository"])["options"] is not None


MODELS = [name for name, value in EXPORTED.items() if attrs.has(value)]


@pytest.mark.parametrize("name", MODELS)
def test_help_describes_each_field(name: str) -> None:
    """`help(ITwin)` describes every attribute."""
    fields = [each.name for each in attrs.fields(EXPORTED[name])]
    described = re.findall(r"^ +(\w+): \S", str(EXPORTED[name].__doc__), re.MULTILINE)
    assert [each for each in fields if each not in described] == []


OPERATIONS_OF_USERS = [name for name in sorted(CALLABLES) if name.partition(".")[0] in GROUPS]
CONSTRUCTORS = ["PlatformClient", "BackoffTransport", "EngineTransport", "Gate", "RedisGate", "Pager"]


@pytest.mark.parametrize("name", [*OPERATIONS_OF_USERS, *CONSTRUCTORS])
def test_help_shows_the_arguments_of_users(name: str) -> None:
    """An operation and a constructor have the arguments that the docstring describes, and no others."""
    words = str(inspect.getdoc(CALLABLES[name])).partition("Args:\n")[2].partition("\n\n")[0]
    described = ", ".join(re.findall(r"^    ([a-z][a-z_, ]*):", words, re.MULTILINE)).split(", ")
    assert sorted(described) == sorted(inspect.signature(CALLABLES[name]).parameters or [""])


@pytest.mark.parametrize("name", sorted(CALLABLES))
def test_no_argument_is_untyped_or_unnamed(name: str) -> None:
    """No `**kwargs`, no `Any`: an editor shows each argument; only the ids of a resource are positional."""
    target = CALLABLES[name].__init__ if inspect.isclass(CALLABLES[name]) else CALLABLES[name]
    parameters = inspect.signature(CALLABLES[name]).parameters.values()
    assert [each for each in parameters if each.kind in (each.VAR_KEYWORD, each.VAR_POSITIONAL)] == []
    hints = get_type_hints(target, localns=EXPORTED)
    assert [hint for hint in hints.values() if "typing.Any" in str(hint)] == []
    if name.partition(".")[0] in GROUPS:
        by_position = {each.name for each in parameters if each.kind is not each.KEYWORD_ONLY}
        assert by_position <= {"itwin_id", "repository_id", "scene_id", "webhook_id"}
