"""Generate the stock client: the same specification with the generator's own templates."""

import subprocess
import sys
import sysconfig
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[2]
CONFIGURATION = "field_prefix: ''\npost_hooks: []\n"


def make_stock(folder: Path) -> None:
    """Generate `stock_api` into a folder unless it exists for the same specification."""
    specification = (PROJECT / "openapi.yaml").read_bytes()
    generated_from = folder / "openapi.yaml"
    if generated_from.exists() and generated_from.read_bytes() == specification:
        return
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "configuration.yaml").write_text(CONFIGURATION)
    command = Path(sysconfig.get_path("scripts")) / "openapi-python-client"
    arguments = [
        "generate",
        "--path",
        PROJECT / "openapi.yaml",
        "--meta",
        "none",
        "--output-path",
        folder / "stock_api",
    ]
    options = ["--overwrite", "--config", folder / "configuration.yaml"]
    completed = subprocess.run(
        [str(part) for part in (command, *arguments, *options)], check=False, capture_output=True
    )
    if completed.returncode:
        sys.exit(completed.stderr.decode())
    generated_from.write_bytes(specification)
