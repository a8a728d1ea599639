"""The clients, the workloads and the targets: what `make bench` measures, and what this project allows itself."""

from dataclasses import dataclass

HTTPX, SNIFFIO, HTTPX2 = "httpx + json", "httpx + json, sniffio", "httpx2 + json"
AIOHTTP, MSGSPEC, STOCK, OURS = "aiohttp + json", "aiohttp + msgspec", "stock generator", "this client"
CLIENTS = (HTTPX, SNIFFIO, HTTPX2, STOCK, AIOHTTP, MSGSPEC, OURS)
#: What does the least work, and the fastest clients there are: a table of their own compares them.
FLOOR, PYREQWEST, RY = "asyncio + httptools + msgspec", "pyreqwest + msgspec", "ry + msgspec"
STRUCTS = "msgspec.Struct, decoding alone"
ANCHORS = (FLOOR, PYREQWEST, RY, STRUCTS)
#: How many calls the workload of tasks starts at once, and the widths of requests per second.
TASKS = 1_000
WIDTHS = (20, 100, 1_000)
#: The cases of tasks that wait for a service: the client, and how many requests it has in flight; both by default, and
#: this client with as many as the others.
WAITING = ((HTTPX, 100), (AIOHTTP, 100), (OURS, 20), (OURS, 100))
#: The data in words: `real` looks like that of a service, and `ascii` has short numbers and names.
DATA = {
    "real": "",
    "ascii": ", ASCII data",
    "one": ", one in 1,000 with a new property",
    "all": ", all with a new property",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Workload:
    """A workload, with the target of this client.

    Args:
        name: as the tables show it.
        target: the most processor time, as a ratio to httpx with json; None for no target.
        data: the data of the service, by the key of DATA.
        elapsed: compare elapsed time, which is mostly latency.
        fresh: run each measurement in a new process after one call, because a program starts its first tasks once.
        repeats: how often a round repeats the workload, because short workloads vary most; the median is its figure.
    """

    name: str
    target: float | None = None
    data: str = "real"
    elapsed: bool = False
    fresh: bool = False
    repeats: int = 1

    @property
    def title(self) -> str:
        """The name, with the data if it is not the real one."""
        return self.name + DATA[self.data]


GET = Workload(name="GET", target=0.17, repeats=3)
TASKS_AT_ONCE = Workload(name="1,000 tasks", fresh=True)
TASKS_OVER_TLS = Workload(name="1,000 tasks over TLS", fresh=True)
PAGES_IN_TURN = Workload(name="10,000 iTwins at 100 ms, pages in turn", elapsed=True)
PAGES_IN_FLIGHT = Workload(name="10,000 iTwins at 100 ms, ten pages in flight", elapsed=True)
POST_ECHOED = "POST 100 objects, echoed"
POST_MODELS_ECHOED = "POST 100 objects as models, echoed"
PAGES_OF_1000 = "10,000 iTwins, pages of 1,000"
OBJECTS = "5,000 scene objects, pages of 100"
OBJECTS_WITH_DATA = "5,000 scene objects, the data of each read"
WORKLOADS = (
    GET,
    Workload(name="PATCH", target=0.19, repeats=3),
    Workload(name="POST 100 objects, small response", target=0.26, repeats=2),
    Workload(name=POST_ECHOED, target=0.27, repeats=2),
    Workload(name="POST 100 objects as models, small response", target=0.34, repeats=2),
    Workload(name=POST_MODELS_ECHOED, target=0.32, repeats=2),
    Workload(name="10,000 iTwins, pages of 100", target=0.38),
    Workload(name=PAGES_OF_1000, target=0.50),
    Workload(name=OBJECTS, target=0.36),
    Workload(name=OBJECTS_WITH_DATA, target=0.45),
    TASKS_AT_ONCE,
    TASKS_OVER_TLS,
    PAGES_IN_TURN,
    PAGES_IN_FLIGHT,
    # At most 1.3 and 2 times as much as without the property.
    Workload(name=PAGES_OF_1000, data="one", target=0.6),
    Workload(name=PAGES_OF_1000, data="all", target=0.92),
    *(Workload(name=name, data="ascii") for name in (POST_ECHOED, PAGES_OF_1000, OBJECTS)),
)
#: What `msgspec.Struct` can decode without a client.
DECODED = ("10,000 iTwins, pages of 100", PAGES_OF_1000, OBJECTS, OBJECTS_WITH_DATA)
QUICK = tuple(each for each in WORKLOADS if each.data == "real" and not (each.elapsed or each.fresh))


def is_measured(workload: Workload, client: str) -> bool:
    """Return whether a workload is run with a client: the anchors run those with real data and without latency."""
    if client not in ANCHORS:
        return True
    return workload.data == "real" and not workload.elapsed and (client != STRUCTS or workload.name in DECODED)


#: The most microseconds of one of the tasks, of import and one client as a ratio to httpx, and of peak memory in MB.
TASK_MICROSECONDS = 95.0
IMPORT_HTTP, IMPORT_HTTPS = 1.2, 1.4
COLLECT_MEGABYTES, ITERATE_MEGABYTES = 17.0, 6.0
#: The least requests per second with 100 and with 1,000 in flight, as a ratio to 20 in flight.
RATES = {100: 1.0, 1_000: 0.9}
