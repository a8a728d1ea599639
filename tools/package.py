"""Builds the sdist, the wheel from it, and tries the wheel in a clean environment: an import and a smoke run.

The clean environment holds the wheel and its runtime dependencies only, then the sandbox as well.
"""

import subprocess
import sys
import tempfile
import venv
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[1]
IMPORT = "import itwin_platform; print('imported', itwin_platform.__version__, 'from', itwin_platform.__file__)"
SMOKE = """
import asyncio
from itwin_platform import PlatformClient
from itwin_platform_sandbox import Sandbox

async def main() -> None:
    async with Sandbox(itwins=25) as sandbox:
        async with PlatformClient(sandbox.base_url, vendor="sandbox", token=sandbox.token) as platform:
            print("listed", len(await platform.itwins.list(page_size=10).collect()), "iTwins")

asyncio.run(main())
"""


def run(*command: str | Path) -> None:
    """Runs a command; a failure ends the program with its status."""
    ended = subprocess.run([str(part) for part in command], cwd=tempfile.gettempdir(), check=False)
    if ended.returncode != 0:
        raise SystemExit(ended.returncode)


def main() -> None:
    """Builds and tries."""
    with tempfile.TemporaryDirectory() as folder:
        run(sys.executable, "-m", "build", "--outdir", folder, PROJECT)
        wheel = next(Path(folder).glob("*.whl"))
        clean = Path(folder) / "clean"
        venv.create(clean, with_pip=True)
        python = clean / "bin" / "python"
        install = (python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check")
        constraints = ("--constraint", PROJECT / "constraints.txt")
        run(*install, *constraints, wheel)
        run(python, "-W", "error", "-c", IMPORT)
        run(*install, *constraints, f"{wheel}[sandbox]")
        run(python, "-W", "error", "-c", SMOKE)


if __name__ == "__main__":
    main()
