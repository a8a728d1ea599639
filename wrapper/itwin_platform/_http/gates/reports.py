"""What a process has to report to the engine: permits that ended, and what it spent of the retry budget."""

from dataclasses import dataclass

from ..policy import RetryBudget
from .engine import Kind, Report
from .window import Permit


@dataclass(slots=True, kw_only=True)
class _Held:
    granted: Permit
    sent_at: float | None = None
    is_sent_reported: bool = False


class Reports:
    """The permits of the engine that this process holds, and what became of those that it held."""

    __slots__ = ("_counts_sent", "_held", "_waiting")

    def __init__(self, *, counts_sent: bool) -> None:
        #: Whether a rate needs to know when a request was sent.
        self._counts_sent = counts_sent
        self._held: dict[Permit, _Held] = {}
        self._waiting: list[Report] = []

    def __bool__(self) -> bool:
        return bool(self._waiting)

    @property
    def holds(self) -> bool:
        """Whether a permit of the engine has not ended."""
        return bool(self._held)

    def hold(self, permit: Permit, *, granted: Permit) -> None:
        """Note which permit the engine has granted for one of this process."""
        self._held[permit] = _Held(granted=granted)

    def sending(self, permit: Permit, *, now: float) -> bool:
        """Note that a request goes out; return whether that must be reported before its end."""
        if (held := self._held.get(permit)) is not None:
            held.sent_at = now
        return held is not None and self._counts_sent

    def end(self, permit: Permit, kind: Kind, *, now: float, value: float = 0.0, jitter: float = 0.0) -> None:
        """Report what a permit ended in; of one that the engine does not know, or no longer, only a cooldown."""
        if (held := self._held.pop(permit, None)) is not None:
            self._report_sent(held, now=now)
            kind = "unused" if kind == "abandoned" and held.sent_at is None else kind
            self._waiting.append(Report(kind=kind, permit=held.granted, value=value, jitter=jitter))
        elif kind == "rate_limited":
            self._waiting.append(Report(kind="cooldown", value=value))

    def unused(self, granted: Permit) -> None:
        """Report a permit that nobody waited for."""
        self._waiting.append(Report(kind="unused", permit=granted))

    def take(self, *, now: float) -> list[Report]:
        """Return what is to be reported, once."""
        for held in self._held.values():
            self._report_sent(held, now=now)
        reports, self._waiting = self._waiting, []
        return reports

    def forget(self) -> None:
        """Drop everything: the engine was lost, or has given the permits back."""
        self._held.clear()
        self._waiting.clear()

    def _report_sent(self, held: _Held, *, now: float) -> None:
        if self._counts_sent and held.sent_at is not None and not held.is_sent_reported:
            held.is_sent_reported = True
            self._waiting.append(Report(kind="sent", permit=held.granted, value=now - held.sent_at))


class SharedBudget(RetryBudget):
    """The part of a shared retry budget that this process sees, with what it has not reported yet."""

    __slots__ = ("unreported",)

    def __init__(self, capacity: int) -> None:
        super().__init__(capacity)
        self.unreported: int = 0

    def spend(self, cost: int) -> None:
        """Take the cost of one retry."""
        super().spend(cost)
        self.unreported -= cost

    def refund(self, spent: int) -> None:
        """Give back what the last retry of a successful call spent."""
        before = self.left
        super().refund(spent)
        self.unreported += self.left - before
