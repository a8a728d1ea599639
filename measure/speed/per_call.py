"""What is added to a call: a view of the client with options of its own, and tracing that nobody has set up.

Run as `python -m measure.speed.per_call SECONDS`, with the processor time of a GET, in the environment that holds the
client. Each figure is the least of several runs, in processor time.
"""

import subprocess
import sys
import time
from collections.abc import Callable

import httpx
from itwin_platform import PlatformClient
from itwin_platform._attempts.telemetry.tracing import OPENTELEMETRY, trace_of

RUNS, TIMES = 7, 20_000
#: The most that a view may take, in seconds, and the most that tracing may take of a GET when it is off.
VIEW, SHARE = 20e-6, 0.01


def least(work: Callable[[], object]) -> float:
    """Return the processor seconds of one time."""
    found = []
    for _ in range(RUNS):
        began = time.process_time()
        for _ in range(TIMES):
            work()
        found.append((time.process_time() - began) / TIMES)
    return min(found)


def untraced(request: httpx.Request) -> None:
    """Do what tracing adds to a call of one attempt, when nobody has set it up."""
    tracing = sys.modules.get(OPENTELEMETRY)
    trace = None if tracing is None else trace_of(request, tracing)
    assert all(trace is None for _ in ("call", "gate", "token", "attempt"))


def main(get: float) -> None:
    """Measure and print."""
    platform = PlatformClient("http://127.0.0.1:1", vendor="v", token="t")
    request = httpx.Request("GET", "http://127.0.0.1:1/itwins/myprimaryaccount")

    def all_options() -> PlatformClient:
        return platform.with_options(
            timeout=5.0, deadline=9.0, max_attempts=3, headers={"X-A": "1"}, correlation_id="c", on_response=print
        )

    for name, work in (
        ("with_options(correlation_id=...)", lambda: platform.with_options(correlation_id="c")),
        ("with_options(...), six options", all_options),
    ):
        print(f"  {name:<36}{least(work) * 1e6:>6.1f} us, at most {VIEW * 1e6:.0f}")
    took = least(lambda: untraced(request))
    print(f"  {'tracing that is off':<36}{took * 1e6:>6.1f} us, {took / get:.2%} of a GET, at most {SHARE:.0%}")


def lines(python: str, *, get: float) -> list[str]:
    """Measure in the environment of a Python; `get` is the processor time of a GET, in seconds."""
    command = [python, "-m", "measure.speed.per_call", str(get)]
    said = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    return ["what options and tracing add to a call, processor time", *said.splitlines()]


if __name__ == "__main__":
    main(float(sys.argv[1]))
