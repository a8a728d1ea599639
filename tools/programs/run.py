"""Run a program in a known environment, and end every process that it has started.

`python -I tools/programs/run.py <program> [<argument> ...]`. The Makefile runs tests, examples and measurements with
it: proxies, tokens and settings of the developer's shell reach none of them. pip runs without it, because the package
index may be behind a proxy.
"""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NoReturn

#: The variables that a program keeps: they find programs, libraries and folders of the user, describe the terminal, and
#: name the file that coverage is written to.
KEPT = {
    *("PATH", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH", "DYLD_FALLBACK_LIBRARY_PATH", "PYENV_ROOT", "PYENV_VERSION"),
    *("HOME", "USER", "LOGNAME", "SHELL", "TMPDIR", "XDG_CACHE_HOME", "TERM", "NO_COLOR", "COVERAGE_FILE"),
    # Windows
    *("SYSTEMROOT", "SYSTEMDRIVE", "WINDIR", "COMSPEC", "PATHEXT", "TEMP", "TMP", "USERNAME", "USERPROFILE"),
    *("HOMEDRIVE", "HOMEPATH", "APPDATA", "LOCALAPPDATA", "PROGRAMDATA", "PROGRAMFILES"),
    *("NUMBER_OF_PROCESSORS", "PROCESSOR_ARCHITECTURE"),
}
#: The variables that have the same value everywhere.
SET = {"TZ": "UTC"}
#: Seconds in which the processes of a group may end by themselves before they are killed.
GRACE = 5.0
#: The exit status of a program that was ended because its time was over, as that of `timeout`.
TIMED_OUT = 124
_HAS_GROUPS = os.name == "posix"
#: The signals that end a run. Python turns SIGINT into KeyboardInterrupt.
_ENDING = [signal.SIGINT, signal.SIGTERM, *([signal.SIGHUP] if _HAS_GROUPS else [])]


def known(environment: Mapping[str, str]) -> dict[str, str]:
    """Return the environment in which tests and examples run, made from that of the shell."""
    return {name: value for name, value in environment.items() if name in KEPT} | SET


def enter_known_environment() -> None:
    """Make the environment of this process, and of all that it starts, the known one."""
    variables = known(os.environ)
    for name in os.environ.keys() - variables.keys():
        del os.environ[name]
    os.environ.update(variables)
    if hasattr(time, "tzset"):
        time.tzset()


def run(
    command: Sequence[str], *, folder: Path | None = None, seconds: float | None = None, grace: float = GRACE
) -> int:
    """Run a program in the known environment and in a process group of its own.

    When the program ends, its time is over, or a signal ends this process, the rest of the group is ended too.

    Args:
        command: The program and its arguments.
        folder: The working directory; by default that of this process.
        seconds: How long the program may run; None for no limit.
        grace: Seconds in which the group may end before it is killed.

    Returns:
        The exit status; 128 and the number of the signal for a program that a signal has ended, as in a shell.
    """
    handlers = {number: signal.getsignal(number) for number in _ENDING}
    for number, handler in handlers.items():
        if handler is not signal.SIG_IGN and number is not signal.SIGINT:  # `nohup` ignores SIGHUP
            signal.signal(number, _leave)
    ending = signal.SIGTERM
    try:
        process = subprocess.Popen(command, cwd=folder, env=known(os.environ), start_new_session=_HAS_GROUPS)
        try:
            status = process.wait(seconds)
        except subprocess.TimeoutExpired:
            return TIMED_OUT
        except KeyboardInterrupt:
            ending = signal.SIGINT
            raise
        else:
            return status if status >= 0 else 128 - status
        finally:
            # A second signal must not leave half of the group behind.
            for number in handlers:
                signal.signal(number, signal.SIG_IGN)
            _end(process, ending, grace)
    finally:
        for number, handler in handlers.items():
            signal.signal(number, handler)


def _leave(number: int, _: object) -> NoReturn:
    raise SystemExit(128 + number)


def _end(process: subprocess.Popen[bytes], ending: signal.Signals, grace: float) -> None:
    """Send a signal to the group of a process, and kill what is left of the group after the grace period."""
    if not _HAS_GROUPS:
        process.kill()
        process.wait()
        return
    for number in (ending, signal.SIGKILL):
        until = time.monotonic() + grace
        try:
            os.killpg(process.pid, number)
            while time.monotonic() < until:
                process.poll()  # the group has no end before its leader is reaped
                os.killpg(process.pid, 0)
                time.sleep(0.01)
        except (ProcessLookupError, PermissionError):  # the group is empty; macOS says so with the second
            return


def main() -> int:
    """Run the program that the arguments name, and return its exit status."""
    try:
        # Twice the time of a program that calls `run` itself: it ends its own groups first.
        return run(sys.argv[1:], grace=2 * GRACE)
    except KeyboardInterrupt:
        return 128 + signal.SIGINT


if __name__ == "__main__":
    sys.exit(main())
