"""The works, the clients that do them, and the bars: what is aimed at, in one table."""

from dataclasses import dataclass

LIMIT, AIOHTTP, HTTPX, STOCK = "limit", "aiohttp + json", "httpx + json", "stock generated"
DEFAULT, FAST = "ours, default", "ours, fast"
CLIENTS = (LIMIT, AIOHTTP, HTTPX, STOCK, DEFAULT, FAST)
TASKS = 1000


@dataclass(frozen=True, slots=True, kw_only=True)
class Work:
    """A work: what is compared, and the bars as ratios to httpx with plain dictionaries.

    Args:
        default: the most that the client without extras may take; None where nothing is aimed at.
        fast: the most that the client with the extra `fast` may take.
        elapsed: compares elapsed time, because latency is most of it, and not processor time.
        fresh: each measurement has a process of its own, warmed by one call: the first herd is what a program meets.
        repeats: how often a round does it; what is quick varies most.
    """

    name: str
    default: float | None = None
    fast: float | None = None
    elapsed: bool = False
    fresh: bool = False
    repeats: int = 1

    def bar(self, client: str) -> float | None:
        """Return the bar of a client."""
        return {DEFAULT: self.default, FAST: self.fast}.get(client)


WORKS = (
    Work(name="GET", default=0.60, fast=0.22, repeats=3),
    Work(name="PATCH", default=0.60, fast=0.22, repeats=3),
    Work(name="POST 100 objects, small response", default=1.0, fast=0.22, repeats=2),
    Work(name="POST 100 objects, echoed", default=1.0, fast=0.30, repeats=2),
    Work(name="10,000 iTwins, pages of 100", default=1.0, fast=0.65),
    Work(name="10,000 iTwins, pages of 1,000", default=1.5, fast=0.95),
    Work(name="5,000 scene objects, pages of 100", default=1.0, fast=0.65),
    Work(name="1,000 tasks", fast=0.09, fresh=True),
    Work(name="1,000 tasks at 20 ms", elapsed=True, fresh=True),
    # 40 times as fast: the others have no more to offer than page after page.
    Work(name="10,000 iTwins at 100 ms", fast=1 / 40, elapsed=True),
)
QUICK = tuple(work for work in WORKS if not work.elapsed and "pages of 1,000" not in work.name)
