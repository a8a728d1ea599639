"""Imports go down from folder to folder, and decisions know neither the network nor the clock."""

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

PROJECT = Path(__file__).resolve().parents[2]
PACKAGE = PROJECT / "wrapper" / "itwin_platform"
#: From the top to the ground: a module imports from its own folder or from those below.
#: A subfolder is below the folder that holds it.
ORDER = (
    *("_client", "_operations", "_listings", "_requests"),
    *("_http/attempts", "_http/gates", "_http", "_http/connections"),
    *("_json", "_api"),
)
GROUND = ("_errors", "_status_errors", "_version")
#: What names this platform, its routes and its headers.
PLATFORM = re.compile(r"itwin|bentley|\bvendor\b|/(?:scenes|webhooks|detectors|repositories)\b", re.IGNORECASE)
RANK = {name: rank for rank, name in enumerate(ORDER)} | dict.fromkeys(GROUND, len(ORDER))
MODULES = sorted(path.relative_to(PACKAGE).with_suffix("").as_posix() for path in PACKAGE.rglob("*.py"))
GROUPS = ("itwins", "repositories", "scenes", "detectors", "webhooks")
#: Modules that decide: they receive time, sleep and randomness as arguments.
PURE = {
    *("_http/policy", "_http/attempts/outage", "_http/gates/window", "_http/events"),
    *("_listings/run", "_listings/links", "_listings/resume"),
    *("_operations/rules", "_operations/replacement"),
    *("_api", "_errors", "_json", "_version"),
}
WORLD = {"httpx", "httpcore", "httptools", "asyncio", "anyio", "socket", "ssl", "time", "random", "secrets", "redis"}


def folder(module: str) -> str:
    """The folder of a module, or the module itself at the first level."""
    return module.rpartition("/")[0] or module


def imported(module: str) -> Iterator[str]:
    """Every module that a module imports anywhere: of this package as `_folder/name`, others by their full name."""
    path = PACKAGE / f"{module}.py"
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.level == 0:
            yield str(node.module)
        elif isinstance(node, ast.ImportFrom):
            folders = list(path.parent.relative_to(PACKAGE).parts)
            assert node.level <= len(folders) + 1, f"{module} reaches out of the package"
            above = folders[: len(folders) + 1 - node.level]
            names = [node.module.replace(".", "/")] if node.module else [alias.name for alias in node.names]
            yield from ("/".join([*above, name]) for name in names)


@cache
def own(module: str) -> frozenset[str]:
    """Return the modules of this package that a module imports."""
    return frozenset(name for name in imported(module) if name.startswith("_"))


def test_every_folder_has_a_rank() -> None:
    """Every folder, subfolder and first-level module has a rank in the order."""
    assert {folder(module) for module in MODULES if module != "__init__"} == RANK.keys()


def test_imports_go_down() -> None:
    """No module imports from a folder above its own."""
    above = {
        module: upward
        for module in MODULES
        if module != "__init__"
        and (upward := {name for name in own(module) if RANK[folder(name)] < RANK[folder(module)]})
    }
    assert above == {}


def test_http_knows_nothing_of_the_platform() -> None:
    """`_http` imports nothing from above but the errors and the version, and no word in it names the platform."""
    for path in (each for each in (PACKAGE / "_http").rglob("*") if each.suffix in (".py", ".lua", ".md")):
        assert not PLATFORM.findall(path.read_text(encoding="utf-8")), path
        if path.suffix == ".py":
            own_modules = own(path.relative_to(PACKAGE).with_suffix("").as_posix())
            assert {name for name in own_modules if not name.startswith("_http/")} <= {*GROUND}, path


def test_groups_do_not_know_each_other() -> None:
    """No group of operations imports another."""
    groups = {f"_operations/{group}" for group in GROUPS}
    assert {group: groups & own(group) for group in groups if groups & own(group)} == {}


def test_decisions_neither_send_nor_wait() -> None:
    """Modules that decide import no HTTP, no event loop, no clock and no randomness."""
    used = {module: {name.partition(".")[0] for name in imported(module)} & WORLD for module in PURE}
    assert {module: names for module, names in used.items() if names} == {}


def test_one_module_names_the_generated_package() -> None:
    """Only `_api` imports the generated package."""
    assert [
        module for module in MODULES if any(each.startswith("itwin_platform_api") for each in imported(module))
    ] == ["_api"]


def test_httpx_is_named_where_the_decision_says() -> None:
    """httpx is imported by the modules that the decision on a second HTTP library lists, each with its reason."""
    record = (PROJECT / "docs" / "decisions" / "second-http-library.md").read_text(encoding="utf-8")
    documented = re.findall(r"^\| `(_[\w/]+)` \| \S", record, re.MULTILINE)
    used = {module for module in MODULES if any(name.partition(".")[0] == "httpx" for name in imported(module))}
    assert sorted(documented) == sorted(used)


@pytest.mark.parametrize("module", MODULES)
def test_no_module_imports_itself_in_a_circle(module: str) -> None:
    """No module imports itself through others, also within a folder."""
    seen: set[str] = set()
    ahead = set(own(module))
    while ahead:
        name = ahead.pop()
        assert name != module, f"{module} imports itself by way of {seen}"
        seen.add(name)
        ahead |= (own(name) if name in MODULES else frozenset()) - seen


def test_generated_code_does_not_know_the_wrapper() -> None:
    """The generated package imports nothing of the hand-written layer."""
    hand_written = {"itwin_platform", "itwin_platform_sandbox"}
    for path in (PROJECT / "generated").rglob("*.py"):
        roots = set()
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                roots |= {alias.name.partition(".")[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and node.level == 0:
                roots.add(str(node.module).partition(".")[0])
        assert not roots & hand_written, path


def test_every_folder_says_what_belongs_in_it() -> None:
    """Each package begins with a docstring."""
    for path in PACKAGE.rglob("__init__.py"):
        assert ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))), path
