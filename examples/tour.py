"""A tour of the client: all eight operations against the local sandbox, over real HTTP.

Run it with `make demo`. An application would contain the same code as each step; `Journal` prints the requests.
"""

import asyncio
import time

from itwin_platform import (
    BasicAuthentication,
    ConflictError,
    ErrorCode,
    PlatformClient,
    RepositoryOptions,
    UsageError,
    escape,
)
from itwin_platform_sandbox import Sandbox
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TimeElapsedColumn

ITWINS = 10_000


class Journal:
    """Headings, results, and the requests that the sandbox has received since the last step."""

    def __init__(self, sandbox: Sandbox, console: Console) -> None:
        self._sandbox = sandbox
        self._console = console
        self._seen = 0

    def heading(self, text: str) -> None:
        """Start a step."""
        self._console.print(f"\n[bold]{text}[/bold]")

    def sent(self, most: int = 3) -> None:
        """Print the first `most` of the new requests."""
        requests = self._sandbox.requests[self._seen :]
        self._seen += len(requests)
        for request in requests[:most]:
            query = "&".join(f"{name}={value}" for name, value in request.query.items())
            self._console.print(
                f"  [cyan]{request.method} {request.path}{'?' + query if query else ''}[/cyan] -> {request.status}",
                highlight=False,
                soft_wrap=True,
            )
            if request.body is not None:
                self._console.print(f"    sent {request.body}", highlight=False, markup=False, soft_wrap=True)
        if len(requests) > most:
            self._console.print(f"  ... and {len(requests) - most} more requests")

    def say(self, text: object) -> None:
        """Print a result."""
        self._console.print(f"  {text}", highlight=False, markup=False, soft_wrap=True)


async def itwins(platform: PlatformClient, journal: Journal, console: Console) -> None:
    """Get the primary account, and read a long listing with a progress bar."""
    journal.heading("Get the primary account")
    account = await platform.itwins.get_primary_account()
    journal.sent()
    journal.say(f"{account.display_name} ({account.class_}, {account.status})")

    journal.heading(f"List {ITWINS} iTwins, four pages in flight")
    pager = platform.itwins.list(representation="full", page_size=100, max_return=ITWINS, limit=ITWINS, concurrency=4)
    columns = ("  ", BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=console) as progress:
        bar = progress.add_task("iTwins", total=ITWINS)
        async for page in pager.pages():
            progress.advance(bar, len(page.items))
    journal.sent()
    journal.say(f"{pager.items_read} iTwins in {pager.pages_read} pages; X-Max-Return {pager.max_return}")
    journal.say("truncated: the cap was reached, there may be more" if pager.truncated else "complete")


async def repositories(platform: PlatformClient, journal: Journal, sandbox: Sandbox) -> None:
    """Replace complete objects, send a partial one, and catch a typed error."""
    itwin_id, repository_id = sandbox.itwin_id, sandbox.repository_ids["UrlTemplate"]

    journal.heading("Update a repository: authentication and options replace the stored objects")
    repository = await platform.repositories.update(
        itwin_id,
        repository_id,
        authentication=BasicAuthentication(username="survey", password="correct horse"),
        options=RepositoryOptions(query_parameters={"style": "dark"}, minimum_level=2, maximum_level=18),
    )
    journal.sent()
    journal.say(f"stored, and hidden in repr: {repository.authentication!r}")

    journal.heading("Change one option: start from the stored object")
    if repository.options:
        options = repository.options.replace(minimum_level=3)
        repository = await platform.repositories.update(itwin_id, repository_id, options=options)
    journal.sent()
    journal.say(f"now {repository.options!r}")

    journal.heading("A partial authentication is rejected before anything is sent")
    try:
        await platform.repositories.update(
            itwin_id, repository_id, authentication={"type": "Basic", "password": "battery staple"}
        )
    except UsageError as error:
        journal.say(f"{type(error).__name__}: {error}")

    journal.heading("Create a resource, and catch the typed error of a second one with the same id")
    resource = await platform.repositories.create_resource(
        itwin_id, repository_id, id="contours/2026", display_name="Contour lines"
    )
    journal.say(f"created {resource.id!r}")
    try:
        await platform.repositories.create_resource(itwin_id, repository_id, id=resource.id, display_name="Again")
    except ConflictError as error:
        journal.say(f"{type(error).__name__}: {error}")
        journal.say(f"error.code == ErrorCode.{ErrorCode(error.code or '').name}; attempts: {error.attempts}")
    journal.sent()


async def scenes(platform: PlatformClient, journal: Journal, sandbox: Sandbox) -> None:
    """Create a scene with typed data, and list the objects of another one."""
    journal.heading("Create a scene")
    scene = await platform.scenes.create(
        sandbox.itwin_id,
        display_name="Harbour at <b>dawn</b>",
        objects=[
            {
                "kind": "RepositoryResource",
                "version": "1.0.0",
                "displayName": "City model",
                "data": {
                    "iTwinId": sandbox.itwin_id,
                    "repositoryId": "iModels",
                    "id": "harbour",
                    "class": "iModels",
                },
            }
        ],
    )
    journal.sent()
    journal.say(f"{scene.scene_data.objects[0].data!r}")
    journal.say(f"its name is untrusted; escaped for a page: {escape(scene.display_name)}")

    journal.heading("List the objects of a scene")
    pager = platform.scenes.list_objects(sandbox.scene_id, sandbox.itwin_id)
    kinds: dict[str, int] = {}
    async for item in pager:
        kinds[item.kind] = kinds.get(item.kind, 0) + 1
    journal.sent()
    journal.say(f"{pager.items_read} objects: {kinds}; withheld from us: {pager.is_partial}")


async def detectors_and_webhooks(platform: PlatformClient, journal: Journal, sandbox: Sandbox) -> None:
    """Create a detector, activate a webhook, and retry after a rate limit."""
    journal.heading("Create a detector")
    detector = await platform.detectors.create(name="cracks", type="PhotoObjectDetector", display_name="Cracks")
    journal.sent()
    journal.say(detector)

    journal.heading("Activate a webhook, with a secret of our own")
    webhook = await platform.webhooks.update(sandbox.webhook_id, active=True, secret="made-up-secret-of-32-characters!")
    journal.sent()
    journal.say(f"active: {webhook.active}, {len(webhook.event_types)} event types")

    journal.heading("The client waits for a rate limit: 429 with retry-after 1")
    sandbox.fault("rate_limited", seconds=1)
    began = time.perf_counter()
    await platform.webhooks.deactivate(sandbox.webhook_id, secret="made-up-secret-of-32-characters!")
    journal.sent()
    journal.say(f"succeeded after {time.perf_counter() - began:.1f} s; the program needs no code for this")


async def main() -> None:
    """Start the sandbox and call all operations."""
    console = Console()
    async with (
        Sandbox(itwins=ITWINS, objects=250, latency=0.02) as sandbox,
        PlatformClient(sandbox.base_url, vendor="sandbox", token=sandbox.token) as platform,
    ):
        console.print(f"The sandbox listens at {sandbox.base_url}: {platform!r}", highlight=False, soft_wrap=True)
        journal = Journal(sandbox, console)
        await itwins(platform, journal, console)
        await repositories(platform, journal, sandbox)
        await scenes(platform, journal, sandbox)
        await detectors_and_webhooks(platform, journal, sandbox)
        operations = {request.operation for request in sandbox.requests} - {None}
        console.print(f"\n{len(operations)} operations, {len(sandbox.requests)} requests.")


if __name__ == "__main__":
    asyncio.run(main())
