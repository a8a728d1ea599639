"""`make vendor`: copies, records, updates and rejections, and vendored copies at work, alone and side by side."""

import importlib.metadata
import json
import shutil
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from itwin_platform import __version__
from itwin_platform_sandbox import Sandbox
from packaging.requirements import Requirement

from tests.support.processes import PROJECT, ended
from tools.vendoring.vendor import IDENTITY, RECORD, copied as files_of, digests, dotted, vendor

WRAPPER = PROJECT / "wrapper" / "itwin_platform"
TRANSPORT = PROJECT / "transport" / "itwin_platform_transport"
GENERATED = PROJECT / "generated" / "itwin_platform_api"
NEEDED = ("httpx", "httptools", "attrs", "msgspec", "python-dateutil")
GATE = "transport/gates/gate.py"


def vendored(destination: Path, name: str = "itwin", project: Path = PROJECT, *, overwrite: bool = False) -> list[str]:
    """Copy the client of a checkout."""
    command = "make vendor DEST=somewhere"
    return vendor(project=project, destination=destination, name=name, overwrite=overwrite, command=command)


def run_python(*arguments: str | Path, cwd: Path, python: Path = Path(sys.executable)) -> str:
    """Run Python, where every warning is an error, and return what it printed; a failure fails the test."""
    return ended(python, "-W", "error", *arguments, folder=cwd).stdout


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the example service with the client vendored into it; not to be changed."""
    folder = tmp_path_factory.mktemp("service") / "my_service"
    example = PROJECT / "examples" / "vendored_service"
    shutil.copytree(example, folder, ignore=shutil.ignore_patterns("_vendor", ".venv", "__pycache__"))
    vendored(folder / "src" / "my_service" / "_vendor")
    return folder


@pytest.fixture(scope="module")
def older_checkout(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A checkout of another version, with a detector type and a module that this one does not know."""
    folder = tmp_path_factory.mktemp("older")
    for package in (WRAPPER, TRANSPORT, GENERATED):
        shutil.copytree(package, folder / package.relative_to(PROJECT), ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("LICENSE", "openapi.yaml", "pyproject.toml"):
        shutil.copy(PROJECT / name, folder / name)
    (folder / "wrapper/itwin_platform/_only_here.py").write_text("")
    for name, old, new in (
        ("wrapper/itwin_platform/_version.py", f'"{__version__}"', '"0.0.1"'),
        ("generated/itwin_platform_api/models/detector_type.py", "    PHOTO", '    OLD_DETECTOR = "Old"\n    PHOTO'),
    ):
        text = (folder / name).read_text()
        assert old in text
        (folder / name).write_text(text.replace(old, new, 1))
    return folder


@pytest.fixture
def copied(tmp_path: Path, older_checkout: Path) -> Path:
    """A copy of the older version."""
    vendored(tmp_path, project=older_checkout)
    return tmp_path / "itwin"


def contents(package: Path) -> dict[str, bytes]:
    """Every file of a package by its path in it."""
    files = (path for path in package.rglob("*") if path.is_file() and "__pycache__" not in path.parts)
    return {path.relative_to(package).as_posix(): path.read_bytes() for path in files}


def fresh(tmp_path: Path) -> dict[str, bytes]:
    """The files of a fresh copy."""
    vendored(tmp_path / "fresh")
    return contents(tmp_path / "fresh" / "itwin")


def test_only_imports_change(tmp_path: Path) -> None:
    """Each module is copied byte by byte, but for the lines of the wrapper that import the packages below."""
    made, wrapper = fresh(tmp_path), contents(WRAPPER)
    below = {f"transport/{name}": content for name, content in contents(TRANSPORT).items()}
    below |= {f"generated/{name}": content for name, content in contents(GENERATED).items()}
    changed = [
        before
        for name in wrapper
        for before, after in zip(wrapper[name].splitlines(), made[name].splitlines(), strict=True)
        if before != after
    ]
    assert changed
    packages = (b"from itwin_platform_api", b"from itwin_platform_transport")
    assert [line for line in changed if not line.strip().startswith(packages)] == []
    assert [name for name in below if not name.endswith("README.md") and made.get(name) != below[name]] == []
    assert set(made) - set(wrapper) - set(below) == {RECORD, IDENTITY, "LICENSE", "ruff.toml"}


def test_an_import_that_cannot_be_copied_is_rejected(older_checkout: Path, tmp_path: Path) -> None:
    """A wrapper that names the packages in `import` is not copied; the line is named."""
    module = older_checkout / "wrapper" / "itwin_platform" / "_astray.py"
    module.write_text("import itwin_platform_api.types\n")
    try:
        with pytest.raises(SystemExit, match=r"_astray\.py:1 imports itwin_platform_api\.types"):
            vendored(tmp_path, project=older_checkout)
    finally:
        module.unlink()
    assert list(tmp_path.iterdir()) == []


def test_the_record_says_version_revision_command_and_needs(copied: Path) -> None:
    """VENDORED.md has the version, the source, the command, the requirements, and the digest of each file."""
    text = (copied / RECORD).read_text()
    for line in (
        "| version | 0.0.1 |",
        "| source revision | unknown: not a git checkout |",
        "`make vendor DEST=somewhere`",
    ):
        assert line in text
    assert {Requirement(line[3:-1]).name for line in text.splitlines() if line.startswith("- `")} >= {*NEEDED}
    assert set(digests(text)) == contents(copied).keys() - {RECORD}


@pytest.mark.parametrize("name", ["my-client", "class", "9lives", ""])
def test_a_name_that_cannot_be_imported_is_rejected(tmp_path: Path, name: str) -> None:
    """A name that cannot be imported is rejected before anything is written."""
    with pytest.raises(SystemExit, match="cannot be imported"):
        vendored(tmp_path, name)
    assert list(tmp_path.iterdir()) == []


def test_the_command_copies(tmp_path: Path) -> None:
    """The command behind the make target copies, also to a relative DEST, and records itself."""
    (tmp_path / "inner").mkdir()
    variables = {"PYTHONPATH": str(PROJECT)}
    command = ("python", "-m", "tools.vendoring.vendor", "..", "itwin")
    assert ended(*command, folder=tmp_path / "inner", variables=variables).stderr == ""
    assert "`make vendor DEST=.. NAME=itwin`" in (tmp_path / "itwin" / RECORD).read_text()


def test_a_folder_within_a_package_becomes_a_package(tmp_path: Path) -> None:
    """`_vendor` within a package gets its `__init__.py`."""
    (tmp_path / "my_service").mkdir()
    (tmp_path / "my_service" / "__init__.py").touch()
    output = vendored(tmp_path / "my_service" / "_vendor")
    assert (tmp_path / "my_service" / "_vendor" / "__init__.py").read_text() == ""
    assert output[-1] == "import it with: from my_service._vendor.itwin import PlatformClient"


@pytest.mark.parametrize(
    ("files", "package", "name"),
    [
        (("pyproject.toml",), "src/company/service/_vendor/itwin", "company.service._vendor.itwin"),
        (("pyproject.toml",), "service/_vendor/itwin", "service._vendor.itwin"),
        (("pyproject.toml",), "third-party/service/itwin", "service.itwin"),
        ((), "libraries/itwin", "itwin"),
    ],
)
def test_the_import_line_is_right_without_init_files(
    tmp_path: Path, files: tuple[str, ...], package: str, name: str
) -> None:
    """A namespace package has no `__init__.py`: the name begins below `src` or the project's folder."""
    (tmp_path / package).mkdir(parents=True)
    for file in files:
        (tmp_path / file).touch()
    assert dotted(tmp_path / package) == name


def test_a_second_run_updates_the_copy(copied: Path, older_checkout: Path, tmp_path: Path) -> None:
    """The same version writes nothing; a newer one gives a fresh copy, without removed modules."""
    before = contents(copied)
    output = vendored(copied.parent, project=older_checkout)
    assert contents(copied) == before
    assert "itwin-platform 0.0.1 (0 of" in output[0]
    assert "_only_here.py" in before
    vendored(copied.parent)
    assert contents(copied) == fresh(tmp_path)


def test_edits_are_named_and_overwritten_with_the_option_only(copied: Path, tmp_path: Path) -> None:
    """Edited, removed and conflicting files are all named and not changed; `--overwrite` restores the complete copy."""
    (copied / GATE).write_text("edited")
    (copied / "generated" / "types.py").unlink()
    recorded = (copied / RECORD).read_text().splitlines()
    (copied / RECORD).write_text("\n".join(line for line in recorded if not line.endswith("  _client.py")))
    (copied / "_client.py").write_text("somebody's own")
    before = contents(copied)
    with pytest.raises(SystemExit) as rejected:
        vendored(copied.parent)
    assert contents(copied) == before
    for line in (f"edited: {GATE}", "removed: generated/types.py", "in the way: _client.py", "OVERWRITE=yes"):
        assert line in str(rejected.value)
    assert f"overwritten, as requested: edited: {GATE}" in vendored(copied.parent, overwrite=True)
    assert contents(copied) == fresh(tmp_path)


#: Changes of a copy that are no edits: the file, and its new bytes from the old ones.
NO_EDITS: dict[str, tuple[str, Callable[[bytes], bytes]]] = {
    "a file of one's own": ("_of_ours.py", lambda _: b"ours"),
    "the files of an interrupted run": (
        "_client.py",
        lambda _: files_of(PROJECT, name="", command="")[0]["_client.py"],
    ),
    "line ends of Windows": (GATE, lambda content: content.replace(b"\n", b"\r\n")),
}


@pytest.mark.parametrize(("path", "changed"), NO_EDITS.values(), ids=NO_EDITS)
def test_a_change_that_is_no_edit_does_not_stop_an_update(
    copied: Path, tmp_path: Path, path: str, changed: Callable[[bytes], bytes]
) -> None:
    """The copy is updated, and a file that is not of the client stays."""
    (copied / path).write_bytes(changed(contents(copied).get(path, b"")))
    vendored(copied.parent)
    own = {path: b"ours"} if path == "_of_ours.py" else {}
    assert contents(copied) == fresh(tmp_path) | own


def test_a_folder_that_is_no_copy_is_rejected(tmp_path: Path) -> None:
    """A package that this command did not make is not touched, even with `--overwrite`."""
    (tmp_path / "itwin").mkdir()
    (tmp_path / "itwin" / "__init__.py").write_text("ours")
    with pytest.raises(SystemExit, match="is not a vendored copy: choose another NAME"):
        vendored(tmp_path, overwrite=True)
    assert contents(tmp_path / "itwin") == {"__init__.py": b"ours"}


def test_a_record_that_names_a_path_outside_is_not_followed(copied: Path, tmp_path: Path) -> None:
    """A line in VENDORED.md with a path that leaves the copy removes nothing there."""
    outside = tmp_path / "outside.py"
    outside.write_text("stays")
    with (copied / RECORD).open("a") as record:
        record.write(f"\n{'0' * 64}  ../outside.py\n")
    vendored(copied.parent, overwrite=True)
    assert outside.read_text() == "stays"


TOGETHER = """
import sys
sys.path[:0] = {folders!r}
import asyncio, json, logging
import itwin_platform, new_client, old_client

async def error_of(client):
    async with client.PlatformClient({url!r}, vendor="sandbox", token={token!r}) as platform:
        try:
            await platform.webhooks.activate("nobody")
        except client.NotFoundError as error:
            return error

class Names(logging.Handler):
    def emit(self, record):
        logged.append(record.name)

logged = []
logging.getLogger().addHandler(Names(logging.WARNING))

async def main():
    clients = (itwin_platform, new_client, old_client)
    errors = await asyncio.gather(*map(error_of, clients))
    print(json.dumps({{
        "versions": [client.__version__ for client in clients],
        "classes": len({{*map(type, errors)}}),
        "old types": [hasattr(client.DetectorType, "OLD_DETECTOR") for client in clients],
        "unset": len({{id(client.UNSET) for client in clients}}),
        "logged": sorted(logged),
    }}))

asyncio.run(main())
"""


def filled(program: str, sandbox: Sandbox, folder: Path) -> str:
    """A program with the sandbox's address and the folder to import from."""
    values = {"url": sandbox.base_url, "token": sandbox.token, "itwin": sandbox.itwin_id}
    return program.format(folders=[str(folder)], **values)


@pytest.mark.itwin_sandbox(itwins=5)
def test_two_copies_and_an_installed_client_work_in_one_process(
    tmp_path: Path, older_checkout: Path, itwin_sandbox: Sandbox
) -> None:
    """Copies of different versions and an installed client share a process, but no class, value or logger."""
    vendored(tmp_path / "copies", "new_client")
    vendored(tmp_path / "copies", "old_client", project=older_checkout)
    itwin_sandbox.fault("rate_limited", operation="update_webhook", count=3, seconds=0.001)
    version = importlib.metadata.version("itwin-platform")
    assert json.loads(run_python("-c", filled(TOGETHER, itwin_sandbox, tmp_path / "copies"), cwd=tmp_path)) == {
        "versions": [version, version, "0.0.1"],
        "classes": 3,
        "old types": [False, False, True],
        "unset": 3,
        "logged": ["itwin_platform", "new_client", "old_client"],
    }


SERVICE = """
import asyncio, json, sys
import httpx
from my_service.app import app

async def main():
    options = dict(transport=httpx.ASGITransport(app), base_url="http://my-service")
    async with app.router.lifespan_context(app), httpx.AsyncClient(**options) as client:
        paths = ("/client", "/projects?limit=2", "/itwins/{itwin}/scenes/{scene}/objects")
        bodies = [(await client.get(path)).json() for path in paths]
        print(json.dumps([*bodies, [name for name in sys.modules if name.startswith("itwin_platform")]]))

asyncio.run(main())
"""


@pytest.mark.itwin_sandbox(itwins=20, objects=3)
def test_the_service_responds_from_the_platform(service: Path, itwin_sandbox: Sandbox) -> None:
    """A service lists projects and scene objects through its own copy, and imports nothing of an installed client."""
    variables = {"BASE_URL": itwin_sandbox.base_url, "VENDOR": "sandbox", "TOKEN": itwin_sandbox.token}
    variables = {f"ITWIN_PLATFORM_{name}": value for name, value in variables.items()} | {"PYTHONPATH": "src"}
    program = SERVICE.format(itwin=itwin_sandbox.itwin_id, scene=itwin_sandbox.scene_id)
    printed = ended("python", "-c", program, folder=service, variables=variables).stdout
    client, projects, objects, imported = json.loads(printed)
    assert imported == []
    assert client["package"] == "my_service._vendor.itwin"
    assert [sorted(project) for project in projects] == [["id", "name", "status"]] * 2
    assert [sorted(item) for item in objects] == [["data", "id", "kind"]] * 3


@pytest.mark.parametrize(
    ("command", "path", "said"),
    [
        ("basedpyright --level error --pythonpath", "", "0 errors"),
        ("ty check --error-on-warning --python", "src/my_service/_vendor", "All checks passed!"),
    ],
    ids=["pyright", "ty"],
)
def test_a_type_checker_finds_nothing(service: Path, command: str, path: str, said: str) -> None:
    """Pyright and ty find nothing in the copy and the service; mypy checks a copy with the code of the pages."""
    process = ended(*command.split(), sys.executable, *path.split(), folder=service, status=None)
    assert process.stdout.startswith(said), process.stdout + process.stderr


def test_ruff_finds_nothing(tmp_path: Path) -> None:
    """ruff checks and formats no file of a copy, whatever rules are selected."""
    vendored(tmp_path / "my_service" / "_vendor")
    for command in (["check", "--select", "ALL"], ["format", "--check"]):
        process = ended("ruff", *command, folder=tmp_path)
        assert "No Python files found" in process.stderr
