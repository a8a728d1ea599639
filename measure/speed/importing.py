"""What it costs to import the package and make one client, against the same for httpx, and for aiohttp.

Run as `python -m measure.speed.importing`: fresh processes in interleaved rounds, processor time within each.
"""

import statistics
import subprocess
import sys

ROUNDS = 15
SNIPPETS = {
    "httpx": "import httpx; httpx.AsyncClient()",
    "ours, http": "import itwin_platform as i; i.PlatformClient('http://127.0.0.1:1', vendor='v', token='t')",
    "ours, https": "import itwin_platform as i; i.PlatformClient('https://a.b', vendor='v', token='t')",
}


def cost(snippet: str) -> float:
    """Returns the processor seconds of a snippet in a fresh process."""
    program = f"import time; began = time.process_time(); {snippet}; print(time.process_time() - began)"
    return float(subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout)


def lines() -> list[str]:
    """Measures in rounds and returns milliseconds and ratios."""
    figures: dict[str, list[float]] = {name: [] for name in SNIPPETS}
    for number in range(ROUNDS + 1):
        for name, snippet in SNIPPETS.items():
            spent = cost(snippet)
            if number:
                figures[name].append(spent)
    said = ["import and one client, against httpx: median (least-most)"]
    for name, found in figures.items():
        ratios = [one / other for one, other in zip(found, figures["httpx"], strict=True)]
        spread = f"{statistics.median(ratios):.2f} ({min(ratios):.2f}-{max(ratios):.2f})"
        said.append(f"  {name:<12}{statistics.median(found) * 1e3:>7.1f} ms  {spread}")
    return said


if __name__ == "__main__":
    print("\n".join(lines()))
