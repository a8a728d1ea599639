"""Write dist/sbom.cdx.json: what a user installs with the wheel and its extras, as a CycloneDX document.

Run as `python -m tools.release.sbom` after the wheel has been built. The wheel is installed into an empty environment,
so that the document has no development tool.
"""

import sys
import tempfile
from pathlib import Path

from tools.release.clean_environment import Environment, run
from tools.release.distribution import DIST


def main() -> None:
    """Install the wheel and describe the environment.

    Raises:
        SystemExit: There is no wheel, or a step failed.
    """
    wheel = next(DIST.glob("*.whl"), None)
    if wheel is None:
        raise SystemExit("dist/ has no wheel: run `make package` first")
    with tempfile.TemporaryDirectory() as folder:
        environment = Environment(Path(folder), python=Path(sys.executable))
        environment.install(f"{wheel}[sandbox,redis]")
        target = DIST / "sbom.cdx.json"
        run(
            sys.executable,
            "-m",
            "cyclonedx_py",
            "environment",
            "--output-reproducible",
            "-o",
            target,
            environment.python,
        )
    print(f"wrote {target.relative_to(DIST.parent)}")


if __name__ == "__main__":
    main()
