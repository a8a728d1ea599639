"""Build the sdist, the wheel from it, and try the wheel in a clean environment: `make package`.

The wheel installs its runtime dependencies without extras, and can be imported. With the extra `sandbox`, the tour of
all operations succeeds. twine checks that an index can render both files, and `dist/sbom.cdx.json` lists the components
that a user installs with the wheel and its extras.

Run as `python -m tools.release.package [TAG]`: with a tag, it first checks that version and changelog agree with it.
"""

import re
import shutil
import sys
import tempfile
from pathlib import Path

from tools.release.clean_environment import PROJECT, Environment, run

DIST = PROJECT / "dist"
IMPORT = "import itwin_platform; print('imported', itwin_platform.__version__, 'from', itwin_platform.__file__)"


def problems(tag: str, *, version: str, changelog: str) -> list[str]:
    """Return a line for each disagreement of a tag, the version and the newest section of the changelog."""
    found: list[str] = []
    if tag != f"v{version}":
        found.append(f"the tag is {tag}, but __version__ is {version}: tag v{version}, or change _version.py first")
    newest = re.search(r"^## \[?([0-9][^\]\s]*)", changelog, re.MULTILINE)
    if newest is None or newest[1] != version:
        found.append(f"the newest section of CHANGELOG.md is not {version}: add a section for {version}")
    return found


def build() -> Path:
    """Build the sdist, and the wheel from it, into `dist/`; return the wheel."""
    shutil.rmtree(DIST, ignore_errors=True)
    # With the build backend of this environment, because its hash was checked when it was installed.
    run(sys.executable, "-m", "build", "--no-isolation", "--outdir", DIST, PROJECT, silent=True)
    return next(DIST.glob("*.whl"))


def trial(wheel: Path, environment: Environment, *, constraints: Path | None) -> str:
    """Install a wheel into an empty environment, use it there, and return its dependencies without extras."""
    environment.install(wheel, constraints=constraints)
    installed = environment.installed()
    environment.run("-c", IMPORT)
    environment.install(f"{wheel}[sandbox]", "rich", constraints=constraints)
    environment.run(PROJECT / "examples" / "tour.py")
    return installed


def describe(wheel: Path, environment: Environment) -> None:
    """Write the components that a user installs with a wheel and its extras, as a CycloneDX document."""
    environment.install(f"{wheel}[sandbox,redis,tls]")
    options = ("environment", "--output-reproducible", "--output-file", DIST / "sbom.cdx.json")
    run(sys.executable, "-m", "cyclonedx_py", *options, environment.python)


def main() -> None:
    """Build, check, try and describe the wheel, with the versions of constraints.txt."""
    if tag := "".join(sys.argv[1:]):
        version = run(sys.executable, "-m", "hatchling", "version", silent=True, folder=PROJECT).strip()
        changelog = (PROJECT / "CHANGELOG.md").read_text(encoding="utf-8")
        if found := problems(tag, version=version, changelog=changelog):
            raise SystemExit("\n".join(found))
    wheel = build()
    run(sys.executable, "-m", "twine", "check", "--strict", *DIST.iterdir())
    with tempfile.TemporaryDirectory() as folder:
        environment = Environment(Path(folder) / "clean", python=Path(sys.executable))
        installed = trial(wheel, environment, constraints=PROJECT / "constraints.txt")
        describe(wheel, Environment(Path(folder) / "described", python=Path(sys.executable)))
    print(f"the wheel installs {installed}")
    print(f"built {wheel.relative_to(PROJECT)}, and described its components beside it")


if __name__ == "__main__":
    main()
