"""RedisGate: a gate that processes and machines share through Redis or Valkey."""

import asyncio
import json
import math
import re
import ssl
import uuid
from collections.abc import AsyncGenerator, Awaitable, Callable, Hashable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from hashlib import sha1
from importlib import import_module
from importlib.resources import files
from typing import Any, Protocol, Self
from urllib.parse import urlsplit

from ..errors import StateError, UsageError, check_integer
from ..events import GateChanged, tell
from ..names import LOGGER, REDIS_PREFIX
from .gate import IN_USE, Gate, rates_of
from .queue import Queue
from .window import Permit, RateLimit

#: A process that is silent for so many seconds gives its permits back: it crashed, was stopped, or lost the server.
LEASE = 4.0
#: The first process that waits asks again after this time, each further one so much later, up to the longest. The
#: server calls who has its turn: this matters only when a message is lost, or nobody is left who reports an end.
POLL_INTERVAL, POLL_STEP, LONGEST_POLL = 1.0, 0.05, 10.0
#: A process that knows when its turn comes asks after this time at the latest.
_LONGEST_SLEEP = 60.0
#: Processes that ask at the same moment do so one after the other.
_RANK_STEP, _LATEST_RANK, _JITTER = 0.002, 1.0, 0.002
#: A server that takes longer than this counts as unreachable. Then it is tried again: after the first pause, and each
#: time after twice as long, up to the longest. In seconds.
SERVER_TIMEOUT, FIRST_PAUSE, LONGEST_PAUSE, _PAUSE_JITTER = 1.0, 1.0, 10.0, 0.1
#: A 429, and what others may wait for, is reported at once; what else ended waits so long for company.
REPORT_DELAY = 0.01
#: A subscription that is silent for so many seconds is asked for a sign of life, and made anew without one in as many.
_LISTEN_INTERVAL = 1.0
#: Errors of the server name their code first; Redis 6.2 puts what happened in a script before it.
_CODE = re.compile(r"(?:^|-|: )([A-Z]{3,})\b", re.MULTILINE)

#: An error for what a user may not do in a script has no code: Redis up to 7.0 uses the second text, later the third.
_NOT_PERMITTED = re.compile("NOPERM|The user executing the script can't|ACL failure in script")

#: What became of a permit of the server: in which way it ended, its number, when it was granted, and only of a 429 the
#: seconds to wait and a jitter from 0 to 1. A cooldown that only this process knows of has the number 0.
Report = tuple[str, int, float, *tuple[float, ...]]


class ServerUnreachableError(Exception):
    """The server does not respond, not in time, or not for now."""


class ServerRejectsError(Exception):
    """The server responds, and rejects the configuration."""


