"""Imports go down from folder to folder, and decisions know neither the network nor the clock."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

PACKAGE = Path(__file__).resolve().parents[2] / "wrapper" / "itwin_platform"
#: From the top to the ground: a module imports from its own folder or from those below.
#: A subfolder is below the folder that holds it.
ORDER = (
    *("_client", "_operations", "_listings", "_gates"),
    *("_attempts", "_attempts/admission", "_attempts/telemetry", "_attempts/bodies"),
    *("_transports", "_transports/decoding", "_transports/connections"),
    *("_json", "_api"),
)
GROUND = ("_errors", "_error_text", "_deprecation", "_version")
RANK = {name: rank for rank, name in enumerate(ORDER)} | dict.fromkeys(GROUND, len(ORDER))
MODULES = sorted(path.relative_to(PACKAGE).with_suffix("").as_posix() for path in PACKAGE.rglob("*.py"))
GROUPS = ("itwins", "repositories", "scenes", "detectors", "webhooks")
#: Modules that decide: they receive time, sleep and randomness as arguments.
PURE = {
    *("_attempts/policy", "_attempts/admission/window", "_attempts/token", "_attempts/telemetry/events"),
    *("_listings/run", "_listings/links", "_listings/page", "_listings/resume"),
    *("_operations/rules", "_operations/replacement", "_operations/scene_data"),
    *("_api", "_errors", "_error_text", "_json", "_deprecation", "_version"),
}
WORLD = {"httpx", "httpcore", "aiohttp", "asyncio", "anyio", "socket", "ssl", "time", "random", "secrets", "redis"}


def place(module: str) -> str:
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


def own(module: str) -> set[str]:
    """The modules of this package that a module imports."""
    return {name for name in imported(module) if name.startswith("_")}


def test_every_folder_has_its_place() -> None:
    """A new folder, subfolder or first-level module is given its place in the order."""
    assert {place(module) for module in MODULES if module != "__init__"} == RANK.keys()


@pytest.mark.parametrize("module", [module for module in MODULES if module != "__init__"])
def test_imports_go_down(module: str) -> None:
    """No module imports from a folder above its own."""
    above = {name for name in own(module) if RANK[place(name)] < RANK[place(module)]}
    assert not above, f"{module} imports {above} from above"


@pytest.mark.parametrize("module", GROUPS)
def test_groups_do_not_know_each_other(module: str) -> None:
    """Each group of operations stands alone."""
    assert not {f"_operations/{group}" for group in GROUPS} & own(f"_operations/{module}")


@pytest.mark.parametrize("module", sorted(PURE))
def test_decisions_neither_send_nor_wait(module: str) -> None:
    """Modules that decide import no HTTP, no event loop, no clock and no randomness."""
    assert not {name.partition(".")[0] for name in imported(module)} & WORLD


@pytest.mark.parametrize("module", MODULES)
def test_one_module_names_the_generated_package(module: str) -> None:
    """`_api` is the seam: all else gets the generated names from it."""
    names_it = any(name.startswith("itwin_platform_api") for name in imported(module))
    assert names_it == (module == "_api")


@pytest.mark.parametrize("module", MODULES)
def test_no_module_imports_itself_in_a_circle(module: str) -> None:
    """Within a folder, too, imports have an end."""
    seen: set[str] = set()
    ahead = own(module)
    while ahead:
        name = ahead.pop()
        assert name != module, f"{module} imports itself by way of {seen}"
        seen.add(name)
        ahead |= (own(name) if name in MODULES else set()) - seen


@pytest.mark.parametrize(
    "path", sorted((PACKAGE.parent.parent / "generated").rglob("*.py")), ids=lambda path: path.stem
)
def test_generated_code_does_not_know_the_wrapper(path: Path) -> None:
    """What is generated can be used without the hand-written layer."""
    roots = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            roots |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.level == 0:
            roots.add(str(node.module).partition(".")[0])
    assert not roots & {"itwin_platform", "itwin_platform_sandbox"}


def test_files_are_short() -> None:
    """No file of the wrapper has more than 250 lines, and the first level has at most eight files."""
    long = {path.name: len(path.read_text(encoding="utf-8").splitlines()) for path in PACKAGE.rglob("*.py")}
    assert {name: lines for name, lines in long.items() if lines > 250} == {}
    assert len(list(PACKAGE.glob("*.py"))) <= 8


def test_every_folder_says_what_belongs_in_it() -> None:
    """Each package begins with a docstring."""
    for path in PACKAGE.rglob("__init__.py"):
        assert ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))), path
