"""`python -m itwin_platform_sandbox`: run the sandbox until SIGTERM or SIGINT."""

import argparse
import asyncio
import signal
import sys
from dataclasses import replace
from typing import get_args

from . import FAULTS, Sandbox
from ._faults.notation import fault_from_text
from ._service.rate_limit import RateKind, RateLimit, rate_limit_of
from ._service.retry_after import RETRY_AFTER_FORMS

FAULT_HELP = (
    "let a fault happen, such as stall,operation=list_itwins,count=2,seconds=3; can be given several times. "
    f"The names: {', '.join(FAULTS)}. The fields: operation, count (a number, or: forever), skip, seconds, "
    "retry_after, origin"
)


def command_line() -> argparse.ArgumentParser:
    """The options; each has the meaning of the argument of `Sandbox` with its name."""
    parser = argparse.ArgumentParser(
        prog="python -m itwin_platform_sandbox",
        description="A sandbox of the platform service: stateful, in memory. Prints its base URL and serves.",
    )
    add = parser.add_argument
    add("--host", default="127.0.0.1", help="address to listen on (default: %(default)s)")
    add("--port", type=int, default=8080, help="0 takes a free one (default: %(default)s)")
    add("--path-prefix", default="", help="path such as /api that the service lies below")
    add("--itwins", type=int, default=250, help="iTwins in the default listing (default: %(default)s)")
    add("--objects", type=int, default=500, help="objects in the seeded scene (default: %(default)s)")
    add("--seed", type=int, default=1, help="the same seed gives the same data (default: %(default)s)")
    add("--rate", help="requests/seconds for each token, such as 100/60 (default: no limit)")
    add("--rate-kind", choices=get_args(RateKind), default="fixed_window", help="how they are counted")
    add("--retry-after", choices=RETRY_AFTER_FORMS, default="seconds", help="how an error says how long to wait")
    add("--latency", type=float, default=0.0, help="seconds that every response is held back")
    add("--jitter", type=float, default=0.0, help="seconds that it is held back more, at most")
    add("--as-seen", action="store_true", help="behave as the service has been seen to beyond its description")
    add("--any-token", action=argparse.BooleanOptionalAction, default=True, help="take every bearer token, or one only")
    add("--vendor", help="the only vendor word that Accept may name (default: any)")
    add("--fault", action="append", default=[], metavar="NAME,FIELD=VALUE,...", help=FAULT_HELP)
    return parser


def sandbox_of(arguments: argparse.Namespace) -> Sandbox:
    """The sandbox that was asked for; `ValueError` for what makes no sense."""
    return Sandbox(
        host=arguments.host,
        port=arguments.port,
        path_prefix=arguments.path_prefix,
        itwins=arguments.itwins,
        objects=arguments.objects,
        seed=arguments.seed,
        rate=_rate(arguments),
        latency=arguments.latency,
        jitter=arguments.jitter,
        as_seen=arguments.as_seen,
        any_token=arguments.any_token,
        vendor=arguments.vendor,
    )


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
    async with sandbox_of(arguments) as sandbox:
        for fault in faults:
            sandbox.add_fault(fault)
        sys.stdout.write(f"{sandbox.base_url}\n")
        sys.stdout.flush()
        await stop.wait()


def main() -> int:
    """Run the sandbox; a wrong option or a taken port ends it with one line that says what was wrong."""
    parser = command_line()
    arguments = parser.parse_args()
    try:
        asyncio.run(run(arguments))
    except (ValueError, OSError) as error:
        parser.error(str(error))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
