"""The settings of a sandbox, and its sources of time and randomness."""

import random
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import datetime

from .._service.rate_limit import RateLimit


@dataclass(frozen=True, slots=True, kw_only=True)
class Environment:
    """Time, sleep and randomness of a sandbox."""

    clock: Callable[[], float]
    now: Callable[[], datetime]
    sleep: Callable[[float], Awaitable[None]]
    random: random.Random


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """How the sandbox behaves at the start and after a reset."""

    host: str
    port: int
    path_prefix: str
    public_url: str | None
    any_token: bool
    token: str
    vendor: str | None
    rate: RateLimit | None
    latency: float
    jitter: float
    as_seen: bool
    strict: bool
    tls: bool
    cors: tuple[str, ...]
    allowed_hosts: tuple[str, ...]
