"""RedisGate: a gate that processes and machines share through Redis or Valkey."""

import asyncio
import json
import math
import random
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

from ..connections.failures import chain_of
from ..errors import UsageError, check_integer
from ..events import GateChanged, tell
from ..names import LOGGER, REDIS_PREFIX
from .gate import Ending, Gate, rates_of
from .queue import Queue
from .window import Permit, RateLimit

#: Seconds after which the permits of a silent process are free: it crashed, was stopped, or lost the server.
LEASE = 4.0
#: Seconds between polls of the first process in the queue. The server wakes the process that is next, so a poll
#: matters only if the wake-up is lost, or if the process that holds the permits is gone.
POLL_INTERVAL = 1.0
#: Seconds by which each further process of the queue polls later...
POLL_STEP = 0.05
#: ... up to this many seconds.
LONGEST_POLL = 10.0
#: Longest time between two exchanges of a waiting process, in seconds, even if it knows a longer wait: the server may
#: lose its state.
_LONGEST_SLEEP = 60.0
#: Seconds between processes that poll at the same moment, by their rank in the queue: without them, up to a fifth more
#: commands reach the server (`make reliability ONLY=shared`)...
_RANK_STEP = 0.002
#: ... up to this many seconds.
_LATEST_RANK = 1.0
#: Seconds after which a server that does not respond counts as unreachable.
SERVER_TIMEOUT = 1.0
#: Seconds until an unreachable server is tried again; each further pause doubles...
FIRST_PAUSE = 1.0
#: ... up to this many seconds.
LONGEST_PAUSE = 10.0
#: Share of a pause that jitter adds at most.
_PAUSE_JITTER = 0.1
#: Seconds for which reports are collected. A 429, and permits that others wait for, are reported at once.
REPORT_DELAY = 0.01
#: Seconds of silence after which a subscription is pinged; without a response in the same time, it is renewed.
_LISTEN_INTERVAL = 1.0
#: The port of a URL that names none.
_PORT = 6379
#: Seconds for a TLS handshake. A server without TLS leaves it without an answer.
_HANDSHAKE = 0.5
#: The code at the beginning of an error; Redis 6.2 puts the place in the script before it.
_CODE = re.compile(r"(?:^|-|: )([A-Z]{3,})\b", re.MULTILINE)

#: A missing permission. Inside a script it has no code: Redis up to 7.0 sends the second text, and later the third.
_NOT_PERMITTED = re.compile("NOPERM|The user executing the script can't|ACL failure in script")

#: The end of a permit of the server: its kind, the number of the permit, when it was granted, and for a 429 the seconds
#: to wait and a jitter from 0 to 1. The kind `cooldown`, with the number 0, reports a cooldown that the server misses.
Report = tuple[str, int, float, *tuple[float, ...]]


class ServerUnreachableError(Exception):
    """The server does not respond, responds too late, or cannot be used for now."""


class ServerRejectsError(Exception):
    """The server rejects the configuration."""


