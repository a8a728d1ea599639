"""Measure importing the package and making one client, against the same for httpx.

Run as `python -m measure.speed.importing PYTHON`. It starts new processes in interleaved rounds and measures their
processor time. PYTHON has only what users install, because httpx imports rich if it is installed.
"""

import statistics
import subprocess
import sys

from .report import Spread

ROUNDS = 15
SNIPPETS = {
    "httpx": "import httpx; httpx.AsyncClient()",
    "ours, http": "import itwin_platform as i; i.PlatformClient('http://127.0.0.1:1', vendor='v', token='t')",
    "ours, https": "import itwin_platform as i; i.PlatformClient('https://a.b', vendor='v', token='t')",
}


def cost(snippet: str, python: str) -> float:
    """Return the processor seconds of a snippet in a new process."""
    program = f"import time; began = time.process_time(); {snippet}; print(time.process_time() - began)"
    return float(subprocess.run([python, "-c", program], capture_output=True, text=True, check=True).stdout)


def lines(python: str) -> list[str]:
    """Measure in rounds and return milliseconds and ratios."""
    figures: dict[str, list[float]] = {name: [] for name in SNIPPETS}
    for number in range(ROUNDS + 1):
        for name, snippet in SNIPPETS.items():
            spent = cost(snippet, python)
            if number:
                figures[name].append(spent)
    output = ["import and one client, processor time against httpx: median [quartiles]"]
    for name, found in figures.items():
        ratios = Spread.of([own / base for own, base in zip(found, figures["httpx"], strict=True)])
        output.append(f"  {name:<12}{statistics.median(found) * 1e3:>7.1f} ms  {ratios}")
    return output


if __name__ == "__main__":
    print("\n".join(lines(sys.argv[1])))
