"""Run a program with known environment variables, and end every process that it has started.

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

#: The variables that a program keeps: paths of programs, libraries and the user's folders, the terminal, and the file
#: with the coverage data.
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
#: The grace period in seconds: processes of a group that have not ended after it are killed.
GRACE = 5.0
#: The exit status after a timeout, as the command `timeout` has it.
TIMED_OUT = 124
_HAS_GROUPS = os.name == "posix"
#: The signals that end a run. Python raises KeyboardInterrupt for SIGINT.
_ENDING = [signal.SIGINT, signal.SIGTERM, *([signal.SIGHUP] if _HAS_GROUPS else [])]


def known(environment: Mapping[str, str]) -> dict[str, str]:
    """Return the environment variables for tests and examples: the kept ones of the shell, and `SET`."""
    return {name: value for name, value in environment.items() if name in KEPT} | SET


def enter_known_environment() -> None:
    """Set the environment variables of this process, and of all processes that it starts, to the known ones."""
    variables = known(os.environ)
    for name in os.environ.keys() - variables.keys():
        del os.environ[name]
    os.environ.update(variables)
    if hasattr(time, "tzset"):
        time.tzset()


def run(
    command: Sequence[str], *, folder: Path | None = None, seconds: float | None = None, grace: float = GRACE
) -> int:
    """Run a program with the known environment variables and in a process group of its own.

    When the program ends, after a timeout, or when a signal ends this process, the rest of the group is ended too.

    Args:
        command: The program and its arguments.
        folder: The working directory; by default the working directory of this process.
        seconds: The timeout; None for none.
        grace: The seconds between the signal to the group and its kill.

    Returns:
        The exit status; 128 plus the number of the signal if a signal ended the program, as in a shell.
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
            # A second signal must not interrupt the end of the group.
            for number in handlers:
                signal.signal(number, signal.SIG_IGN)
            _end(process, ending, grace)
    finally:
        for number, handler in handlers.items():
            signal.signal(number, handler)


def _leave(number: int, _: object) -> NoReturn:
    raise SystemExit(128 + number)


def _end(process: subprocess.Popen[bytes], ending: signal.Signals, grace: float) -> None:
    """Send a signal to the group of a process, and kill the remaining processes after the grace period."""
    if not _HAS_GROUPS:
        process.kill()
        process.wait()
        return
    for number in (ending, signal.SIGKILL):
        until = time.monotonic() + grace
        try:
            os.killpg(process.pid, number)
            while time.monotonic() < until:
                process.poll()  # the group exists until its leader is reaped
                os.killpg(process.pid, 0)
                time.sleep(0.01)
        except (ProcessLookupError, PermissionError):  # the group is empty; macOS raises PermissionError
            return


def main() -> int:
    """Run the program that the arguments name, and return its exit status."""
    try:
        # Twice the default, because a program that calls `run` itself must end its own groups first.
        return run(sys.argv[1:], grace=2 * GRACE)
    except KeyboardInterrupt:
        return 128 + signal.SIGINT


if __name__ == "__main__":
    sys.exit(main())