class RedisClient(Protocol):
    """The methods of a redis-py client that the gate calls."""

    def execute_command(self, *args: str | bytes) -> Awaitable[object]:
        """Send a command and return the reply."""
        ...

    def pubsub(self) -> object:
        """Return a connection for subscriptions."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """The reply of the server.

    Args:
        wait: the seconds until a permit may be free; None if it becomes free when another permit ends.
        rank: how many processes are ahead of this one in the queue.
        cooldown: the seconds in which no request may start.
        rejecting_for: the seconds in which only 429s have come; None when the last response was another one.
        is_contended: whether any process waits.
        differs: whether another process has other settings.
        permits: granted now.
    """

    wait: float | None
    rank: int
    cooldown: float
    rejecting_for: float | None
    is_contended: bool
    differs: bool
    permits: Sequence[Permit]

    @property
    def poll_delay(self) -> float:
        """The seconds after which a process that waits asks again."""
        pause = min(POLL_INTERVAL + POLL_STEP * self.rank, LONGEST_POLL) if self.wait is None else self.wait
        return pause + min(self.rank * _RANK_STEP, _LATEST_RANK)


class RedisGate(Gate):
    """A gate that any number of processes and machines share: cooldown, slow start and rates.

    The state lives in Redis 6.2 or newer, or Valkey, under keys that expire. While the server is unreachable, each
    process continues with its share: `max_in_flight` and the rates divided by `workers`. It logs one warning, and
    rejoins by itself. The same holds while the server cannot write: it is full, read-only or failing over. Close the
    gate with `aclose()` or `async with`, after the clients that use it.

    Args:
        redis: a URL, or a client of `redis.asyncio`, which is not closed.
        name: a name for the credential, such as "prod, service app 7". All its processes pass the same one.
            It must not be the token, because tokens rotate.
        max_in_flight: requests in flight at once, of all processes, at least 1.
        rate: one known rate of all processes, or an iterable of them.
        workers: how many processes share the limit, for the time without the server.
        on_event: is called when the server is lost and when it is back; it must not block.
        random_number: returns jitter, from 0 to 1; for tests.

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
        random_number: Callable[[], float] = random.random,
    ) -> None:
        if not isinstance(name, str) or not name.strip():
            raise UsageError("name must say which credential it is, such as 'prod, service app 7'", argument="name")
        workers = check_integer("workers", workers, least=1)
        max_in_flight = check_integer("max_in_flight", max_in_flight, least=1)
        rates = rates_of(rate)
        shares = [RateLimit(max(1, known.requests // workers), known.per) for known in rates]
        super().__init__(math.ceil(max_in_flight / workers), shares, random_number=random_number)
        self._max_in_flight, self._rates = max_in_flight, rates
        # No shares of operations: the server knows none, so a permit goes to the first call of this process.
        self._queue = Queue(most=math.inf)
        self._state = RedisState(redis, name=name, max_in_flight=max_in_flight, rates=rates)
        self._name, self._on_event = name, on_event
        self._session = Session()
        #: Whether the server is unreachable, and the seconds until it is tried again.
        self._is_lost, self._pause = False, FIRST_PAUSE
        #: Whether a 429 is not reported to the server yet, and whether another process waits for a permit.
        self._is_cooldown_unreported = self._is_contended = False
        #: Whether a warning was logged that another process has other settings.
        self._has_warned = False

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *raised: object) -> None:
        await self.aclose()

    def _ended(self, ending: Ending, permit: Permit, *cooldown: float) -> None:
        """Report the end of a permit of the server; of another permit, report only a cooldown."""
        session = self._session
        if (granted := session.held.pop(permit, None)) is not None:
            session.reports.append((ending, granted.number, granted.at, *cooldown))
        elif ending == "rate_limited":
            session.reports.append(("cooldown", 0, 0.0, *cooldown))
        self._is_cooldown_unreported = self._is_cooldown_unreported or ending == "rate_limited"
        # Also when no call waits here: other processes may wait for this permit.
        self._admit()

    async def aclose(self) -> None:
        """End all waits with StateError, report the permits that ended, and close the connections that it opened."""
        if self._closed:
            return
        await super().aclose()
        session = self._session
        if session.exchange_task is not None:
            # An exchange in flight ends first: it may grant permits, which have to be returned.
            session.wake_at(0.0)
            await asyncio.wait([session.exchange_task])
        if session.is_known:
            await self._exchange()
        try:
            await self._state.aclose()
        except Exception:  # noqa: BLE001  # the gate is closed already: a failure here changes nothing
            LOGGER.debug("closing the server of gate %r failed", self._name, exc_info=True)

    @property
    def _is_in_use(self) -> bool:
        return self._session.is_exchanging or super()._is_in_use

    def _leave_loop(self) -> None:
        super()._leave_loop()
        self._session = Session()
        if self._loop is not None:
            self._state.leave_loop()

    def _begin_at_once(self, operation: Hashable, now: float) -> Permit | None:
        if not self._is_lost:
            return None
        self._exchange_within(0.0)  # the server may be back
        return super()._begin_at_once(operation, now)

    def _admit(self) -> None:
        if self._is_lost:
            super()._admit()
        if self._closed:
            return
        if self._operations.windows:
            self._set_timer()
        # Not one exchange for each new call: many calls begin at the same time.
        if 2 * self._session.requested < self._ready():
            self._exchange_within(0.0)
        elif self._session.reports:
            is_urgent = self._queue.waiting or self._is_contended or self._is_cooldown_unreported
            self._exchange_within(0.0 if is_urgent else REPORT_DELAY)

    def _ready(self) -> int:
        """Count the waiting calls of operations that may start."""
        return self._queue.count(self._is_operation_ready) if self._operations.windows else self._queue.waiting

    def _set_timer(self) -> None:
        """Run `_admit` when the first cooldown of a waiting operation ends."""
        self._stop_timer()
        waits = [self.cooldown_left(waiter.operation) for waiter in self._queue.heads()]
        if self._loop is not None and (until := min([wait for wait in waits if wait > 0], default=0.0)):
            self._timer = self._loop.call_later(until, self._admit)

    def _is_operation_ready(self, operation: Hashable) -> bool:
        """Return whether no limit of the operation alone stops it."""
        operation_window = self._operations.windows.get(operation)
        return operation_window is None or operation_window.next_start(self._now()) == 0

    def _exchange_within(self, seconds: float) -> None:
        loop, session = self._loop, self._session
        if loop is None or loop.is_closed():
            return
        due = loop.time() + seconds
        if not session.is_exchanging:
            session.due = due if not self._is_lost else max(due, session.due)
            session.exchange_task = loop.create_task(self._run())
        elif not self._is_lost and due < session.due:
            session.wake_at(due)

    async def _run(self) -> None:
        """Exchange with the server as long as a call waits or holds a permit."""
        while not self._closed and (self._queue.waiting or self._session.reports or self._window.slow_start.in_flight):
            await self._session.until_due()
            await self._exchange()
        self._session.stop_listening()

    async def _exchange(self) -> None:
        now, session = asyncio.get_running_loop().time(), self._session
        reports, session.reports = session.reports, []
        if self._is_lost:
            # The server ends the permits that are not kept, without a report. Only a cooldown has to be reported.
            left = self._window.cooldown.left(now)
            reports = [("cooldown", 0, 0.0, left)] if left > 0 else []
        self._is_cooldown_unreported = False
        session.requested = self._ready()
        session.due = now + (LEASE / 2 if session.held else _LONGEST_SLEEP)
        try:
            async with asyncio.timeout(SERVER_TIMEOUT):
                reply = await self._state.exchange(
                    process=session.process,
                    rejoins=not session.is_known,
                    wants=session.requested,
                    listens=session.listens,
                    kept=session.renew_lease(now),
                    reports=reports,
                )
        except Exception as error:  # noqa: BLE001  # after any failure, no call may wait for the server
            if isinstance(error, ServerRejectsError):
                session.is_known = False
                self._queue.fail_all(UsageError(f"RedisGate: {error}"))
            else:
                self._lose(str(error) or f"no response within {SERVER_TIMEOUT:g} s")
        else:
            self._apply(reply)

    def _apply(self, reply: Reply) -> None:
        now, session = asyncio.get_running_loop().time(), self._session
        if self._is_lost:
            self._is_lost = False
            self._stop_timer()
            tell(GateChanged(name=self._name, is_shared=True, reason=None), self._on_event)
        session.is_known, self._pause = True, FIRST_PAUSE
        if reply.differs and not self._has_warned:
            self._has_warned = True
            LOGGER.warning(
                "gate %r: another process has other settings: pass it the same max_in_flight and rate", self._name
            )
        self._is_contended = reply.is_contended
        if not self._is_cooldown_unreported:
            self._window.follow_server(now=now, left=reply.cooldown, rejecting_for=reply.rejecting_for)
        self._reject()
        for granted in reply.permits:
            self._grant(granted)
        if self._operations.windows:
            self._set_timer()
        if not self._ready():
            return
        if not session.listens and session.listener is None:
            session.listener = asyncio.create_task(self._listen())
        session.due = min(session.due, now + reply.poll_delay)

    def _grant(self, granted: Permit) -> None:
        session, now = self._session, asyncio.get_running_loop().time()
        session.requested = max(0, session.requested - 1)
        ready = [waiter for waiter in self._queue.heads() if self._is_operation_ready(waiter.operation)]
        if ready and not self._is_cooldown_unreported:
            waiter = self._queue.first(*ready, now=now)
            permit = self._begin(waiter.operation, now)
            session.held[permit] = granted
            self._queue.grant(waiter, permit)
            self._exchange_within(LEASE / 2)
        else:
            session.reports.append(("unused", granted.number, granted.at))
        self._admit()

    async def _listen(self) -> None:
        session = self._session
        wake_ups = self._state.wake_ups(session.process)
        try:
            while True:
                await anext(wake_ups)
                session.listens = True
                self._exchange_within(0.0)
        except Exception as error:  # noqa: BLE001  # any failure: this process polls until it is subscribed again
            LOGGER.warning("gate %r: the lost subscription is renewed: %s", self._name, error)
            session.listener, session.listens = None, False
            if isinstance(error, ServerRejectsError):
                self._queue.fail_all(UsageError(f"RedisGate: {error}"))
            self._exchange_within(FIRST_PAUSE)

    def _lose(self, reason: str) -> None:
        """Continue without the server, with the share of this process."""
        session, now = self._session, asyncio.get_running_loop().time()
        session.is_known = False
        session.reports.clear()
        session.stop_listening()
        session.due = now + self._pause * (1 + _PAUSE_JITTER * self._random_number())
        self._pause = min(2 * self._pause, LONGEST_PAUSE)
        if not self._is_lost:
            self._is_lost = True
            tell(GateChanged(name=self._name, is_shared=False, reason=reason), self._on_event)
        self._admit()


class Session:
    """The exchanges of one process with the server, in one event loop."""

    def __init__(self) -> None:
        #: The name of the process at the server; not made with the gate, because a web server forks workers after that.
        self.process: str = uuid.uuid4().hex
        #: The permits of the server by those of this process, and the ends that are not reported yet.
        self.held: dict[Permit, Permit] = {}
        self.reports: list[Report] = []
        #: How many permits were requested from the server, and not granted yet.
        self.requested: int = 0
        #: Whether the server knows which permits this process holds, and when their lease was renewed last.
        self.is_known: bool = False
        self._kept_at = -math.inf
        #: When the next exchange is due, and an event that is set when it becomes earlier.
        self.due: float = 0.0
        self._changed = asyncio.Event()
        #: The task of the exchanges, the task of the subscription, and whether that is subscribed.
        self.exchange_task: asyncio.Task[None] | None = None
        self.listener: asyncio.Task[None] | None = None
        self.listens: bool = False

    @property
    def is_exchanging(self) -> bool:
        """Whether the task of the exchanges runs."""
        return self.exchange_task is not None and not self.exchange_task.done()

    def wake_at(self, due: float) -> None:
        """Make the next exchange earlier."""
        self.due = due
        self._changed.set()

    async def until_due(self) -> None:
        """Wait until the next exchange is due."""
        loop = asyncio.get_running_loop()
        while loop.time() < self.due:
            self._changed.clear()
            with suppress(TimeoutError):
                async with asyncio.timeout_at(self.due):
                    await self._changed.wait()

    def renew_lease(self, now: float) -> list[int]:
        """Renew the lease in the exchange at this time, unless it is young; return the permits to renew."""
        if self.is_known and now < self._kept_at + LEASE / 3:
            return []
        self._kept_at = now
        return [granted.number for granted in self.held.values()]

    def stop_listening(self) -> None:
        """End the subscription, and expect no more permits."""
        self.listens, self.requested = False, 0
        if self.listener is not None:
            self.listener.cancel()
            self.listener = None


class RedisState:
    """The state of a gate on the server: the script `exchange.lua`, and a channel for each process that waits."""

    def __init__(
        self, redis: str | RedisClient, *, name: str, max_in_flight: int, rates: tuple[RateLimit, ...]
    ) -> None:
        try:
            # Not by an import statement, which a type checker rejects where the extra is not installed.
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
        #: The number of keys and the keys, as EVAL takes them.
        self._keys = [str(len(keys)), *keys]
        self._channel = prefix + "process:"
        shared_rates = [(rate.requests, rate.counted_for) for rate in rates]
        settings = json.dumps((max_in_flight, shared_rates))
        self._settings = (self._channel, LEASE, max_in_flight, shared_rates, settings)
        # The package may be in a zip file.
        self._script = files(__name__.rpartition(".")[0]).joinpath("exchange.lua").read_bytes()
        self._digest = sha1(self._script, usedforsecurity=False).hexdigest()

    async def exchange(
        self, *, process: str, rejoins: bool, wants: int, listens: bool, kept: Sequence[int], reports: Sequence[Report]
    ) -> Reply:
        """Report the permits that ended, and request new ones.

        Args:
            process: the name of the process.
            rejoins: whether it had lost the server: all its permits there end, except those in `kept`.
            wants: how many of its tasks wait.
            listens: whether it is subscribed to wake-ups.
            kept: the numbers of the permits whose lease is renewed.
            reports: the permits that ended since the last exchange.

        Raises:
            ServerUnreachableError: the server cannot be used for now.
            ServerRejectsError: the configuration is wrong.
        """
        arguments = json.dumps((*self._settings, process, rejoins, wants, listens, kept, reports)).encode()
        try:
            if not self._is_permitted:
                await self._check_permissions(process)
            reply: Any = await self._run_script(arguments)
        except (self._errors.RedisError, OSError) as error:
            failure = self._translated(error)
            has_answered = self._is_permitted or isinstance(failure, ServerRejectsError)
            if not has_answered and await _expects_tls(self._url):
                failure = ServerRejectsError(f"{self._where} expects TLS: use rediss:// in redis")
            if isinstance(failure, ServerRejectsError):
                await self.aclose()  # redis-py 5.0 would go on in another database than the one that was rejected
            raise failure from error
        wait, rank, cooldown, rejecting_for, waiting, differs, at, *numbers = reply.split()
        return Reply(
            wait=None if float(wait) < 0 else float(wait),
            rank=int(rank),
            cooldown=float(cooldown),
            rejecting_for=None if float(rejecting_for) < 0 else float(rejecting_for),
            is_contended=bool(int(waiting)),
            differs=bool(int(differs)),
            permits=[Permit(number=int(number), at=float(at)) for number in numbers],
        )

    async def _check_permissions(self, process: str) -> None:
        """Subscribe and publish once, so that a missing permission fails the first call, and not a later one."""
        connection: Any = self._redis.pubsub()
        try:
            await connection.subscribe(self._channel + process)
            await connection.get_message(timeout=SERVER_TIMEOUT)
        finally:
            await connection.aclose()
        # After `aclose`, so that the command takes the same connection from the pool.
        await self._redis.execute_command("PUBLISH", self._channel + process, b"")
        self._is_permitted = True

    async def _run_script(self, arguments: bytes) -> object:
        if self._url is not None and self._closing is None:
            self._closing = _closed_with_loop(self._redis)
            await anext(self._closing)
        with suppress(self._errors.NoScriptError):
            return await self._redis.execute_command("EVALSHA", self._digest, *self._keys, arguments)
        return await self._redis.execute_command("EVAL", self._script, *self._keys, arguments)

    async def wake_ups(self, process: str) -> AsyncGenerator[None]:
        """Yield when wake-ups can be received, and with each of them; raise when the subscription is lost."""
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
        """Return the next message or pong. A silent subscription is pinged: its connection may be dead."""
        for _ in range(2):
            if (message := await connection.get_message(timeout=_LISTEN_INTERVAL)) is not None:
                return message
            await connection.ping()
        raise ServerUnreachableError("no response to a ping")

    def leave_loop(self) -> None:
        """Drop the connections: the next exchange runs in another event loop."""
        if self._url is not None:
            # The gate has a time limit and a fallback. A retry of the client would delay both, and its time limit would
            # start a task for each command.
            self._redis = self._from_url(self._url, retry=None, socket_timeout=None)
            self._closing = None

    async def aclose(self) -> None:
        """Close the connections of a URL."""
        if self._closing is not None:
            closing, self._closing = self._closing, None
            await closing.aclose()

    def _translated(self, error: Exception) -> Exception:
        """Return the error for a failure of redis-py: a wrong configuration, or a server that is unusable for now."""
        causes = list(chain_of(error))  # a wrong password is the cause of a ConnectionError
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
            return ServerRejectsError(f"{self._where} denies the user a needed permission ({name}): {needed}")
        if reasons := [str(cause.reason or "").lower() for cause in causes if isinstance(cause, ssl.SSLError)]:
            return ServerRejectsError(f"{self._where} cannot be trusted, or does not speak TLS ({reasons[0]})")
        if kinds[0] is self._errors.InvalidResponse:
            return ServerRejectsError(f"{self._where} does not speak as Redis does: use rediss:// if it expects TLS")
        return ServerRejectsError(f"{self._where} has no such database ({name})") if "DB index" in text else None


async def _closed_with_loop(client: Any) -> AsyncGenerator[None]:
    """Close a client at the latest with its event loop: `asyncio.run` closes the generators that are left."""
    try:
        yield
    finally:
        await client.aclose()


def _address_of(url: str) -> str:
    """Return a URL without its user name and password."""
    parts = urlsplit(url)
    port = "" if parts.port else f":{_PORT}"
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{port}{parts.path}"


async def _expects_tls(url: str | None) -> bool:
    """Return whether the server of a redis:// URL expects TLS. Such a server resets connections that begin without."""
    if url is None or (parts := urlsplit(url)).scheme != "redis":
        return False
    # Nothing is sent, so the certificate does not matter.
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    try:
        async with asyncio.timeout(_HANDSHAKE):
            _, writer = await asyncio.open_connection(parts.hostname or "localhost", parts.port or _PORT, ssl=context)
    except OSError:
        return False
    writer.transport.abort()
    return True
