"""Build the sdist, the wheel from it, and try the wheel in a clean environment.

The wheel has all four packages, typed, and no tests. Without extras it installs its runtime dependencies and no
development tool, and can be imported. With the extra `sandbox`, all operations succeed.
"""

import sys
import tempfile
from pathlib import Path

from tools.release.clean_environment import Environment
from tools.release.distribution import PROJECT, build, development_tools

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
    environment.install(f"{wheel}[sandbox]", constraints=constraints)
    environment.run(PROJECT / "tools" / "release" / "smoke_run.py")
    return {name: version for name, version in installed.items() if name != "itwin-platform"}


def main() -> None:
    """Build and try the wheel with the versions of constraints.txt."""
    wheel = build()
    with tempfile.TemporaryDirectory() as folder:
        environment = Environment(Path(folder) / "clean", python=Path(sys.executable))
        installed = trial(wheel, environment, constraints=PROJECT / "constraints.txt")
    print(f"the wheel installs {', '.join(f'{name} {version}' for name, version in installed.items())}")
    print(f"built {wheel.relative_to(PROJECT)}")


if __name__ == "__main__":
    main()