class RedisClient(Protocol):
    """What is used of a client of redis-py."""

    def execute_command(self, *args: str | bytes) -> Awaitable[object]:
        """Send a command and return what the server says."""
        ...

    def pubsub(self) -> object:
        """Return a connection for subscriptions."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """What the server says.

    Args:
        wait: the seconds until another permit may be free; None for until another ends.
        rank: how many processes are served before this one.
        cooldown: the seconds in which no request may start.
        is_contended: whether a process waits.
        differs: whether another process has other settings.
        permits: granted now.
    """

    wait: float | None
    rank: int
    cooldown: float
    is_contended: bool
    differs: bool
    permits: Sequence[Permit]

    def poll_delay(self, *, jitter: float) -> float:
        """Return the seconds after which a process that waits asks again; `jitter` is a number from 0 to 1."""
        pause = min(POLL_INTERVAL + POLL_STEP * self.rank, LONGEST_POLL) if self.wait is None else self.wait
        return pause + min(self.rank * _RANK_STEP, _LATEST_RANK) + jitter * _JITTER


class RedisGate(Gate):
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
            raise UsageError("name must say what shares the limit, such as 'prod, service app 7'", argument="name")
        check_integer("workers", workers, least=1)
        check_integer("max_in_flight", max_in_flight, least=1)
        rates = rates_of(rate)
        shares = [RateLimit(max(1, each.requests // workers), each.per) for each in rates]
        super().__init__(math.ceil(max_in_flight / workers), shares)
        self._max_in_flight, self._rates = max_in_flight, rates
        # The server knows no operations: what it grants is for whoever comes first here.
        self._queue = Queue(most=math.inf)
        self._state = RedisState(redis, name=name, max_in_flight=max_in_flight, rates=rates)
        self._name, self._on_event = name, on_event
        # Made anew in each process: a gate may be built before a server forks its workers.
        self._process: str
        #: The permits of the server by those of this process, and what became of others.
        self._held: dict[Permit, Permit] = {}
        self._reports: list[Report] = []
        #: How many permits the server has been asked for and has not granted yet.
        self._asked: int
        #: Whether the server knows which permits this process holds; then, when they were kept last.
        self._is_known: bool
        self._kept_at: float
        self._has_warned = self._is_lost = self._listens = self._is_contended = self._is_cooldown_unreported = False
        #: When the next exchange is due, and what wakes the pump when it is due earlier than it was.
        self._due: float
        self._changed: asyncio.Event
        self._pause = FIRST_PAUSE
        self._pump: asyncio.Task[None] | None = None
        self._listener: asyncio.Task[None] | None = None

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *raised: object) -> None:
        await self.aclose()

    def _ended(self, kind: str, permit: Permit, *cooldown: float) -> None:
        """Report the end, of a permit that the server does not know, or no longer, only a cooldown."""
        if (granted := self._held.pop(permit, None)) is not None:
            self._reports.append((kind, granted.number, granted.at, *cooldown))
        elif kind == "rate_limited":
            self._reports.append(("cooldown", 0, 0.0, *cooldown))
        self._is_cooldown_unreported = self._is_cooldown_unreported or kind == "rate_limited"
        # Also when nobody waits here: other processes may wait for this permit.
        self._admit()

    async def aclose(self) -> None:
        """End all waits with StateError, report what ended, and close what was opened."""
        if self._closed:
            return
        await super().aclose()
        if self._pump is not None:
            # An exchange in flight ends first, because it may bring permits, which have to be given back.
            self._due = 0.0
            self._changed.set()
            await asyncio.wait([self._pump])
        if self._is_known:
            await self._exchange()
        try:
            await self._state.aclose()
        except Exception:  # noqa: BLE001  # it is of no use any more, whatever its connections say
            LOGGER.debug("closing the server of gate %r failed", self._name, exc_info=True)

    def _leave_loop(self) -> None:
        is_alive = self._loop is not None and not self._loop.is_closed()
        if is_alive and self._pump is not None and not self._pump.done():
            raise StateError(IN_USE)
        super()._leave_loop()
        self._process, self._is_known = uuid.uuid4().hex, False
        self._held.clear()
        self._reports.clear()
        self._pump = self._listener = None
        self._listens, self._asked, self._due = False, 0, 0.0
        self._changed = asyncio.Event()
        if self._loop is not None:
            self._state.leave_loop()

    def _may_begin(self, operation: Hashable, now: float) -> bool:
        if self._is_lost:
            self._exchange_within(0.0)  # the server may be back
        return self._is_lost and super()._may_begin(operation, now)

    def _admit(self) -> None:
        if self._is_lost:
            super()._admit()
        if self._closed:
            return
        if 2 * self._asked < self._ready():
            self._exchange_within(0.0)
        elif self._reports:
            is_urgent = self._queue.waiting or self._is_contended or self._is_cooldown_unreported
            self._exchange_within(0.0 if is_urgent else REPORT_DELAY)

    def _ready(self) -> int:
        """Return how many wait that no limit of their own operation holds back, and look again when one has ended."""
        if not self._own or not self._queue.waiting:
            return self._queue.waiting
        waits = [self.cooldown_left(each.operation) for each in self._queue.heads()]
        self._stop_timer()
        if self._loop is not None and (until := min([wait for wait in waits if wait > 0], default=0.0)):
            self._timer = self._loop.call_later(until, self._admit)
        return self._queue.count(self._is_own_ready)

    def _exchange_within(self, seconds: float) -> None:
        loop = self._loop
        if loop is None or loop.is_closed():
            return
        due = loop.time() + seconds
        if self._pump is None or self._pump.done():
            self._due = due if not self._is_lost else max(due, self._due)
            self._pump = loop.create_task(self._run())
        elif not self._is_lost and due < self._due:
            self._due = due
            self._changed.set()

    async def _run(self) -> None:
        """Exchange with the server as long as somebody waits or holds a permit."""
        loop = asyncio.get_running_loop()
        while not self._closed and (self._queue.waiting or self._reports or self._window.in_flight):
            while loop.time() < self._due:
                self._changed.clear()
                with suppress(TimeoutError):
                    async with asyncio.timeout_at(self._due):
                        await self._changed.wait()
            await self._exchange()
        self._stop_listening()

    async def _exchange(self) -> None:
        now = asyncio.get_running_loop().time()
        reports, self._reports = self._reports, []
        if self._is_lost:
            # What ended meanwhile is not among the permits that are kept. The server knows of no cooldown since then.
            left = self._window.cooldown_left(now)
            reports = [("cooldown", 0, 0.0, left)] if left > 0 else []
        self._is_cooldown_unreported = False
        self._asked = self._ready()
        self._due = now + (LEASE / 2 if self._held else _LONGEST_SLEEP)
        kept: list[int] = []
        if not self._is_known or now >= self._kept_at + LEASE / 3:
            self._kept_at, kept = now, [granted.number for granted in self._held.values()]
        try:
            async with asyncio.timeout(SERVER_TIMEOUT):
                reply = await self._state.exchange(
                    process=self._process,
                    rejoins=not self._is_known,
                    wants=self._asked,
                    listens=self._listens,
                    kept=kept,
                    reports=reports,
                )
        except Exception as error:  # noqa: BLE001  # whatever fails there, nobody may wait for ever here
            if isinstance(error, ServerRejectsError):
                self._is_known = False
                self._queue.fail_all(UsageError(f"RedisGate: {error}"))
            else:
                self._lose(str(error) or f"no response within {SERVER_TIMEOUT:g} s")
        else:
            self._apply(reply)

    def _apply(self, reply: Reply) -> None:
        now = asyncio.get_running_loop().time()
        if self._is_lost:
            self._is_lost = False
            self._stop_timer()
            tell(GateChanged(name=self._name, is_shared=True, reason=None), self._on_event)
        self._is_known, self._pause = True, FIRST_PAUSE
        if reply.differs and not self._has_warned:
            self._has_warned = True
            LOGGER.warning(
                "gate %r: another process gives other settings; max_in_flight and rate must be the same", self._name
            )
        self._is_contended = reply.is_contended
        if not self._is_cooldown_unreported:
            self._window.hold(now + reply.cooldown)
        for granted in reply.permits:
            self._grant(granted)
        if not self._queue.waiting:
            return
        self._queue.reject(self.cooldown_left, now=now)
        if not self._listens and self._listener is None:
            self._listener = asyncio.create_task(self._listen())
        self._due = min(self._due, now + reply.poll_delay(jitter=self._random_number()))

    def _grant(self, granted: Permit) -> None:
        self._asked, now = max(0, self._asked - 1), asyncio.get_running_loop().time()
        waiter = self._queue.first(now, self._is_own_ready)
        if waiter is not None and not self._is_cooldown_unreported:
            permit = self._begin(waiter.operation, now)
            self._held[permit] = granted
            self._queue.grant(waiter, permit)
            self._exchange_within(LEASE / 2)
        else:
            self._reports.append(("unused", granted.number, granted.at))
        self._admit()

    async def _listen(self) -> None:
        calls = self._state.called(self._process)
        try:
            while True:
                await anext(calls)
                self._listens = True
                self._exchange_within(0.0)
        except Exception as error:  # noqa: BLE001  # whatever fails there: until it is made anew, this process polls
            reason = error or type(error).__name__
            LOGGER.warning("gate %r: its subscription is made anew: %s", self._name, reason)
            self._listener, self._listens = None, False
            if isinstance(error, ServerRejectsError):
                self._queue.fail_all(UsageError(f"RedisGate: {error}"))
            self._exchange_within(FIRST_PAUSE)

    def _lose(self, reason: str) -> None:
        """Continue alone."""
        self._is_known = False
        self._reports.clear()
        self._stop_listening()
        now = asyncio.get_running_loop().time()
        self._due = now + self._pause * (1 + _PAUSE_JITTER * self._random_number())
        self._pause = min(2 * self._pause, LONGEST_PAUSE)
        if not self._is_lost:
            self._is_lost = True
            self._window.postpone_probe(now)
            tell(GateChanged(name=self._name, is_shared=False, reason=reason), self._on_event)
        self._admit()

    def _stop_listening(self) -> None:
        # What was asked for does not come any more.
        self._listens, self._asked = False, 0
        if self._listener is not None:
            self._listener.cancel()
            self._listener = None


class RedisState:
    """The state of a gate on the server: the script `exchange.lua`, and a channel for each process that waits."""

    def __init__(
        self, redis: str | RedisClient, *, name: str, max_in_flight: int, rates: tuple[RateLimit, ...]
    ) -> None:
        try:
            # By name: the types hold in a vendored copy too, where the extra may not be installed.
            asyncio_redis, self._errors = import_module("redis.asyncio"), import_module("redis.exceptions")
        except ImportError as error:
            raise ImportError("RedisGate needs the extra redis: run `pip install redis`") from error
        self._url = redis if isinstance(redis, str) else None
        self._closing: AsyncGenerator[None] | None = None
        self._is_permitted = False
        self._where = "the given client"
        if self._url is None:
            if not hasattr(redis, "execute_command") or isinstance(redis, import_module("redis").Redis):
                raise UsageError(
                    "redis must be a URL, or a client of redis.asyncio, not a synchronous one", argument="redis"
                )
            self._redis: Any = redis
        else:
            self._from_url: Callable[..., Any] = asyncio_redis.Redis.from_url
            try:
                self._where = _address_of(self._url)
                self.leave_loop()
            except ValueError as error:
                raise UsageError("redis must be a URL such as redis://localhost:6379/0", argument="redis") from error
        prefix = f"{REDIS_PREFIX}{{{name}}}:"
        keys = [prefix + part for part in ("state", "flight", "queue", "log")]
        # Counted, and as bytes: redis-py looks at a string several times before it encodes it.
        self._keys = [each.encode() for each in (str(len(keys)), *keys)]
        self._channel = prefix + "process:"
        shared_rates = [(rate.requests, rate.counted_for) for rate in rates]
        settings = json.dumps((max_in_flight, shared_rates))
        self._settings = (self._channel, LEASE, max_in_flight, shared_rates, settings)
        # The package may be in a zip file.
        self._script = files(__name__.rpartition(".")[0]).joinpath("exchange.lua").read_bytes()
        self._digest = sha1(self._script, usedforsecurity=False).hexdigest()

    async def exchange(
        self,
        *,
        process: str,
        rejoins: bool,
        wants: int,
        listens: bool,
        kept: Sequence[int],
        reports: Sequence[Report],
    ) -> Reply:
        """Report and ask.

        Args:
            process: names the process.
            rejoins: whether it lost the server: of its permits there, only those end that it does not keep.
            wants: how many of its tasks wait.
            listens: whether it listens for its turn.
            kept: the numbers of the permits that it keeps for another lease.
            reports: what happened since the last exchange.

        Raises:
            ServerUnreachableError: the server cannot be used for now.
            ServerRejectsError: the configuration is wrong.
        """
        asked = json.dumps((*self._settings, process, rejoins, wants, listens, kept, reports)).encode()
        try:
            if not self._is_permitted:
                await self._ask_for_permission(process)
            said: Any = await self._run_script(asked)
        except (self._errors.RedisError, OSError) as error:
            failure = self._translated(error)
            if not self._is_permitted and await _expects_tls(self._url):
                failure = ServerRejectsError(f"{self._where} expects TLS: use rediss:// in redis")
            if isinstance(failure, ServerRejectsError):
                await self.aclose()  # redis-py 5.0 would go on in another database than the one that was rejected
            raise failure from error
        wait, rank, cooldown, waiting, differs, at, *numbers = said.split()
        return Reply(
            wait=None if float(wait) < 0 else float(wait),
            rank=int(rank),
            cooldown=float(cooldown),
            is_contended=bool(int(waiting)),
            differs=bool(int(differs)),
            permits=[Permit(number=int(number), at=float(at)) for number in numbers],
        )

    async def _ask_for_permission(self, process: str) -> None:
        """Do what is else only needed when processes wait for each other: a user who may not is found at once."""
        connection: Any = self._redis.pubsub()
        try:
            await connection.subscribe(self._channel + process)
            await connection.get_message(timeout=SERVER_TIMEOUT)
        finally:
            await connection.aclose()
        # With the connection that this has left, so that there is no other one.
        await self._redis.execute_command("PUBLISH", self._channel + process, b"")
        self._is_permitted = True

    async def _run_script(self, asked: bytes) -> object:
        if self._url is not None and self._closing is None:
            self._closing = _closed_with_loop(self._redis)
            await anext(self._closing)
        # The script of redis-py's `register_script` does the same, and takes an eighth longer.
        with suppress(self._errors.NoScriptError):
            return await self._redis.execute_command("EVALSHA", self._digest, *self._keys, asked)
        return await self._redis.execute_command("EVAL", self._script, *self._keys, asked)

    async def called(self, process: str) -> AsyncGenerator[None]:
        """Yield once messages can be received, and with each of them; raise when none can be any more."""
        connection: Any = self._redis.pubsub()
        subscriptions = 0
        try:
            async with asyncio.timeout(SERVER_TIMEOUT):
                await connection.subscribe(self._channel + process)
            while True:
                message = await self._next_message(connection)
                subscriptions += message["type"] == "subscribe"
                if subscriptions > 1:
                    raise ServerUnreachableError("it was interrupted")
                if message["type"] in ("subscribe", "message"):
                    yield
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
        raise ServerUnreachableError("it is silent")

    def leave_loop(self) -> None:
        """Forget connections: the next exchange comes from another event loop."""
        if self._url is not None:
            # The gate has its own time limit and its own fallback: a retry in the client would only delay them, and its
            # time limit would start a task for each command.
            self._redis = self._from_url(self._url, retry=None, socket_timeout=None)
            self._closing = None

    async def aclose(self) -> None:
        """Close what was opened."""
        if self._closing is not None:
            closing, self._closing = self._closing, None
            await closing.aclose()

    def _translated(self, error: Exception) -> Exception:
        """Return what an error means: the configuration is wrong, or the server cannot be used for now."""
        causes = _causes_of(error)
        text = "\n".join(map(str, causes))
        codes = _CODE.findall(text)
        name = codes[0] if codes else type(causes[-1]).__name__
        if (rejection := self._rejection(causes, text, name)) is not None:
            return rejection
        if isinstance(causes[-1], self._errors.ResponseError):
            return ServerUnreachableError(f"{self._where} responds with an error ({name})")
        return ServerUnreachableError(f"{self._where} is unreachable ({name})")

    def _rejection(self, causes: list[BaseException], text: str, name: str) -> ServerRejectsError | None:
        kinds = tuple(map(type, causes))
        if self._errors.AuthenticationError in kinds:
            return ServerRejectsError(f"{self._where} rejects the user name or the password in redis ({name})")
        if _NOT_PERMITTED.search(text) or self._errors.NoPermissionError in kinds:
            needed = "the script, its keys, and publish and subscribe on its channels"
            return ServerRejectsError(f"{self._where} does not permit the user what the gate needs ({name}): {needed}")
        if reasons := [str(each.reason or "").lower() for each in causes if isinstance(each, ssl.SSLError)]:
            return ServerRejectsError(f"{self._where} cannot be trusted, or does not speak TLS ({reasons[0]})")
        if kinds[0] is self._errors.InvalidResponse:
            return ServerRejectsError(f"{self._where} does not speak as Redis does: use rediss:// if it expects TLS")
        return ServerRejectsError(f"{self._where} has no such database ({name})") if "DB index" in text else None


async def _closed_with_loop(client: Any) -> AsyncGenerator[None]:
    """Close a client at the end of its event loop at the latest: `asyncio.run` ends the generators that are left."""
    try:
        yield
    finally:
        await client.aclose()


def _address_of(url: str) -> str:
    """Return a URL without its user name and password."""
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.hostname or ''}:{parts.port or 6379}{parts.path}"


async def _expects_tls(url: str | None) -> bool:
    """Return whether a server that shall be used without TLS speaks it: it resets connections that begin otherwise."""
    parts = urlsplit(url or "")
    if parts.scheme != "redis":
        return False
    # Nothing is sent, so nobody has to be trusted.
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    try:
        _, writer = await asyncio.open_connection(parts.hostname or "localhost", parts.port or 6379, ssl=context)
    except OSError:
        return False
    writer.transport.abort()
    return True


def _causes_of(error: BaseException) -> list[BaseException]:
    """Return an error and what caused it: a wrong password comes as the cause of a ConnectionError."""
    causes = [error]
    while (cause := causes[-1].__cause__ or causes[-1].__context__) is not None:
        causes.append(cause)
    return causes
