"""RedisGate: a gate that processes and machines share through Redis or Valkey."""

import asyncio
import json
import re
from collections.abc import Awaitable, Callable, Iterable
from contextlib import suppress
from hashlib import sha1
from importlib import import_module
from pathlib import Path
from typing import Any, Protocol
from urllib.parse import urlsplit

from ..._errors import UsageError
from ..._version import KEY_PREFIX
from ..events import GateChanged
from .gate import rates_of
from .shared import ENGINE_TIMEOUT, LEASE, EngineRejectsError, EngineUnreachableError, Reply, Request, SharedGate
from .window import Permit, RateLimit

#: A subscription that is silent for so many seconds is asked for a sign of life, and made anew without one in as many.
_LISTEN_INTERVAL = 1.0
#: Errors of the server name their code first; Redis 6.2 puts what happened in a script before it.
_CODE = re.compile(r"(?:^|-|: )([A-Z]{3,})\b")


class RedisClient(Protocol):
    """What is used of a client of redis-py."""

    def execute_command(self, *args: str | bytes) -> Awaitable[object]:
        """Send a command and return what the server says."""
        ...

    def pubsub(self) -> object:
        """Return a connection for subscriptions."""
        ...


class RedisGate(SharedGate):
    """A gate that any number of processes and machines share: cooldown, slow start and rates.

    The state lives in Redis 6.2 or newer, or Valkey, under keys that expire. While the server is unreachable, each
    process continues with its share: `max_in_flight` and the rates divided by `workers`. It logs one warning, and
    rejoins by itself. The same holds while the server cannot write: it is full, read-only or failing over. Close the
    gate with `aclose()` or `async with`, after the clients that use it.

    Args:
        redis: a URL, or a client of `redis.asyncio`, which is not closed.
        name: what shares the limit, such as "prod, service app 7". A token is no name: tokens rotate.
        max_in_flight: requests in flight at once, of all processes, at least 1.
        rate: one known rate of all processes, or an iterable of them.
        workers: how many processes share the limit, for the time without the server.
        on_event: is called when the server is lost and when it is back; it must not block.

    Raises:
        UsageError: a value is of the wrong type or out of its range, or the URL is not one of Redis. From each call:
            the server rejects the user, the password or the database.
        ImportError: redis-py is not installed; `pip install redis` installs it.

    Example:
        >>> async with RedisGate("redis://localhost:6379/0", name="prod, service app 7", workers=4) as gate:
        ...     client = httpx.AsyncClient(transport=BackoffTransport(httpx.AsyncHTTPTransport(), gate=gate))
    """

    __slots__ = ()

    def __init__(
        self,
        redis: str | RedisClient,
        *,
        name: str,
        max_in_flight: int = 20,
        rate: RateLimit | Iterable[RateLimit] | None = None,
        workers: int = 1,
        on_event: Callable[[GateChanged], None] | None = None,
    ) -> None:
        if not isinstance(name, str) or not name.strip():
            raise UsageError("name must say what shares the limit, such as 'prod, service app 7'")
        rates = rates_of(rate)
        super().__init__(
            _RedisEngine(redis, name=name, max_in_flight=max_in_flight, rates=rates),
            name=name,
            max_in_flight=max_in_flight,
            rate=rates,
            workers=workers,
            on_event=on_event,
        )


