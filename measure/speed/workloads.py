"""The workloads, the clients and the bars in one table."""

from dataclasses import dataclass

LIMIT, AIOHTTP, HTTPX, STOCK = "limit", "aiohttp + json", "httpx + json", "stock generated"
DEFAULT, FAST = "ours, default", "ours, fast"
CLIENTS = (LIMIT, AIOHTTP, HTTPX, STOCK, DEFAULT, FAST)
TASKS = 1000


@dataclass(frozen=True, slots=True, kw_only=True)
class Workload:
    """A workload with its bars, which are ratios to httpx with plain dictionaries.

    Args:
        default: The bar of the client without extras; None for no bar.
        fast: The bar of the client with the extra `fast`.
        elapsed: Compare elapsed time, which is mostly latency, and not processor time.
        fresh: Run each measurement in a new process after one call, because a program sends its first herd once.
        repeats: How often a round repeats the workload, because short workloads vary most.
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


WORKLOADS = (
    Workload(name="GET", default=0.60, fast=0.22, repeats=3),
    Workload(name="PATCH", default=0.60, fast=0.22, repeats=3),
    Workload(name="POST 100 objects, small response", default=1.0, fast=0.22, repeats=2),
    Workload(name="POST 100 objects, echoed", default=1.0, fast=0.30, repeats=2),
    Workload(name="10,000 iTwins, pages of 100", default=1.0, fast=0.65),
    Workload(name="10,000 iTwins, pages of 1,000", default=1.5, fast=0.95),
    Workload(name="5,000 scene objects, pages of 100", default=1.0, fast=0.65),
    Workload(name="1,000 tasks", fast=0.09, fresh=True),
    Workload(name="1,000 tasks at 20 ms", elapsed=True, fresh=True),
    # 40 times as fast: the other clients request one page after the other.
    Workload(name="10,000 iTwins at 100 ms", fast=1 / 40, elapsed=True),
)
QUICK = tuple(workload for workload in WORKLOADS if not workload.elapsed and "pages of 1,000" not in workload.name)
