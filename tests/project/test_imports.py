"""Imports go one way, and only the layers that touch the network know how to wait."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

PACKAGE = Path(__file__).resolve().parents[2] / "wrapper" / "itwin_platform"
GROUPS = {"_itwins", "_repositories", "_scenes", "_detectors", "_webhooks"}
#: From the top to the ground: a module imports from its own layer or from those beneath, groups only from beneath.
LAYERS = (
    {"__init__"},
    {"_client"},
    GROUPS,
    {
        *(
            "_partition",
            "_pager",
            "_connection",
            "_http",
            "_given_client",
            "_fast",
            "_transport",
            "_exchange",
            "_auth",
            "_gate",
        ),
        *("_response_body", "_cancellation"),
    },
    {
        *("_answers", "_backoff", "_checks", "_events", "_json", "_listing_run", "_page", "_paging", "_replacement"),
        *("_resume", "_scene_data", "_tokens", "_window"),
    },
    {"_api"},
    {"_deprecation", "_errors", "_version"},
)
RANK = {name: rank for rank, names in enumerate(LAYERS) for name in names}
POLICY = LAYERS[4]
MODULES = sorted(path.stem for path in PACKAGE.glob("*.py"))


def imported(module: str) -> Iterator[str]:
    """Every module that a module imports, at any place in it: of this package by `_name`, others by their full name."""
    for node in ast.walk(ast.parse((PACKAGE / f"{module}.py").read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level <= 1, f"{module} reaches out of the package"
            if node.level == 0:
                yield str(node.module)
            elif node.module is None:
                yield from (alias.name for alias in node.names)
            else:
                yield node.module


def test_every_module_has_its_layer() -> None:
    """A new module is given its place here."""
    assert [name for name in MODULES if name not in RANK] == []


@pytest.mark.parametrize("module", MODULES)
def test_imports_go_down(module: str) -> None:
    """No module imports from a layer above its own."""
    above = {name for name in imported(module) if RANK.get(name, len(LAYERS)) < RANK[module]}
    assert not above, f"{module} imports {above} from above"


@pytest.mark.parametrize("module", sorted(GROUPS))
def test_groups_do_not_know_each_other(module: str) -> None:
    """Each group of operations stands alone."""
    assert not GROUPS & set(imported(module))


@pytest.mark.parametrize("module", sorted(POLICY | LAYERS[5] | LAYERS[6]))
def test_policy_neither_sends_nor_waits(module: str) -> None:
    """Policy imports no HTTP, no event loop, no clock and no dice: they are handed in."""
    roots = {name.partition(".")[0] for name in imported(module)}
    assert not roots & {
        "httpx",
        "httpcore",
        "aiohttp",
        "asyncio",
        "anyio",
        "socket",
        "ssl",
        "time",
        "random",
        "secrets",
    }


@pytest.mark.parametrize("module", MODULES)
def test_one_module_names_the_generated_package(module: str) -> None:
    """`_api` is the seam: all else gets the generated names from it."""
    names_it = any(name.startswith("itwin_platform_api") for name in imported(module))
    assert names_it == (module == "_api")


@pytest.mark.parametrize("module", MODULES)
def test_no_module_imports_itself_in_a_circle(module: str) -> None:
    """Within a layer, too, imports have an end."""
    seen: set[str] = set()
    ahead = {name for name in imported(module) if name in RANK}
    while ahead:
        name = ahead.pop()
        assert name != module, f"{module} imports itself by way of {seen}"
        seen.add(name)
        ahead |= {inner for inner in imported(name) if inner in RANK} - seen


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
    """No file of the wrapper has more than 250 lines."""
    long = {path.name: len(path.read_text(encoding="utf-8").splitlines()) for path in PACKAGE.glob("*.py")}
    assert {name: lines for name, lines in long.items() if lines > 250} == {}
