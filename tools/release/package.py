"""Build the sdist, the wheel from it, and try the wheel in a clean environment: `make package`.

The wheel has all four packages, typed, and no tests. Without extras it installs its runtime dependencies and no
development tool, and can be imported. With the extra `sandbox`, the tour of all operations succeeds. An index can
show both files, and `dist/sbom.cdx.json` lists what a user installs with the wheel and its extras.

Run as `python -m tools.release.package [TAG]`: with a tag, it first checks that version and changelog agree with it.
"""

import sys
import tempfile
from pathlib import Path

from tools.release.check_tag import check_tag
from tools.release.clean_environment import Environment, run
from tools.release.distribution import DIST, PROJECT, build, development_tools

IMPORT = "import itwin_platform; print('imported', itwin_platform.__version__, 'from', itwin_platform.__file__)"


def trial(wheel: Path, environment: Environment, *, constraints: Path | None) -> dict[str, str]:
    """Install a wheel into an empty environment, use it there, and return the dependencies without extras.

    Raises:
        SystemExit: The wheel does not work, or installs a development tool.
    """
    environment.install(wheel, constraints=constraints)
    installed = environment.installed()
    if tools := development_tools() & set(installed):
        raise SystemExit(f"the wheel installs development tools: {', '.join(sorted(tools))}")
    environment.run("-c", IMPORT)
    environment.install(f"{wheel}[sandbox]", "rich", constraints=constraints)
    environment.run(PROJECT / "examples" / "tour.py")
    return {name: version for name, version in installed.items() if name != "itwin-platform"}


def describe(wheel: Path, environment: Environment) -> None:
    """Write the components that a user installs with a wheel and its extras, as a CycloneDX document."""
    environment.install(f"{wheel}[sandbox,redis,tls]")
    options = ("environment", "--output-reproducible", "--output-file", DIST / "sbom.cdx.json")
    run(sys.executable, "-m", "cyclonedx_py", *options, environment.python)


def main() -> None:
    """Build, check, try and describe the wheel, with the versions of constraints.txt."""
    if tag := "".join(sys.argv[1:]):
        check_tag(tag)
    wheel = build()
    run(sys.executable, "-m", "twine", "check", "--strict", *DIST.iterdir())
    with tempfile.TemporaryDirectory() as folder:
        environment = Environment(Path(folder) / "clean", python=Path(sys.executable))
        installed = trial(wheel, environment, constraints=PROJECT / "constraints.txt")
        described = Environment(Path(folder) / "described", python=Path(sys.executable))
        describe(wheel, described)
    print(f"the wheel installs {', '.join(f'{name} {version}' for name, version in installed.items())}")
    print(f"built {wheel.relative_to(PROJECT)}, and described its components beside it")


if __name__ == "__main__":
    main()
