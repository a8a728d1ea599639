"""Run linters and generators of others on `openapi.yaml`; every warning is a failure.

`redocly.yaml` and `spectral.yaml` switch off the rules that do not apply, each with its reason.
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
#: Words in the output of a reader that reports a problem and exits with status 0.
COMPLAINTS = ("warning", "Warning", "WARNING")


def commands(node: Path | None, output: Path) -> Iterator[tuple[str, list[str]]]:
    """Yield the name and the command of each reader, those of npm only with `node`."""
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
    """Run each reader, and print the output of those that complain; return whether none did."""
    with tempfile.TemporaryDirectory() as folder:
        return all([_reads(name, command, folder) for name, command in commands(node, Path(folder))])  # noqa: C419  # runs all


def _reads(name: str, command: list[str], folder: str) -> bool:
    if shutil.which(command[0]) is None:
        print(f"{name}: skipped, not installed")
        return True
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])
    environment = os.environ | {"REDOCLY_TELEMETRY": "off", "REDOCLY_SUPPRESS_UPDATE_NOTICE": "true", "PATH": path}
    completed = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    printed = completed.stdout + completed.stderr
    if completed.returncode == 0 and not any(map(_is_complaint, printed.splitlines())):
        print(f"{name}: reads openapi.yaml without a warning")
        return True
    print(f"{name}: complains\n{printed}")
    return False


def _is_complaint(line: str) -> bool:
    """Return whether a line is a warning, and not one about Node or npm."""
    return any(word in line for word in COMPLAINTS) and "Node" not in line and "npm warn" not in line
