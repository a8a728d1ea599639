"""What `make vendor` copies, changes and records, and what it rejects."""

import hashlib
import re
from pathlib import Path

import pytest

from tests.support.processes import PROJECT, ended
from tests.support.vendored import run_python, vendored
from tools.vendoring.vendor import dotted, vendor
from tools.vendoring.vendored_copy import IDENTITY, RECORD, absolute_imports, digests, source

WRAPPER = PROJECT / "wrapper" / "itwin_platform"
GENERATED = PROJECT / "generated" / "itwin_platform_api"


def files(package: Path) -> dict[str, bytes]:
    """Every file of a package by its path in it."""
    return {
        path.relative_to(package).as_posix(): path.read_bytes()
        for path in package.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }


def test_only_imports_change(tmp_path: Path) -> None:
    """Each module is copied byte by byte, but for the lines that import the generated package."""
    vendored(tmp_path, "itwin")
    copied, wrapper, generated = files(tmp_path / "itwin"), files(WRAPPER), files(GENERATED)
    changed = [
        (before, after)
        for name in wrapper.keys() - {"_http/README.md"}
        for before, after in zip(wrapper[name].splitlines(), copied[name].splitlines(), strict=True)
        if before != after
    ]
    assert changed != []
    assert [pair for pair in changed if not pair[0].strip().startswith(b"from itwin_platform_api")] == []
    assert [
        name for name, content in generated.items() if name != "README.md" and copied[f"generated/{name}"] != content
    ] == []
    assert set(copied) - set(wrapper) - {f"generated/{name}" for name in generated} == {RECORD, IDENTITY, "LICENSE"}


def test_no_import_of_the_old_names_remains(tmp_path: Path) -> None:
    """No module of a copy imports the client or the generated package by its old, absolute name."""
    vendored(tmp_path, "itwin")
    assert absolute_imports(files(tmp_path / "itwin")) == []


def test_an_import_that_cannot_become_relative_is_rejected(older_checkout: Path, tmp_path: Path) -> None:
    """A wrapper in which `import ...` names the packages is not copied, and the line is named."""
    module = older_checkout / "wrapper" / "itwin_platform" / "_astray.py"
    module.write_text("import json\nimport itwin_platform_api.types\n")
    try:
        with pytest.raises(SystemExit, match=r"_astray\.py:2 imports itwin_platform_api\.types"):
            vendored(tmp_path, "itwin", project=older_checkout)
    finally:
        module.unlink()
    assert list(tmp_path.iterdir()) == []


def test_record_says_version_revision_command_and_needs(tmp_path: Path) -> None:
    """VENDORED.md says what was copied, from where, how, what it needs, and each file with its digest."""
    vendored(tmp_path, "itwin", command="make vendor DEST=somewhere NAME=itwin")
    copied = source(PROJECT, revision="")
    text = (tmp_path / "itwin" / RECORD).read_text()
    head = ended("git", "rev-parse", "HEAD", status=None)
    assert f"| version | {copied.version} |" in text
    assert f"| source revision | {head.stdout.strip() or 'unknown: not a git checkout'}" in text
    assert (
        f"| SHA-256 of openapi.yaml | {hashlib.sha256((PROJECT / 'openapi.yaml').read_bytes()).hexdigest()} |" in text
    )
    assert "| generated modules | what openapi.yaml gives |" in text
    assert "`make vendor DEST=somewhere NAME=itwin`" in text
    assert [line[3:-1] for line in text.splitlines() if line.startswith("- `")] == list(copied.requirements)
    assert set(digests(text)) == set(copied.files)


def test_source_that_is_no_git_checkout_is_said_to_be_none(older_checkout: Path, tmp_path: Path) -> None:
    """A copy made from an unpacked sdist records that its revision is not known."""
    vendored(tmp_path, "itwin", project=older_checkout)
    assert "| source revision | unknown: not a git checkout |" in (tmp_path / "itwin" / RECORD).read_text()


@pytest.mark.parametrize("name", ["my-client", "class", "9lives", ""])
def test_name_that_cannot_be_imported_is_rejected(tmp_path: Path, name: str) -> None:
    """A name that cannot be imported is rejected before anything is written."""
    with pytest.raises(SystemExit, match="cannot be imported"):
        vendored(tmp_path, name)
    assert list(tmp_path.iterdir()) == []


