"""Count the instructions of a small GET and of a PATCH with callgrind, which measures without noise.

Run as `python -m measure.speed.instructions [CLIENT ...]`. Each workload runs twice, and only the second run
counts, so that start and imports are excluded.
"""

import re
import shutil
import subprocess
import sys

from .data import make_data
from .run import PROJECT, Process, environment
from .workloads import AIOHTTP, DEFAULT, FAST, HTTPX

CALLS = 200
_COLLECTED = re.compile(r"Collected : (\d+)")
_COUNTING = ("valgrind", "--tool=callgrind", "--instr-atstart=no", "--callgrind-out-file=/dev/null")


def counted(workload: str, client: str, port: str, python: str) -> float:
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
        process.stdin.write(workload + "\n")
        process.stdin.flush()
        process.stdout.readline()
    subprocess.run(["callgrind_control", "-i", "off", str(process.pid)], check=True, capture_output=True)
    _, errors = process.communicate()
    found = _COLLECTED.search(errors)
    if process.returncode or found is None:
        raise SystemExit(errors)
    return int(found[1]) / CALLS


def lines(pythons: dict[str, str]) -> list[str]:
    """Count and return instructions and ratios."""
    if shutil.which("valgrind") is None:
        return ["instructions of calls: not counted, because valgrind is not installed"]
    make_data()
    output: list[str] = []
    with Process("measure.speed.server") as server:
        port = server.line().strip()
        for workload in ("GET", "PATCH"):
            output.append(f"instructions of a {workload}, against httpx + json")
            found = {client: counted(workload, client, port, python) for client, python in pythons.items()}
            base = found.get(HTTPX)
            for client, each in found.items():
                output.append(f"  {client:<16}{each / 1e3:>8.0f} thousand" + (f"  {each / base:.3f}" if base else ""))
    return output


if __name__ == "__main__":
    print("\n".join(lines(dict.fromkeys(sys.argv[1:] or (AIOHTTP, HTTPX, DEFAULT, FAST), sys.executable))))
