"""Make the stock generated client: the same specification, the generator's own templates."""

import subprocess
import sys
import sysconfig
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[2]
CONFIGURATION = "field_prefix: ''\npost_hooks: []\n"


def make_stock(folder: Path) -> None:
    """Generate `stock_api` into a folder unless it is there, made from the same description."""
    description = (PROJECT / "openapi.yaml").read_bytes()
    made_from = folder / "openapi.yaml"
    if made_from.exists() and made_from.read_bytes() == description:
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
    made_from.write_bytes(description)
