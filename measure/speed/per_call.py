"""Measure what a view with its own options, and tracing that is off, add to a call.

Run as `python -m measure.speed.per_call SECONDS` with the processor time of a GET, in the environment of the client.
Each figure is the processor time of the best of several runs.
"""

import subprocess
import sys
import time
from collections.abc import Callable

from itwin_platform import PlatformClient
from itwin_platform._http.attempts.tracing import OPENTELEMETRY

RUNS, TIMES = 7, 20_000
#: The limits: seconds of a view, and the share of a GET that tracing takes when it is off.
VIEW, SHARE = 20e-6, 0.01


def best(call: Callable[[], object]) -> float:
    """Return the processor seconds of one call, the best of all runs."""
    found = []
    for _ in range(RUNS):
        began = time.process_time()
        for _ in range(TIMES):
            call()
        found.append((time.process_time() - began) / TIMES)
    return min(found)


def untraced() -> None:
    """Run the code that tracing adds to a call when the application does not trace."""
    assert sys.modules.get(OPENTELEMETRY) is None


def main(get: float) -> None:
    """Measure and print."""
    platform = PlatformClient("http://127.0.0.1:1", vendor="v", token="t")

    def all_options() -> PlatformClient:
        return platform.with_options(
            timeout=5.0, deadline=9.0, max_attempts=3, headers={"X-A": "1"}, correlation_id="c", on_response=print
        )

    for name, call in (
        ("with_options(correlation_id=...)", lambda: platform.with_options(correlation_id="c")),
        ("with_options(...), six options", all_options),
    ):
        print(f"  {name:<36}{best(call) * 1e6:>6.1f} us, at most {VIEW * 1e6:.0f}")
    took = best(untraced)
    print(f"  {'tracing that is off':<36}{took * 1e6:>6.1f} us, {took / get:.2%} of a GET, at most {SHARE:.0%}")


def lines(python: str, *, get: float) -> list[str]:
    """Measure in the environment of a Python; `get` is the processor time of a GET, in seconds."""
    command = [python, "-m", "measure.speed.per_call", str(get)]
    output = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    return ["what options and tracing add to a call, processor time", *output.splitlines()]


if __name__ == "__main__":
    main(float(sys.argv[1]))
