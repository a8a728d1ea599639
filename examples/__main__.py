"""Run the examples one after the other, each in a folder of its own and for a minute at most: `make examples`."""

import ast
import sys
import tempfile
from pathlib import Path

from tools.programs.run import run

HERE = Path(__file__).resolve().parent
ORDER = [
    "tour",
    "progress",
    "switch_webhooks",
    "receive_webhooks",
    "web_service",
    "several_workers",
    "rotating_tokens",
    "traces",
    "test_with_sandbox",
    "nightly_export",
    "scene_page",
    "four_programs",
]


def command(path: Path) -> list[str]:
    """Return the command with which a user runs an example."""
    if path.name.startswith("test_"):
        return [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(path)]
    return [sys.executable, str(path)]


def main() -> int:
    """Run each example in an empty folder, below a heading, and return how many failed."""
    failed = []
    for name in ORDER:
        path = HERE / f"{name}.py"
        about = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
        print(f"\n=== {name}: {about.partition(chr(10))[0]}\n", flush=True)
        with tempfile.TemporaryDirectory() as folder:
            if run(command(path), folder=Path(folder), seconds=60):
                failed.append(name)
    failures = f" Failed: {', '.join(failed)}" if failed else ""
    print(f"\n{len(ORDER) - len(failed)} of {len(ORDER)} examples succeeded.{failures}")
    return len(failed)


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit("\nInterrupted.")
