"""Whether an operation is down, decided from values alone: when it closes, who probes it, and which waits end."""

from collections.abc import Sequence

from ..policy import BackoffPolicy, Progress, delay_before

#: An operation closes when the first attempts of so many calls in a row have found it down.
FAILURES_TO_CLOSE = 5
#: So many paths that failed are remembered, the last ones: a probe with another path tells more.
MOST_PATHS = 64
#: It takes so many times as many failures when all of them are of suspects.
SUSPECTS_SHARE = 5
#: A hostile `retry-after` must not stop an operation for ever. In seconds.
LONGEST_CLOSURE = 3_600.0


class Outage:
    """The failures of one operation in a row, and what they mean for the calls of all tasks.

    After `FAILURES_TO_CLOSE` it is closed: its calls wait. When the delay is over, one of them probes. If it fails, the
    next round begins, with a longer delay. A success ends the outage. The other paths that had failed are suspects from
    then on, until they succeed: bad objects of an operation that works. They tell little of it.

    Args:
        rounds: how often in a row one attempt has found it down for all; 0 while it is open.
        closed_at: when it closed.
        until: when the next call may probe.
        is_probed: whether a call probes it now.
    """

    __slots__ = ("_delay", "_failed_paths", "_has_new_path", "_in_a_row", "closed_at", "is_probed", "rounds", "until")

    def __init__(self) -> None:
        self._in_a_row = 0
        #: Whether each of them is a suspect; the last one that failed is at the end.
        self._failed_paths: dict[str, bool] = {}
        self._has_new_path = False
        self._delay = 0.0
        self.rounds: int = 0
        self.closed_at: float = 0.0
        self.until: float = 0.0
        self.is_probed: bool = False

    def failed(
        self,
        path: str,
        *,
        is_first: bool,
        is_probe: bool,
        named_delay: float,
        policy: BackoffPolicy,
        now: float,
        jitter: float,
    ) -> bool:
        """Count an attempt that found the operation down.

        Args:
            path: what it requested.
            is_first: whether it was the first attempt of its call.
            is_probe: whether its call probes the operation for all.
            named_delay: the delay that its response named, in seconds; 0 when it named none.
            policy: the delays of its call.
            now: the time.
            jitter: from 0 to 1.

        Returns:
            Whether a round begins: the operation closes, or stays closed after its probe.
        """
        is_suspect = self._is_suspect(path)
        if is_first:
            self._in_a_row += 1 if is_suspect else SUSPECTS_SHARE
        closes = self.rounds == 0 and self._in_a_row >= FAILURES_TO_CLOSE * SUSPECTS_SHARE
        if closes:
            self.closed_at = now
        if closes or is_probe:
            self.rounds += 1
            self.is_probed = False
            rounds = Progress(attempts=self.rounds)
            self._delay = delay_before(retry_after=None, progress=rounds, policy=policy, jitter=jitter)
            self.until = now + self._delay
        if self.rounds:
            self.until = max(self.until, now + min(named_delay, LONGEST_CLOSURE))
        return closes or is_probe

    def _is_suspect(self, path: str) -> bool:
        """Note a path that failed; return whether it is a suspect."""
        is_suspect = self._failed_paths.pop(path, False)
        self._failed_paths[path] = is_suspect
        self._has_new_path = self._has_new_path or not is_suspect
        if len(self._failed_paths) > MOST_PATHS:
            del self._failed_paths[next(iter(self._failed_paths))]
        return is_suspect

    def succeeded(self, path: str) -> bool:
        """Open the operation after a success; return whether nothing is left to remember."""
        self.rounds = self._in_a_row = 0
        self.is_probed = False
        self._failed_paths.pop(path, None)
        if self._has_new_path:
            self._failed_paths = dict.fromkeys(self._failed_paths, True)
            self._has_new_path = False
        return not self._failed_paths

    def may_probe(self, now: float) -> bool:
        """Return whether a call may probe: the delay is over, also that of a probe that takes too long."""
        return self.until <= now

    def begin_probe(self, now: float) -> None:
        """Let one call probe: for the length of the last delay, no other one does."""
        self.is_probed = True
        self.until = now + max(self._delay, 0.001)

    def end_probe(self, now: float) -> None:
        """Let another call probe at once: the one that did has ended without finding out."""
        self.is_probed = False
        self.until = now

    def prober(self, paths: Sequence[str]) -> int:
        """Choose who probes, by what they request: what has not failed yet, for the fault may lie in one object."""
        return next((index for index, path in enumerate(paths) if path not in self._failed_paths), 0)

    def ends_wait(self, *, policy: BackoffPolicy, ends_at: float | None, now: float) -> bool:
        """Return whether a call may not wait for the next probe: it comes too late. A probe under way is waited for.

        Args:
            policy: the limits of the call.
            ends_at: when its time is over; None for never.
            now: the time.
        """
        if self.is_probed:
            return False
        return self.until - now > policy.max_wait or (ends_at is not None and self.until >= ends_at)
