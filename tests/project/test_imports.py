"""Imports go down from folder to folder, and decisions know neither the network nor the clock."""

import ast
import re

from tests.support.faces import module_of
from tools.structure.imports import MODULES, RANK, circles, folder, imported, own, upward
from tools.structure.lines import PROJECT, WRAPPER

PACKAGE = WRAPPER
#: What names this platform, its routes and its headers.
PLATFORM = re.compile(r"itwin|bentley|\bvendor\b|/(?:scenes|webhooks|detectors|repositories)\b", re.IGNORECASE)
GROUPS = ("itwins", "repositories", "scenes", "detectors", "webhooks")
#: What is defined in modules that decide: they receive time, sleep and randomness as arguments.
PURE = ("BackoffPolicy", "Outage", "Window", "AttemptEnded", "Run", "next_query", "write_resume")
WORLD = {"httpx", "httpcore", "httptools", "asyncio", "anyio", "socket", "ssl", "time", "random", "secrets", "redis"}


def test_every_folder_has_a_rank() -> None:
    """Every folder, subfolder and first-level module has a rank in the order."""
    assert {folder(module) for module in MODULES if module != "__init__"} == RANK.keys()


def test_imports_go_down() -> None:
    """No module imports from a folder above its own."""
    assert upward() == []


def test_no_import_closes_a_circle() -> None:
    """No module of the repository imports itself by way of others."""
    assert circles() == []


def test_groups_do_not_know_each_other() -> None:
    """No group of operations imports another."""
    groups = {f"_operations/{group}" for group in GROUPS}
    assert {group: groups & own(group) for group in groups if groups & own(group)} == {}


def test_decisions_neither_send_nor_wait() -> None:
    """Modules that decide import no HTTP, no event loop, no clock and no randomness."""
    modules = {module_of(name).__name__.partition(".")[2].replace(".", "/") for name in PURE}
    used = {module: {name.partition(".")[0] for name in imported(module)} & WORLD for module in modules}
    assert {module: names for module, names in used.items() if names} == {}


def test_http_does_not_know_the_generated_package() -> None:
    """Nothing in `_http` imports the generated package."""
    found = {module: [each for each in imported(module) if each.startswith("itwin_platform_api")] for module in MODULES}
    assert {module: names for module, names in found.items() if names and module.startswith("_http")} == {}


def test_httpx_is_named_where_the_decision_says() -> None:
    """httpx is imported by the modules that the decision on a second HTTP library lists, each with its reason."""
    record = (PROJECT / "docs" / "decisions" / "second-http-library.md").read_text(encoding="utf-8")
    documented = re.findall(r"^\| `(_[\w/]+)` \| \S", record, re.MULTILINE)
    used = {module for module in MODULES if any(name.partition(".")[0] == "httpx" for name in imported(module))}
    assert sorted(documented) == sorted(used)


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
