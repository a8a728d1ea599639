"""The command `python -m itwin_platform_sandbox`, which serves until SIGTERM or SIGINT."""

import argparse
import asyncio
import errno
import inspect
import json
import re
import signal
import sys
from pathlib import Path
from typing import Any, NoReturn

from ._sandbox import Sandbox
from ._server.overview import as_text, overview
from ._server.settings import is_loopback
from ._service.json_values import FieldError


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        """Exit with one line; the usage of this command would fill the terminal."""
        self.exit(2, f"{self.prog}: error: {message} (--help lists the options)\n")


def command_line() -> argparse.ArgumentParser:
    """Return the parser; each option means the same as the argument of `Sandbox` with its name."""
    parser = _Parser(
        prog="python -m itwin_platform_sandbox",
        description="Run a sandbox of the platform service: stateful, in memory. It prints its base URL, its token "
        "and the ids of the stored data, and serves until Ctrl-C or SIGTERM.",
    )
    parser.add_argument("--json", action="store_true", help="print base URL, token and ids as one line of JSON")
    for name, (default, text) in _arguments().items():
        options = _OPTIONS.get(name) or _options_of(default)
        shown = "" if default in (None, "", ()) or isinstance(default, bool) else " (default: %(default)s)"
        used = {"port": 8080}.get(name, [] if default == () else default)
        parser.add_argument(_option(name), default=used, help=f"{text.replace('%', '%%')}{shown}", **options)
    return parser


# The arguments of `Sandbox` without an option, and the options that their default does not define.
_NO_OPTION = ("clock", "now", "sleep")
_OPTIONS: dict[str, dict[str, Any]] = {
    "any_token": {"action": argparse.BooleanOptionalAction},
    "allow_hosts": {"action": "extend", "nargs": 1, "metavar": "NAME", "dest": "allow_hosts"},
    "seed": {"metavar": "NUMBER|FILE"},
}


def _option(name: str) -> str:
    return "--allow-host" if name == "allow_hosts" else f"--{name.replace('_', '-')}"


def _options_of(default: object) -> dict[str, Any]:
    if isinstance(default, bool):
        return {"action": "store_true"}
    kind = type(default) if isinstance(default, int | float) else str
    return {"type": kind, "metavar": {int: "NUMBER", float: "SECONDS", str: "TEXT"}[kind]}


def _arguments() -> dict[str, tuple[Any, str]]:
    """Return default and description of each argument of `Sandbox` that an option sets."""
    described = inspect.getdoc(Sandbox) or ""
    texts = dict(re.findall(r"^    (\w+): (.*?)(?=\n    \w|\n\n)", described, re.DOTALL | re.MULTILINE))
    parameters = inspect.signature(Sandbox).parameters.values()
    return {
        parameter.name: (parameter.default, " ".join(texts.get(parameter.name, "").replace("`", "").split()))
        for parameter in parameters
        if parameter.name not in _NO_OPTION
    }


def sandbox_of(arguments: argparse.Namespace) -> Sandbox:
    """Return the sandbox that the options describe; `ValueError` for a wrong value."""
    values = {name: getattr(arguments, name) for name in _arguments()}
    seed = str(arguments.seed)
    is_number = re.fullmatch(r"-?[0-9]+", seed) is not None
    return Sandbox(**{**values, "seed": int(seed) if is_number else Path(seed)})


async def run(arguments: argparse.Namespace) -> None:
    """Serve until a signal ends the command."""
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for signal_number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(signal_number, lambda *_: loop.call_soon_threadsafe(stop.set))
    sandbox = sandbox_of(arguments)
    if not is_loopback(arguments.host):
        sys.stderr.write(
            f"warning: {arguments.host} is not a loopback address: everyone who reaches this machine can read and "
            "control the sandbox\n"
        )
    async with sandbox:
        sys.stdout.write(printed(sandbox, as_json=arguments.json))
        sys.stdout.flush()
        await stop.wait()


def printed(sandbox: Sandbox, *, as_json: bool) -> str:
    """Return the output of the command: the base URL, token and ids, each on a line, or all as one line of JSON."""
    values = overview(sandbox._running)  # noqa: SLF001 - the command belongs to the sandbox
    if sandbox._running.authority is not None:  # noqa: SLF001 - the same
        values["ca_file"] = sandbox.ca_file
    if as_json:
        return f"{json.dumps(values)}\n"
    ca_file = f"{'ca_file':<40}{values['ca_file']}\n" if "ca_file" in values else ""
    return f"{sandbox.base_url}\n{as_text(values)}{ca_file}"


def main() -> int:
    """Run the sandbox; a wrong option or an address in use ends the command with one line that names it."""
    parser = command_line()
    arguments = parser.parse_args()
    try:
        asyncio.run(run(arguments))
    except (ValueError, OSError, ImportError) as error:
        parser.exit(2, f"{parser.prog}: error: {_reason(error, arguments)}\n")
    return 0


def _reason(error: Exception, arguments: argparse.Namespace) -> str:
    if isinstance(error, OSError):
        reason = f"cannot listen on {arguments.host} port {arguments.port}: {error.strerror or error}"
        if error.errno in (errno.EADDRINUSE, errno.EACCES):
            return f"{reason}; choose another port with --port, 0 for a free one"
        return f"{reason}; choose another address with --host"
    if not isinstance(error, FieldError):
        return str(error)
    if error.field in vars(arguments):
        return f"{_option(error.field)}: {error.message}"
    # Every other field belongs to a rate limit or to an entry of a seed file.
    return f"{'--rate' if error.field in ('requests', 'per') else '--seed'}: {error}"
