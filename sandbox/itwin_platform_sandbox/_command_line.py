"""The command `python -m itwin_platform_sandbox`, which serves until SIGTERM or SIGINT."""

import argparse
import asyncio
import errno
import json
import signal
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import NoReturn, get_args

from ._faults.catalogue import FAULTS
from ._faults.plan import Fault, fault_from_text
from ._sandbox import Sandbox
from ._server.deliveries import is_loopback
from ._server.overview import as_text, overview
from ._service.json_values import FieldError
from ._service.rate_limit import RETRY_AFTER_FORMS, RateKind, RateLimit, rate_limit_of

FAULT_HELP = (
    "add a fault, such as stall,operation=list_itwins,count=2,seconds=3; repeat the option for several faults. "
    f"Names: {', '.join(FAULTS)}. Fields: operation, count (a number, or forever), skip, seconds, retry_after, origin"
)
SEED_HELP = (
    "a number, where the same number gives the same data, or a JSON or YAML file with the exact data to store "
    "(default: %(default)s)"
)


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
    _add_address_options(parser.add_argument_group("address").add_argument)
    _add_data_options(parser.add_argument_group("stored data").add_argument)
    _add_behavior_options(parser.add_argument_group("behavior").add_argument)
    return parser


def _add_address_options(add: Callable[..., argparse.Action]) -> None:
    add("--host", default="127.0.0.1", help="address to listen on (default: %(default)s)")
    add("--port", type=int, default=8080, metavar="NUMBER", help="0 for a free port (default: %(default)s)")
    add("--path-prefix", default="", metavar="PATH", help="path such as /api below which the service is found")
    add("--public-url", metavar="URL", help="base URL of a proxy in front of the sandbox, used in next links")
    add("--allow-host", action="append", default=[], metavar="NAME", help="name that Host may have; * for any")
    add(
        "--cors",
        action="append",
        default=[],
        metavar="ORIGIN",
        help="origin whose pages may use and control it; with * every page may use the service and none control it",
    )
    add("--tls", action="store_true", help="serve HTTPS with a certificate made for this run (extra tls)")


def _add_data_options(add: Callable[..., argparse.Action]) -> None:
    add(
        "--itwins", type=int, default=250, metavar="NUMBER", help="iTwins in the default listing (default: %(default)s)"
    )
    add("--objects", type=int, default=500, metavar="NUMBER", help="objects of the stored scene (default: %(default)s)")
    add("--seed", default="1", metavar="NUMBER|FILE", help=SEED_HELP)


def _add_behavior_options(add: Callable[..., argparse.Action]) -> None:
    add("--rate", metavar="REQUESTS/SECONDS", help="rate limit of each token, such as 100/60 (default: none)")
    add("--rate-kind", choices=get_args(RateKind), help="how --rate counts requests (default: fixed_window)")
    add("--retry-after", choices=RETRY_AFTER_FORMS, help="form of the delay in a 429 of --rate (default: seconds)")
    add("--latency", type=float, default=0.0, metavar="SECONDS", help="delay of every response (default: 0)")
    add("--jitter", type=float, default=0.0, metavar="SECONDS", help="upper bound of a random extra delay (default: 0)")
    add("--as-seen", action="store_true", help="behave as the real service has been observed to")
    add("--strict", action="store_true", help="reject unknown and read-only fields, empty and implausible values")
    add("--any-token", action=argparse.BooleanOptionalAction, default=True, help="accept every bearer token (default)")
    add("--vendor", metavar="NAME", help="the only vendor that Accept may name (default: any)")
    add(
        "--bodies", action="store_true", help="keep the bodies of responses in the journal, and show bodies on the page"
    )
    add("--deliver", action="store_true", help="post events to active webhooks whose callbackUrl is on this machine")
    add("--fault", action="append", default=[], metavar="NAME,FIELD=VALUE,...", help=FAULT_HELP)


def sandbox_of(arguments: argparse.Namespace) -> Sandbox:
    """Return the sandbox that the options describe; `ValueError` for a wrong value."""
    return Sandbox(
        host=arguments.host,
        port=arguments.port,
        path_prefix=arguments.path_prefix,
        public_url=arguments.public_url,
        allow_hosts=arguments.allow_host,
        cors=arguments.cors,
        tls=arguments.tls,
        itwins=arguments.itwins,
        objects=arguments.objects,
        seed=_seed(arguments.seed),
        rate=_rate(arguments),
        latency=arguments.latency,
        jitter=arguments.jitter,
        as_seen=arguments.as_seen,
        strict=arguments.strict,
        any_token=arguments.any_token,
        bodies=arguments.bodies,
        deliver=arguments.deliver,
        vendor=arguments.vendor,
    )


def _seed(text: str) -> int | Path:
    try:
        return int(text)
    except ValueError:
        return Path(text)


def _rate(arguments: argparse.Namespace) -> RateLimit | None:
    details = {"kind": arguments.rate_kind, "retry_after": arguments.retry_after}
    named = {name: value for name, value in details.items() if value is not None}
    if arguments.rate is not None:
        return replace(rate_limit_of(arguments.rate), **named)
    if named:
        raise ValueError("--rate-kind and --retry-after describe a rate limit: add --rate, such as --rate 100/60")
    return None


def _fault(text: str) -> Fault:
    try:
        return fault_from_text(text)
    except FieldError as error:
        raise FieldError("fault", f"{text[:60]}: {error}") from error


async def run(arguments: argparse.Namespace) -> None:
    """Serve until a signal ends the command."""
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for signal_number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(signal_number, lambda *_: loop.call_soon_threadsafe(stop.set))
    faults = [_fault(text) for text in arguments.fault]
    sandbox = sandbox_of(arguments)
    if not is_loopback(arguments.host):
        sys.stderr.write(
            f"warning: {arguments.host} is not a loopback address: everyone who reaches this machine can read and "
            "control the sandbox\n"
        )
    async with sandbox:
        for fault in faults:
            sandbox.add_fault(fault)
        sys.stdout.write(printed(sandbox, as_json=arguments.json))
        sys.stdout.flush()
        await stop.wait()


def printed(sandbox: Sandbox, *, as_json: bool) -> str:
    """Return what the command prints when it serves: the base URL and more lines, or one line of JSON."""
    values = overview(sandbox._running)  # noqa: SLF001 - the command belongs to the sandbox
    if sandbox._running.certificate is not None:  # noqa: SLF001 - the same
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
    if error.field == "allow_hosts":
        return f"--allow-host: {error.message}"  # the argument of `Sandbox` has another name
    if error.field in vars(arguments):
        return f"--{error.field.replace('_', '-')}: {error.message}"
    # The other fields are those of a rate limit, and of the entries of a seed file.
    return f"{'--rate' if error.field in ('requests', 'per') else '--seed'}: {error}"
