"""Measure importing the package and making one client, against the same for httpx.

It starts new processes in interleaved rounds and measures their processor time. They have only what users install,
because httpx imports rich if it is installed.
"""

import subprocess

from .process import on_core
from .report import Spread

ROUNDS = 15
HTTPX, HTTP, HTTPS = "httpx", "http", "https"
SNIPPETS = {
    HTTPX: "import httpx; httpx.AsyncClient()",
    HTTP: "import itwin_platform as i; i.PlatformClient('http://127.0.0.1:1', vendor='v', token='t')",
    HTTPS: "import itwin_platform as i; i.PlatformClient('https://a.b', vendor='v', token='t')",
}


def cost(snippet: str, python: str) -> float:
    """Return the processor seconds of a snippet in a new process."""
    program = f"import time; began = time.process_time(); {snippet}; print(time.process_time() - began)"
    with on_core():
        return float(subprocess.run([python, "-c", program], capture_output=True, text=True, check=True).stdout)


def against_httpx(python: str) -> dict[str, Spread]:
    """Return the ratios to httpx, of a client for http and of one for https."""
    figures: dict[str, list[float]] = {name: [] for name in SNIPPETS}
    for number in range(ROUNDS + 1):
        for name, snippet in SNIPPETS.items():
            spent = cost(snippet, python)
            if number:
                figures[name].append(spent)
    return {
        name: Spread.of([own / base for own, base in zip(figures[name], figures[HTTPX], strict=True)])
        for name in (HTTP, HTTPS)
    }
