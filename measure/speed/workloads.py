"""The clients, the workloads and the targets of `make bench`."""

from dataclasses import dataclass

HTTPX, SNIFFIO, HTTPX2 = "httpx + json", "httpx + json, sniffio", "httpx2 + json"
AIOHTTP, MSGSPEC, STOCK, OURS = "aiohttp + json", "aiohttp + msgspec", "stock generator", "this client"
CLIENTS = (HTTPX, SNIFFIO, HTTPX2, STOCK, AIOHTTP, MSGSPEC, OURS)
#: Lower bounds of the processor time: the smallest possible client, two clients in Rust, and decoding alone.
FLOOR, PYREQWEST, RY = "asyncio + httptools + msgspec", "pyreqwest + msgspec", "ry + msgspec"
STRUCTS = "msgspec.Struct, decoding alone"
ANCHORS = (FLOOR, PYREQWEST, RY, STRUCTS)
#: Calls that the workload "1,000 tasks" starts at once.
TASKS = 1_000
#: Numbers of requests in flight: the columns of the table of requests per second.
WIDTHS = (20, 100, 1_000)
#: Clients of a service with latency and their requests in flight: their defaults, and this client with 100 too.
WAITING = ((HTTPX, 100), (AIOHTTP, 100), (OURS, 20), (OURS, 100))
#: The data sets with their words in a title: `one` and `all` have a property that is not documented.
DATA = {"real": "", "one": ", one in 1,000 with a new property", "all": ", all with a new property"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Workload:
    """A workload, with the target of this client.

    Args:
        name: its name in the tables.
        target: highest processor time as a ratio to httpx with json; None for no target.
        data: the data of the service, a key of DATA.
        elapsed: whether to compare elapsed time, which is mostly latency.
        fresh: whether each measurement has a new process, which has made one call.
        repeats: measurements in each round, which counts their median; more for short workloads, which vary most.
    """

    name: str
    target: float | None = None
    data: str = "real"
    elapsed: bool = False
    fresh: bool = False
    repeats: int = 1

    @property
    def title(self) -> str:
        """The name with the words for its data."""
        return self.name + DATA[self.data]


GET = Workload(name="GET", target=0.17, repeats=3)
TASKS_AT_ONCE = Workload(name="1,000 tasks", fresh=True)
PAGES_OF_1000 = "10,000 iTwins, pages of 1,000"
OBJECTS = "5,000 scene objects, pages of 100"
OBJECTS_WITH_DATA = "5,000 scene objects, the data of each read"
WORKLOADS = (
    GET,
    Workload(name="PATCH", target=0.19, repeats=3),
    Workload(name="POST 100 objects, small response", target=0.26, repeats=2),
    Workload(name="POST 100 objects, echoed", target=0.27, repeats=2),
    Workload(name="POST 100 objects as models, small response", target=0.34, repeats=2),
    Workload(name="POST 100 objects as models, echoed", target=0.32, repeats=2),
    Workload(name="10,000 iTwins, pages of 100", target=0.38),
    Workload(name=PAGES_OF_1000, target=0.50),
    Workload(name=OBJECTS, target=0.36),
    Workload(name=OBJECTS_WITH_DATA, target=0.45),
    TASKS_AT_ONCE,
    Workload(name="1,000 tasks over TLS", fresh=True),
    Workload(name="10,000 iTwins at 100 ms, pages in turn", elapsed=True),
    Workload(name="10,000 iTwins at 100 ms, ten pages in flight", elapsed=True),
    # At most 1.3 times and twice the processor time without the property.
    Workload(name=PAGES_OF_1000, data="one", target=0.6),
    Workload(name=PAGES_OF_1000, data="all", target=0.92),
)
#: The workloads in which `msgspec.Struct` decodes the responses without a client.
DECODED = ("10,000 iTwins, pages of 100", PAGES_OF_1000, OBJECTS, OBJECTS_WITH_DATA)
QUICK = tuple(each for each in WORKLOADS if each.data == "real" and not (each.elapsed or each.fresh))


def by_title(title: str) -> Workload:
    """Return the workload with a title."""
    return next(each for each in WORKLOADS if each.title == title)


def is_measured(workload: Workload, client: str) -> bool:
    """Return whether a client runs a workload: the anchors run workloads with real data and without latency only."""
    if client not in ANCHORS:
        return True
    return workload.data == "real" and not workload.elapsed and (client != STRUCTS or workload.name in DECODED)


#: Highest processor time of each of the 1,000 tasks, in microseconds.
TASK_MICROSECONDS = 95.0
#: Highest processor time to import the package and make a client, as a ratio to httpx.
IMPORT_HTTP, IMPORT_HTTPS = 1.2, 1.4
#: Highest peak memory of a listing, in MB.
COLLECT_MEGABYTES, ITERATE_MEGABYTES = 17.0, 6.0
#: Lowest requests per second by requests in flight, as a ratio to the requests per second with 20 in flight.
RATES = {100: 1.0, 1_000: 0.9}