class _RedisEngine:
    """The script `exchange.lua`, and a channel for each process that waits."""

    def __init__(
        self, redis: str | RedisClient, *, name: str, max_in_flight: int, rates: tuple[RateLimit, ...]
    ) -> None:
        try:
            # By name: the types hold in a vendored copy too, where the extra may not be installed.
            asyncio_redis, self._errors = import_module("redis.asyncio"), import_module("redis.exceptions")
        except ImportError as error:
            raise ImportError("RedisGate needs redis-py: run `pip install redis`") from error
        self._url = redis if isinstance(redis, str) else None
        self._where = "the given client"
        if self._url is None:
            if not hasattr(redis, "execute_command") or isinstance(redis, import_module("redis").Redis):
                raise UsageError("redis must be a URL, or a client of redis.asyncio, not a synchronous one")
            self._redis: Any = redis
        else:
            self._from_url: Callable[..., Any] = asyncio_redis.Redis.from_url
            try:
                self._where = _address_of(self._url)
                self.leave_loop()
            except ValueError as error:
                raise UsageError("redis must be a URL such as redis://localhost:6379/0") from error
        prefix = f"{KEY_PREFIX}{{{name}}}:"
        keys = [prefix + part for part in ("state", "leases", "queue", "called", "log")]
        # Counted, and as bytes: redis-py looks at a string several times before it encodes it.
        self._keys = [each.encode() for each in (str(len(keys)), *keys)]
        self._channel = prefix + "process:"
        shared_rates = [(rate.requests, rate.counted_for) for rate in rates]
        settings = json.dumps((max_in_flight, shared_rates))
        self._settings = (self._channel, LEASE, max_in_flight, shared_rates, settings)
        self._script = Path(__file__).with_name("exchange.lua").read_bytes()
        self._digest = sha1(self._script, usedforsecurity=False).hexdigest()

    async def exchange(self, request: Request) -> Reply:
        reports = [
            (each.kind, each.permit.period, each.permit.number, each.permit.at, each.value, each.jitter)
            for each in request.reports
        ]
        process = (request.process, request.wants, request.listens, request.holds)
        try:
            said: Any = await self._run_script(json.dumps((*self._settings, *process, reports)).encode())
        except (self._errors.RedisError, OSError) as error:
            raise self._translated(error) from error
        known, wait, rank, cooldown, waiting, differs, at, *permits = said.split()
        return Reply(
            known=bool(int(known)),
            wait=None if float(wait) < 0 else float(wait),
            rank=int(rank),
            cooldown=float(cooldown),
            is_contended=bool(int(waiting)),
            differs=bool(int(differs)),
            permits=[
                Permit(period=int(period), number=int(number), at=float(at))
                for period, number in zip(permits[::2], permits[1::2], strict=True)
            ],
        )

    async def _run_script(self, asked: bytes) -> object:
        # The script of redis-py's `register_script` does the same, and takes an eighth longer.
        with suppress(self._errors.NoScriptError):
            return await self._redis.execute_command("EVALSHA", self._digest, *self._keys, asked)
        return await self._redis.execute_command("EVAL", self._script, *self._keys, asked)

    async def listen(self, process: str, *, ready: Callable[[], None], called: Callable[[], None]) -> None:
        connection: Any = self._redis.pubsub()
        subscriptions = 0
        try:
            async with asyncio.timeout(ENGINE_TIMEOUT):
                await connection.subscribe(self._channel + process)
            while True:
                message = await self._next_message(connection)
                if message["type"] == "message":
                    called()
                elif message["type"] == "subscribe":
                    subscriptions += 1
                    if subscriptions > 1:
                        raise EngineUnreachableError("it was interrupted")
                    ready()
        except (self._errors.RedisError, OSError) as error:
            raise self._translated(error) from error
        finally:
            await connection.aclose()

    async def _next_message(self, connection: Any) -> Any:
        """Return the next message, or a sign of life: a connection that is dead on its way brings nothing for ever."""
        for _ in range(2):
            if (message := await connection.get_message(timeout=_LISTEN_INTERVAL)) is not None:
                return message
            await connection.ping()
        raise EngineUnreachableError("it is silent")

    def leave_loop(self) -> None:
        if self._url is not None:
            # The gate has its own time limit and its own fallback: a retry in the client would only delay them, and its
            # time limit would start a task for each command.
            self._redis = self._from_url(self._url, retry=None, socket_timeout=None)

    async def aclose(self) -> None:
        if self._url is not None:
            await self._redis.aclose()

    def _translated(self, error: Exception) -> Exception:
        """Return what an error means: the configuration is wrong, or the server cannot be used for now."""
        causes = _causes_of(error)
        text = " ".join(map(str, causes))
        codes = _codes_of(causes)
        name = codes[0] if codes else type(causes[-1]).__name__
        if any(isinstance(each, self._errors.AuthenticationError) for each in causes):
            return EngineRejectsError(f"{self._where} rejects the user name or the password in redis ({name})")
        if "NOPERM" in codes or any(isinstance(each, self._errors.NoPermissionError) for each in causes):
            return EngineRejectsError(f"{self._where} does not permit the user what the gate needs ({name})")
        if "DB index" in text:
            return EngineRejectsError(f"{self._where} has no such database ({name})")
        if isinstance(causes[-1], self._errors.ResponseError):
            return EngineUnreachableError(f"{self._where} responds with an error ({name})")
        return EngineUnreachableError(f"{self._where} is unreachable ({name})")


def _address_of(url: str) -> str:
    """Return a URL without its user name and password."""
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.hostname or ''}:{parts.port or 6379}{parts.path}"


def _causes_of(error: BaseException) -> list[BaseException]:
    """Return an error and what caused it: a wrong password comes as the cause of a ConnectionError."""
    causes = [error]
    while (cause := causes[-1].__cause__ or causes[-1].__context__) is not None:
        causes.append(cause)
    return causes


def _codes_of(causes: list[BaseException]) -> list[str]:
    """Return the codes with which the server names what is wrong."""
    return [found.group(1) for each in causes if (found := _CODE.search(str(each)))]
