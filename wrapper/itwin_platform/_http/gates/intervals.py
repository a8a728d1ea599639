"""When a process of a shared gate asks the engine again, and how soon it reports."""

from collections.abc import Iterable

from .engine import Reply
from .window import RateLimit

#: That a request went out is reported within this share of the shortest rate's seconds, and within so many seconds.
_SENT_DELAY_SHARE, _SENT_DELAY_SECONDS = 0.05, 1.0
#: The first process that waits asks again after this time, each further one so much later, up to the longest: a permit
#: comes without asking, so this matters only when nobody is left who would report the end of one.
POLL_INTERVAL, POLL_STEP, LONGEST_POLL = 1.0, 0.05, 10.0
#: Processes that ask at the same moment do so one after the other.
_RANK_STEP, _LATEST_RANK, _JITTER = 0.002, 1.0, 0.002


def poll_delay(reply: Reply, *, jitter: float) -> float:
    """Return the seconds after which a process that waits asks again; `jitter` is a number from 0 to 1."""
    pause = min(POLL_INTERVAL + POLL_STEP * reply.rank, LONGEST_POLL) if reply.wait is None else reply.wait
    return pause + min(reply.rank * _RANK_STEP, _LATEST_RANK) + jitter * _JITTER


def sent_delay(rates: Iterable[RateLimit]) -> float:
    """Return the seconds within which a process reports that a request went out: its response may take longer."""
    return min([_SENT_DELAY_SECONDS, *(_SENT_DELAY_SHARE * rate.per for rate in rates)])
