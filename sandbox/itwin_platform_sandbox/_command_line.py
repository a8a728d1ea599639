"""The options of `python -m itwin_platform_sandbox`, and its run until SIGTERM or SIGINT."""

import argparse
import asyncio
import ipaddress
import json
import signal
import sys
from dataclasses import replace
from pathlib import Path
from typing import get_args

from ._faults.catalogue import FAULTS
from ._faults.notation import fault_from_text
from ._sandbox import Sandbox
from ._server.overview import as_text, overview
from ._service.rate_limit import RateKind, RateLimit, rate_limit_of
from ._service.retry_after import RETRY_AFTER_FORMS

FAULT_HELP = (
    "let a fault happen, such as stall,operation=list_itwins,count=2,seconds=3; can be given several times. "
    f"The names: {', '.join(FAULTS)}. The fields: operation, count (a number, or: forever), skip, seconds, "
    "retry_after, origin"
)
SEED_HELP = (
    "a number: the same number gives the same data; or a JSON or YAML file with exactly the data to store "
    "(default: %(default)s)"
)


def command_line() -> argparse.ArgumentParser:
    """Return the parser; each option has the meaning of the argument of `Sandbox` with its name."""
    parser = argparse.ArgumentParser(
        prog="python -m itwin_platform_sandbox",
        description="A sandbox of the platform service: stateful, in memory. Prints its base URL, its token and the "
        "ids of what is stored, and serves until it is stopped.",
    )
    add = parser.add_argument
    add("--host", default="127.0.0.1", help="address to listen on (default: %(default)s)")
    add("--port", type=int, default=8080, help="0 for a free one (default: %(default)s)")
    add("--path-prefix", default="", help="path such as /api below which the service lies")
    add("--public-url", help="base URL of a proxy in front of the sandbox, for links to further pages")
    add("--allow-host", action="append", default=[], metavar="NAME", help="name that Host may have; * for every name")
    add("--cors", action="append", default=[], metavar="ORIGIN", help="origin whose pages may use it; * for every one")
    add("--tls", action="store_true", help="serve HTTPS with a throw-away certificate (extra tls)")
    add("--itwins", type=int, default=250, help="iTwins in the default listing (default: %(default)s)")
    add("--objects", type=int, default=500, help="objects in the seeded scene (default: %(default)s)")
    add("--seed", default="1", metavar="NUMBER|FILE", help=SEED_HELP)
    add("--rate", help="requests/seconds for each token, such as 100/60 (default: no limit)")
    add("--rate-kind", choices=get_args(RateKind), default="fixed_window", help="how they are counted")
    add("--retry-after", choices=RETRY_AFTER_FORMS, default="seconds", help="how a 429 says how long to wait")
    add("--latency", type=float, default=0.0, help="seconds for which every response is held back")
    add("--jitter", type=float, default=0.0, help="up to so many seconds more")
    add("--as-seen", action="store_true", help="behave as the service has been seen to beyond its description")
    add("--strict", action="store_true", help="reject unknown and read-only fields, empty and implausible values")
    add("--any-token", action=argparse.BooleanOptionalAction, default=True, help="accept every bearer token")
    add("--vendor", help="the only vendor word that Accept may name (default: any)")
    add("--fault", action="append", default=[], metavar="NAME,FIELD=VALUE,...", help=FAULT_HELP)
    add("--json", action="store_true", help="print address, token and ids as one line of JSON")
    return parser


def sandbox_of(arguments: argparse.Namespace) -> Sandbox:
    """Return the sandbox that the options describe; `ValueError` for what makes no sense."""
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
        vendor=arguments.vendor,
    )


def _seed(text: str) -> int | Path:
    try:
        return int(text)
    except ValueError:
        return Path(text)


def _rate(arguments: argparse.Namespace) -> RateLimit | None:
    if arguments.rate is None:
        return None
    return replace(rate_limit_of(arguments.rate), kind=arguments.rate_kind, retry_after=arguments.retry_after)


async def run(arguments: argparse.Namespace) -> None:
    """Serve until a signal says stop."""
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: loop.call_soon_threadsafe(stop.set))
    faults = [fault_from_text(text) for text in arguments.fault]
    sandbox = sandbox_of(arguments)
    if not is_loopback(arguments.host):
        sys.stderr.write(
            f"warning: {arguments.host} is not a loopback address: whoever reaches this machine can read and control "
            "the sandbox\n"
        )
    async with sandbox:
        for fault in faults:
            sandbox.add_fault(fault)
        sys.stdout.write(printed(sandbox, as_json=arguments.json))
        sys.stdout.flush()
        await stop.wait()


def printed(sandbox: Sandbox, *, as_json: bool) -> str:
    """Return what the command prints once it serves: the base URL first, or everything as one line of JSON."""
    values = overview(sandbox._running)  # noqa: SLF001 - the command is a part of the sandbox
    if sandbox._running.certificate is not None:  # noqa: SLF001 - the same
        values["ca_file"] = sandbox.ca_file
    if as_json:
        return f"{json.dumps(values)}\n"
    ca_file = f"{'ca_file':<40}{values['ca_file']}\n" if "ca_file" in values else ""
    return f"{sandbox.base_url}\n{as_text(values)}{ca_file}"


def is_loopback(host: str) -> bool:
    """Tell whether only this machine reaches the address."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def main() -> int:
    """Run the sandbox; a wrong option or an address in use ends it with one line that says what is wrong."""
    parser = command_line()
    arguments = parser.parse_args()
    try:
        asyncio.run(run(arguments))
    except (ValueError, OSError, ImportError) as error:
        parser.exit(2, f"{parser.prog}: error: {_reason(error, arguments)}\n")
    return 0


def _reason(error: Exception, arguments: argparse.Namespace) -> str:
    if isinstance(error, FileNotFoundError):
        return f"seed: {error.filename} does not exist"
    if isinstance(error, OSError):
        return f"cannot listen on {arguments.host} port {arguments.port}: {error.strerror or error}"
    return str(error)
