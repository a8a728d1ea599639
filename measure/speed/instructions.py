"""Instructions of a small GET and of a PATCH, counted by callgrind where valgrind is installed: without noise.

Run as `python -m measure.speed.instructions [CLIENT ...]`. Each work is done twice, and counted the second
time, so that start and import stay outside.
"""

import re
import shutil
import subprocess
import sys

from .data import make_data
from .run import PROJECT, Process, environment
from .works import AIOHTTP, DEFAULT, FAST, HTTPX

CALLS = 200
_COLLECTED = re.compile(r"Collected : (\d+)")
_COUNTING = ("valgrind", "--tool=callgrind", "--instr-atstart=no", "--callgrind-out-file=/dev/null")


def counted(work: str, client: str, port: str, python: str) -> float:
    """Return the instructions of a call."""
    process = subprocess.Popen(
        [*_COUNTING, python, "-m", "measure.speed.worker", client, port, port, port],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=PROJECT,
        # The same hashes in each run: they decide which keys of dictionaries collide.
        env=environment() | {"PYTHONHASHSEED": "0"},
    )
    assert process.stdin is not None  # pipes were asked for
    assert process.stdout is not None
    for is_counted in (False, True):
        if is_counted:
            subprocess.run(["callgrind_control", "-i", "on", str(process.pid)], check=True, capture_output=True)
        process.stdin.write(work + "\n")
        process.stdin.flush()
        process.stdout.readline()
    subprocess.run(["callgrind_control", "-i", "off", str(process.pid)], check=True, capture_output=True)
    _, said = process.communicate()
    found = _COLLECTED.search(said)
    if process.returncode or found is None:
        raise SystemExit(said)
    return int(found[1]) / CALLS


def lines(pythons: dict[str, str]) -> list[str]:
    """Count and return instructions and ratios."""
    if shutil.which("valgrind") is None:
        return ["instructions of calls: not counted, because valgrind is not installed"]
    make_data()
    said: list[str] = []
    with Process("measure.speed.server") as server:
        port = server.line().strip()
        for work in ("GET", "PATCH"):
            said.append(f"instructions of a {work}, against httpx + json")
            found = {client: counted(work, client, port, python) for client, python in pythons.items()}
            base = found.get(HTTPX)
            for client, each in found.items():
                said.append(f"  {client:<16}{each / 1e3:>8.0f} thousand" + (f"  {each / base:.3f}" if base else ""))
    return said


if __name__ == "__main__":
    print("\n".join(lines(dict.fromkeys(sys.argv[1:] or (AIOHTTP, HTTPX, DEFAULT, FAST), sys.executable))))
