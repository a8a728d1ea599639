"""Makes the stock generated client: the same specification, the generator's own templates."""

import subprocess
import sys
import sysconfig
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[2]
CONFIGURATION = "field_prefix: ''\npost_hooks: []\n"


def make_stock(folder: Path) -> None:
    """Generates `stock_api` into a folder unless it is there."""
    if (folder / "stock_api").exists():
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
    ended = subprocess.run([str(part) for part in (command, *arguments, *options)], check=False, capture_output=True)
    if ended.returncode:
        sys.exit(ended.stderr.decode())
