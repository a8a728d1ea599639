"""A FastAPI service that receives webhook deliveries: it verifies each, responds at once, and handles each once.

`python examples/receive_webhooks.py` signs three deliveries itself and sends them to the service. In production, set
WEBHOOK_SECRET, pass the same secret to `platform.webhooks.activate(webhook_id, secret=...)`, and run
`uvicorn --app-dir examples receive_webhooks:app`.

The platform waits about five seconds for a 2xx and then sends the event again. So the endpoint only verifies the
delivery and puts it into a queue, and a task handles it. An event that comes twice has the same `message_id`.
"""

import asyncio
import json
import logging
import os
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

import httpx
from fastapi import FastAPI, Request, Response
from itwin_platform import DeliveryError, EventType, WebhookDelivery, sign_delivery, verify_delivery

logger = logging.getLogger(__name__)
SECRET = os.environ.get("WEBHOOK_SECRET", "made-up-secret-of-32-characters!")
#: The ids that were received last. Several workers share them in a database.
REMEMBERED = 10_000


class Inbox:
    """The deliveries that wait to be handled by a function, each event once."""

    def __init__(self, handle: Callable[[WebhookDelivery], Awaitable[None]]) -> None:
        self._handle = handle
        self.queue: asyncio.Queue[WebhookDelivery] = asyncio.Queue()
        self._seen: dict[str, None] = {}

    def add(self, delivery: WebhookDelivery) -> bool:
        """Add a delivery; return False for an event that came before."""
        if delivery.message_id in self._seen:
            return False
        self._seen[delivery.message_id] = None
        if len(self._seen) > REMEMBERED:
            del self._seen[next(iter(self._seen))]
        self.queue.put_nowait(delivery)
        return True

    async def run(self) -> None:
        """Handle deliveries until the service ends. An error of the handler is logged, and loses its delivery alone."""
        while True:
            delivery = await self.queue.get()
            try:
                await self._handle(delivery)
            except Exception:
                logger.exception("cannot handle %s %s", delivery.event_type, delivery.message_id)
            finally:
                self.queue.task_done()


async def handle(delivery: WebhookDelivery) -> None:
    """Handle a delivery: replace this by your own code."""
    if delivery.event_type == EventType.ITWINS_ITWIN_CREATED_V1:
        print(f"handled: iTwin {delivery.itwin_id} was created at {delivery.enqueued_at}")
    else:
        print(f"handled: {delivery.event_type}")


@asynccontextmanager
async def lifespan(app: FastAPI) -> AsyncIterator[None]:
    """Handle deliveries while the service runs."""
    app.state.inbox = inbox = Inbox(handle)
    handling = asyncio.create_task(inbox.run())
    yield
    await inbox.queue.join()
    handling.cancel()


app = FastAPI(lifespan=lifespan)


@app.post("/events")
async def receive(request: Request) -> Response:
    """Verify a delivery by its raw body, and respond before it is handled."""
    try:
        delivery = verify_delivery(await request.body(), request.headers.get("signature", ""), secret=SECRET)
    except DeliveryError as error:
        print(f"rejected: {error}")
        return Response(status_code=401)
    inbox: Inbox = request.app.state.inbox
    if not inbox.add(delivery):
        print(f"came before: {delivery.message_id}")
    return Response(status_code=204)


async def main() -> None:
    """Send deliveries to the service as the platform does: one event, the same again, and one with a wrong secret."""
    event = {
        "content": {"iTwinId": "0ce78d7b-eb2a-400d-b843-0b335699ceea"},
        "eventType": "iTwins.iTwinCreated.v1",
        "enqueuedDateTime": "2026-11-22T08:30:05.1234567Z",
        "iTwinId": "0ce78d7b-eb2a-400d-b843-0b335699ceea",
        "messageId": "6f0f2b6e-3b1c-4c52-9df5-1d3fb2c01f3e",
        "webhookId": "f3ffe7e1-a896-4d1b-a9a9-1e9a9f041e8e",
    }
    body = json.dumps(event).encode()
    async with (
        lifespan(app),
        httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://service.example") as platform,
    ):
        for secret in (SECRET, SECRET, "another secret of 32 characters!"):
            headers = {"Signature": sign_delivery(body, secret=secret)}
            response = await platform.post("/events", content=body, headers=headers)
            print(f"POST /events -> {response.status_code}")


if __name__ == "__main__":
    asyncio.run(main())