def test_folder_within_a_package_becomes_a_package(tmp_path: Path) -> None:
    """`_vendor` within a package gets its `__init__.py`, and the import line names the whole way."""
    (tmp_path / "my_service").mkdir()
    (tmp_path / "my_service" / "__init__.py").touch()
    output = vendored(tmp_path / "my_service" / "_vendor", "itwin")
    assert (tmp_path / "my_service" / "_vendor" / "__init__.py").read_text() == ""
    assert "import it with: from my_service._vendor.itwin import PlatformClient" in output


def test_command_copies(tmp_path: Path) -> None:
    """The command behind the make target copies, and records itself."""
    assert ended("python", "-m", "tools.vendoring.vendor", tmp_path / "new", "itwin").stderr == ""
    assert f"`make vendor DEST={tmp_path / 'new'} NAME=itwin`" in (tmp_path / "new" / "itwin" / RECORD).read_text()


def test_copy_tells_where_it_comes_from_at_run_time(tmp_path: Path) -> None:
    """A program reads the revision, the digest of the specification, and whether the generated modules were stale."""
    vendor(project=PROJECT, destination=tmp_path, name="itwin", overwrite=False, command="make vendor", stale=True)
    module: dict[str, object] = {}
    exec((tmp_path / "itwin" / IDENTITY).read_text(), module)  # noqa: S102 - what was just written
    assert module["SPECIFICATION_SHA256"] == hashlib.sha256((PROJECT / "openapi.yaml").read_bytes()).hexdigest()
    assert module["REVISION"] == source(PROJECT, revision=str(module["REVISION"])).revision
    assert module["GENERATED_IS_CURRENT"] is False
    assert "**stale**" in (tmp_path / "itwin" / RECORD).read_text()


@pytest.mark.parametrize(
    ("files", "package", "name"),
    [
        (("pyproject.toml",), "src/company/service/_vendor/itwin", "company.service._vendor.itwin"),
        (("pyproject.toml",), "service/_vendor/itwin", "service._vendor.itwin"),
        (("service/__init__.py", "service/_vendor/__init__.py"), "service/_vendor/itwin", "service._vendor.itwin"),
        ((), "libraries/itwin", "itwin"),
    ],
)
def test_import_line_is_right_without_init_files(
    tmp_path: Path, files: tuple[str, ...], package: str, name: str
) -> None:
    """A namespace package has no `__init__.py`: the name begins below `src` or the project's folder."""
    for file in files:
        (tmp_path / file).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / file).touch()
    (tmp_path / package).mkdir(parents=True)
    assert dotted(tmp_path / package) == name


def test_destination_may_be_relative(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A relative DEST is meant from where the command runs, also `..`."""
    (tmp_path / "inner").mkdir()
    monkeypatch.chdir(tmp_path / "inner")
    vendored(Path(".."), "itwin")
    assert (tmp_path / "itwin" / RECORD).is_file()


def test_page_names_what_a_copy_needs() -> None:
    """The first paragraph of the page names every requirement of the client, and no other distribution."""
    first = (PROJECT / "docs" / "vendoring.md").read_text(encoding="utf-8").split("\n\n")[1]
    names = {re.split(r"[^\w-]", need)[0] for need in source(PROJECT, revision="").requirements}
    (listed,) = re.findall(r"\((.+?)\)", first, re.DOTALL)
    assert set(re.findall(r"[\w-]{3,}", listed)) - {"and", "with"} == names


def test_a_copy_without_the_shared_gate_stays_without_it(older_checkout: Path, tmp_path: Path) -> None:
    """Neither the modules nor the name are in the copy, an update keeps that, and everything can come back."""
    package = tmp_path / "itwin"
    for without, is_out in [(("redis",), True), (None, True), ((), False)]:
        vendored(tmp_path, "itwin", without=without)
        recorded = (package / RECORD).read_text(encoding="utf-8")
        assert ("| without | redis: no `RedisGate` |" in recorded) is is_out
        assert ("WITHOUT=redis" in recorded) is is_out
        assert (package / "_http" / "gates" / "redis.py").exists() is not is_out
        assert ("RedisGate" in (package / "__init__.py").read_text(encoding="utf-8")) is not is_out
        run_python(
            "-c", "from itwin import *; import itwin; [getattr(itwin, name) for name in itwin.__all__]", cwd=tmp_path
        )
    module = older_checkout / "wrapper" / "itwin_platform" / "_astray.py"
    module.write_text("from ._http.gates.redis import RedisGate\n")
    try:
        with pytest.raises(SystemExit, match=r"_astray\.py:1 imports .*so RedisGate cannot be omitted"):
            vendored(tmp_path / "other", "itwin", project=older_checkout, without=("redis",))
    finally:
        module.unlink()
