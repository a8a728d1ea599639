"""Let the linters and generators of others read `openapi.yaml`, and reject a warning that nothing here explains.

Each gets the document as it is. What one of them says all the same is switched off in `redocly.yaml` or
`spectral.yaml`, with the reason beside it.
"""

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[2]
HERE = Path(__file__).resolve().parent
DOCUMENT = PROJECT / "openapi.yaml"
#: Words by which a reader that ends with status 0 tells of a problem.
COMPLAINTS = ("warning", "Warning", "WARNING")


def commands(node: Path | None, output: Path) -> Iterator[tuple[str, list[str]]]:
    """Return the name and the command of each reader; those of npm only where npm is."""
    scripts = Path(sys.executable).parent
    yield "openapi-spec-validator", [str(scripts / "openapi-spec-validator"), "--schema", "3.1", str(DOCUMENT)]
    models = [str(scripts / "datamodel-codegen"), "--input", str(DOCUMENT), "--input-file-type", "openapi"]
    yield (
        "datamodel-code-generator",
        [
            *models,
            "--output",
            str(output / "models.py"),
            "--output-model-type",
            "pydantic_v2.BaseModel",
            "--formatters",
            "builtin",
        ],
    )
    stock = [str(scripts / "openapi-python-client"), "generate", "--path", str(DOCUMENT), "--meta", "none"]
    yield "openapi-python-client", [*stock, "--output-path", str(output / "stock"), "--fail-on-warning"]
    if node is not None:
        binaries = node / "node_modules" / ".bin"
        yield "redocly", [str(binaries / "redocly"), "lint", "--config", str(HERE / "redocly.yaml"), str(DOCUMENT)]
        ruleset = str(HERE / "spectral.yaml")
        yield "spectral", [str(binaries / "spectral"), "lint", str(DOCUMENT), "-r", ruleset, "-F", "hint"]
        yield (
            "openapi-typescript",
            [str(binaries / "openapi-typescript"), str(DOCUMENT), "-o", str(output / "types.ts")],
        )
        yield "hey-api", [str(binaries / "openapi-ts"), "-i", str(DOCUMENT), "-o", str(output / "hey")]


def check(node: Path | None) -> bool:
    """Run each reader and print what it said, if anything was wrong; False when something was."""
    clean = True
    with tempfile.TemporaryDirectory() as folder:
        for name, command in commands(node, Path(folder)):
            if shutil.which(command[0]) is None:
                print(f"{name}: skipped, not installed")
                continue
            path = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])
            environment = os.environ | {
                "REDOCLY_TELEMETRY": "off",
                "REDOCLY_SUPPRESS_UPDATE_NOTICE": "true",
                "PATH": path,
            }
            ended = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
            said = ended.stdout + ended.stderr
            complaints = [line for line in said.splitlines() if any(word in line for word in COMPLAINTS)]
            complaints = [line for line in complaints if not _about_the_machine(line)]
            fine = ended.returncode == 0 and not complaints
            print(f"{name}: {'reads openapi.yaml without a warning' if fine else 'complains'}")
            if not fine:
                print(said)
            clean = clean and fine
    return clean


def _about_the_machine(line: str) -> bool:
    """Say whether a warning is about Node or npm, not about the document."""
    return "Node" in line or "npm warn" in line
