"""A token provider that is watched, with a wall clock that goes with the event loop's."""

import asyncio
from collections.abc import Callable
from datetime import UTC, datetime, timedelta

from itwin_platform import AccessToken, BackoffPolicy, BackoffTransport, Gate

from tests.support.faces import TokenAuth
from tests.support.services import ReceivedRequest, ScriptedTransport, send

START = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)


def wall_clock() -> datetime:
    """The wall clock: the event loop's seconds, from noon on."""
    return START + timedelta(seconds=asyncio.get_running_loop().time())


class WatchedProvider:
    """Gives `t-1`, `t-2` and so on, each after `latency` seconds and for `life` seconds; notes when it is asked."""

    def __init__(self, *, life: float | None = 3600.0, latency: float = 1.0) -> None:
        self.life = life
        self.latency = latency
        self.asked: list[float] = []
        self.failure: BaseException | None = None
        self.always: str | None = None

    async def __call__(self) -> AccessToken:
        """Return the next token, or fails."""
        self.asked.append(asyncio.get_running_loop().time())
        number = len(self.asked)
        await asyncio.sleep(self.latency)
        if self.failure is not None:
            raise self.failure
        expires_at = None if self.life is None else wall_clock() + timedelta(seconds=self.life)
        return AccessToken(self.always or f"t-{number}", expires_at)


class GuardedService(ScriptedTransport):
    """Responds with 401 to every token that `accepts` does not take; each attempt has a token of `provider`."""

    def __init__(
        self,
        provider: WatchedProvider | str | AccessToken | Callable[[], str] | TokenAuth,
        accepts: Callable[[str], bool] = lambda token: True,
        *,
        latency: float = 0.0,
        max_in_flight: int = 10_000,
    ) -> None:
        super().__init__(lambda request: 200 if accepts(_token(request)) else 401, latency=latency)
        self.auth = provider if isinstance(provider, TokenAuth) else TokenAuth(provider, now=wall_clock)
        policy = BackoffPolicy(deadline=None, max_attempts=1)
        self._backoff = BackoffTransport(self, auth=self.auth, gate=Gate(max_in_flight), policy=policy)

    @property
    def tokens(self) -> list[str]:
        """The token of each request."""
        return [_token(request) for request in self.requests]

    async def call(self) -> int:
        """Send one request and return the status of its response."""
        return (await send(self._backoff)).status_code

    async def calls(self, count: int = 100) -> list[int | BaseException]:
        """Send so many requests at once."""
        return await asyncio.gather(*(self.call() for _ in range(count)), return_exceptions=True)


def _token(request: ReceivedRequest) -> str:
    return request.headers["authorization"].removeprefix("Bearer ")
