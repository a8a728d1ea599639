"""What goes away is announced: by a category of its own, with the version that warned first and the one without it."""

import ast
import warnings
from pathlib import Path

import itwin_platform
import pytest
from itwin_platform import PlatformDeprecationWarning

PACKAGE = Path(itwin_platform.__file__).parent
#: The categories that the package may warn with: what it deprecates, and what may be missing from a listing.
CATEGORIES = {"PlatformDeprecationWarning", "TruncatedWarning"}
EXAMPLE = """
warnings.warn("a", TruncatedWarning, stacklevel=2)
warnings.warn(PlatformDeprecationWarning("a: write b", "0.1.0", "9.0.0"), stacklevel=2)
warnings.warn("no category")
warnings.warn("no place", TruncatedWarning)
warnings.warn(PlatformDeprecationWarning("overdue", "0.0.1", "0.1.0"), stacklevel=2)
warnings.warn(PlatformDeprecationWarning("at once", "0.2.0", "0.2.0"), stacklevel=2)
warnings.warn(PlatformDeprecationWarning("a variable", since, removal), stacklevel=2)
"""


def faults(source: str, *, version: str = itwin_platform.__version__) -> list[str]:
    """A line for each warning of a source that users could not sort, find, or rely on."""
    found: list[str] = []
    for call in (node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Call)):
        called = ast.unparse(call.func).rpartition(".")[2]
        if called == "warn":
            if not CATEGORIES & {each.id for each in ast.walk(call) if isinstance(each, ast.Name)}:
                found.append(f"line {call.lineno}: a category that is not ours")
            if "stacklevel" not in {keyword.arg for keyword in call.keywords}:
                found.append(f"line {call.lineno}: does not point at the caller")
        elif called == "PlatformDeprecationWarning":
            found += _versions(call, version)
    return found


def _versions(call: ast.Call, version: str) -> list[str]:
    written = [argument.value for argument in call.args if isinstance(argument, ast.Constant)]
    if len(written) != 3:
        return [f"line {call.lineno}: since and removal must be written out"]
    since, removal = (_number(str(each)) for each in written[1:])
    if removal <= _number(version):
        return [f"line {call.lineno}: due, take it away"]
    return [] if since < removal else [f"line {call.lineno}: announced by no release before it is gone"]


def _number(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split("."))


def test_the_rules_find_what_breaks_them() -> None:
    """Each wrong line of an example is found, and no other."""
    assert sorted(faults(EXAMPLE, version="0.1.0")) == [
        "line 4: a category that is not ours",
        "line 4: does not point at the caller",
        "line 5: does not point at the caller",
        "line 6: due, take it away",
        "line 7: announced by no release before it is gone",
        "line 8: since and removal must be written out",
    ]


@pytest.mark.parametrize("path", sorted(PACKAGE.glob("*.py")), ids=lambda path: path.name)
def test_every_warning_can_be_sorted_and_nothing_is_overdue(path: Path) -> None:
    """A category of ours, the caller's line, and a version of removal that has not come."""
    assert faults(path.read_text(encoding="utf-8")) == []


def test_a_deprecation_says_both_versions() -> None:
    """In its text, for people, and as attributes, for tools."""
    warning = PlatformDeprecationWarning("itwins.all: write itwins.list", "0.2.0", "0.4.0")
    assert str(warning) == "itwins.all: write itwins.list (deprecated since 0.2.0, removed in 0.4.0)"
    assert (warning.since, warning.removal) == ("0.2.0", "0.4.0")


def test_an_application_can_reject_what_this_package_deprecates_alone() -> None:
    """A filter by category makes ours an error and leaves other deprecations as they were."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        warnings.simplefilter("error", PlatformDeprecationWarning)
        warnings.warn("somebody else's", DeprecationWarning, stacklevel=1)
        with pytest.raises(PlatformDeprecationWarning, match=r"removed in 0\.4\.0"):
            warnings.warn(PlatformDeprecationWarning("ours", "0.2.0", "0.4.0"), stacklevel=1)
