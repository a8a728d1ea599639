"""The public class: its arguments, its start and its end."""

import asyncio
import os
import tempfile
import time
from collections.abc import Awaitable, Callable, Iterable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import Self

from ._controls import SandboxControls
from ._server.argument_checks import (
    check_counts,
    check_delay,
    checked_hosts,
    checked_origins,
    checked_prefix,
    checked_public_url,
    checked_vendor,
)
from ._server.running import RunningSandbox
from ._server.settings import Environment, Settings
from ._service.fields import FieldError
from ._service.rate_limit import RateLimitLike, rate_limit_of
from ._service.seeding import SeedDocument, Seeded, platform_of_document, read_seed_file, seeded_platform
from ._service.state import source_of

DEFAULT_TOKEN = "sandbox-token"  # noqa: S105 - opens nothing but a sandbox


def _utc_now() -> datetime:
    return datetime.now(UTC)


class Sandbox(SandboxControls):
    """The service on the loopback interface, running inside `async with`.

    Args:
        itwins: Number of iTwins in the default listing, at least 1. The Account counts; Inactive iTwins are extra.
        objects: Number of objects in the seeded scene.
        seed: A number: the same number gives the same data. Or the exact data to store: a mapping, or the path of a
            JSON or YAML file, with any of the lists `itwins`, `repositories`, `scenes`, `detectors` and `webhooks`, in
            the field names of the wire. Then `itwins` and `objects` are ignored.
        rate: The rate limit of each token: `"100/60"`, a `RateLimit`, or any value with `requests` and `per` (seconds).
        latency: Seconds by which every response is delayed.
        jitter: Upper bound, in seconds, of a random extra delay.
        as_seen: Behave as the real service has been observed to, beyond its specification.
        strict: Reject unknown and read-only fields and empty or implausible values. By default the journal notes them.
        path_prefix: A path such as `/api` below which the service is found.
        public_url: The base URL of a proxy in front of the sandbox, used in links to further pages.
        any_token: Accept every bearer token. With False, accept only `token` and those from `add_token`.
        vendor: The only vendor that Accept may name; None for any.
        host: The address to listen on.
        port: The port to listen on; 0 for a free one.
        tls: Serve HTTPS with a certificate made for this run, which `ca_file` verifies. Needs the extra `tls`.
        cors: Origins such as `http://localhost:3000` whose pages may use the sandbox; `*` for every page.
        allow_hosts: Names that Host may have besides loopback names and addresses; `*` for every name.
        clock: Monotonic seconds for rate limits, token expiry and the journal.
        now: The aware time of stored data and of the header Date.
        sleep: Called for every delay.

    Raises:
        ValueError: An argument has a wrong value; the message names it.
        ImportError: An extra is not installed; the message names the packages.
        OSError: From `async with`: the address is in use.

    Example:
        >>> async with Sandbox(itwins=250) as sandbox:  # doctest: +SKIP
        ...     sandbox.fault("unavailable", operation="list_itwins")

    Source: all sections; sections 4 to 9 for the responses.
    """

    def __init__(
        self,
        *,
        itwins: int = 250,
        objects: int = 500,
        seed: int | str | os.PathLike[str] | SeedDocument = 1,
        rate: str | RateLimitLike | None = None,
        latency: float = 0.0,
        jitter: float = 0.0,
        as_seen: bool = False,
        strict: bool = False,
        path_prefix: str = "",
        public_url: str | None = None,
        any_token: bool = True,
        vendor: str | None = None,
        host: str = "127.0.0.1",
        port: int = 0,
        tls: bool = False,
        cors: str | Iterable[str] = (),
        allow_hosts: str | Iterable[str] = (),
        clock: Callable[[], float] = time.monotonic,
        now: Callable[[], datetime] = _utc_now,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        check_counts(itwins=itwins, objects=objects, port=port)
        check_delay(latency, jitter)
        settings = Settings(
            host=host,
            port=port,
            path_prefix=checked_prefix(path_prefix),
            public_url=checked_public_url(public_url),
            any_token=any_token,
            token=DEFAULT_TOKEN,
            vendor=checked_vendor(vendor),
            rate=None if rate is None else rate_limit_of(rate),
            latency=latency,
            jitter=jitter,
            as_seen=as_seen,
            strict=strict,
            tls=tls,
            cors=checked_origins(cors),
            allowed_hosts=checked_hosts(allow_hosts),
        )
        number = seed if isinstance(seed, int) else 1
        environment = Environment(clock=clock, now=now, sleep=sleep, random=source_of(number, "jitter"))
        document = _document(seed)

        def seeded() -> Seeded:
            if document is not None:
                return platform_of_document(document, now=now)
            return seeded_platform(itwins=itwins, objects=objects, seed=number, as_seen=as_seen, now=now)

        super().__init__(RunningSandbox(seeded, environment, settings))
        self._ca_folder: tempfile.TemporaryDirectory[str] | None = None
        self.token = DEFAULT_TOKEN

    def __repr__(self) -> str:
        running = self._running
        return f"<Sandbox {running.address if running.server.port else 'not started'}>"

    async def __aenter__(self) -> Self:
        await self._running.server.start()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        await self._running.server.stop()
        if self._ca_folder is not None:
            self._ca_folder.cleanup()
            self._ca_folder = None

    @property
    def base_url(self) -> str:
        """The base URL for clients, with the path prefix and without a slash at its end; only inside `async with`."""
        if not self._running.server.port:
            raise RuntimeError("the sandbox has no address before `async with` has started it")
        return self._running.base_url

    @property
    def ca_file(self) -> str:
        """A PEM file with the authority of a `tls` sandbox, for `verify=` of a client; deleted after `async with`."""
        if self._running.certificate is None:
            raise RuntimeError("only a sandbox with tls=True has a certificate")
        if self._ca_folder is None:
            self._ca_folder = tempfile.TemporaryDirectory(prefix="itwin-sandbox-")
            Path(self._ca_folder.name, "ca.pem").write_bytes(self._running.certificate.authority)
        return str(Path(self._ca_folder.name, "ca.pem"))


def _document(seed: object) -> SeedDocument | None:
    if isinstance(seed, bool) or not isinstance(seed, int | str | os.PathLike | Mapping):
        raise FieldError("seed", "must be a number, the path of a file, or a mapping")
    if isinstance(seed, str | os.PathLike):
        return read_seed_file(Path(seed))
    return seed if isinstance(seed, Mapping) else None
