"""Measure the import of the package with one client, as a ratio to httpx.

New processes in interleaved rounds measure their processor time. Their environment has only the packages that users
install, because httpx imports rich if it is installed.
"""

import subprocess

from .process import on_core
from .report import Spread

ROUNDS = 15
HTTPX, HTTP, HTTPS, PYREQWEST = "httpx", "http", "https", "pyreqwest"
SNIPPETS = {
    HTTPX: "import httpx; httpx.AsyncClient()",
    HTTP: "import itwin_platform as i; i.PlatformClient('http://127.0.0.1:1', vendor='v', token='t')",
    HTTPS: "import itwin_platform as i; i.PlatformClient('https://a.b', vendor='v', token='t')",
    PYREQWEST: "from pyreqwest.client import ClientBuilder; ClientBuilder().build()",
}


def cost(snippet: str, python: str) -> float:
    """Return the processor seconds of a snippet in a new process."""
    program = f"import time; began = time.process_time(); {snippet}; print(time.process_time() - began)"
    with on_core():
        return float(subprocess.run([python, "-c", program], capture_output=True, text=True, check=True).stdout)


def against_httpx(ours: str, rust: str | None) -> dict[str, Spread]:
    """Return the ratios to httpx, of a client for http and of one for https, and of pyreqwest.

    Args:
        ours: the Python of the environment with this client and httpx.
        rust: the Python of the environment with pyreqwest; None if pyreqwest has no wheel for it.
    """
    pythons = {HTTPX: ours, HTTP: ours, HTTPS: ours, **({} if rust is None else {PYREQWEST: rust})}
    figures: dict[str, list[float]] = {name: [] for name in pythons}
    for number in range(ROUNDS + 1):
        for name, python in pythons.items():
            spent = cost(SNIPPETS[name], python)
            if number:
                figures[name].append(spent)
    base = figures.pop(HTTPX)
    return {name: Spread.of([own / of for own, of in zip(found, base, strict=True)]) for name, found in figures.items()}
