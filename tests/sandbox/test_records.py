"""What the sandbox remembers of each request."""

import asyncio
import json

import httpx
import pytest
from itwin_platform_sandbox import RecordedRequest, Sandbox
from itwin_platform_sandbox._server.journal import Recorder
from itwin_platform_sandbox._service.messages import APIRequest, Body


async def test_a_request_is_recorded_with_its_operation(http: httpx.AsyncClient, sandbox: Sandbox) -> None:
    """Method, operation, route, raw path, query, status and times are there for assertions."""
    await http.get(f"/scenes/{sandbox.scene_id}/objects", params={"iTwinId": sandbox.itwin_id, "$top": "5"})
    (record,) = sandbox.requests
    assert (record.operation, record.method, record.status) == ("list_scene_objects", "GET", 200)
    assert (record.route, record.path) == ("/scenes/{sceneId}/objects", f"/scenes/{sandbox.scene_id}/objects")
    assert record.query == {"iTwinId": sandbox.itwin_id, "$top": "5"}
    assert record.headers["accept"] == "application/json"
    assert record.started <= record.ended
    assert record.body is None


async def test_a_request_for_nothing_is_recorded_too(http: httpx.AsyncClient, sandbox: Sandbox) -> None:
    """Without an operation there is no route, but there is a status."""
    await http.get("/nowhere")
    assert [(record.operation, record.route, record.status) for record in sandbox.requests] == [(None, None, 404)]


async def test_no_record_has_a_secret(http: httpx.AsyncClient, sandbox: Sandbox) -> None:
    """Tokens, cookies, webhook secrets and authentication values are nowhere in a record."""
    headers = {"Authorization": "Bearer s3cret-a", "Cookie": "c=s3cret-b", "Proxy-Authorization": "Basic s3cret-c"}
    await http.patch(f"/webhooks/{sandbox.webhook_id}", json={"secret": "s3cret-d", "active": True}, headers=headers)
    authentication = {"type": "Basic", "username": "s3cret-e", "password": "s3cret-f"}
    url = f"/itwins/{sandbox.itwin_id}/repositories/{sandbox.repository_id}"
    await http.patch(url, json={"authentication": authentication})
    await http.patch(url, json={"authentication": "s3cret-g", "nested": [{"secret": {"a": "s3cret-h"}}]})
    await http.patch(url, content=b"secret=s3cret-i")
    webhook, repository, wrong, text = sandbox.requests
    assert webhook.body == {"secret": "<hidden>", "active": True}
    assert repository.body == {"authentication": {"type": "Basic", "username": "<hidden>", "password": "<hidden>"}}
    assert wrong.body == {"authentication": "<hidden>", "nested": [{"secret": "<hidden>"}]}
    assert text.body == "<15 bytes that are not JSON>"
    assert "s3cret" not in repr(sandbox.requests)


async def test_in_flight_counts_the_requests_at_the_same_time() -> None:
    """The fourth of four concurrent requests sees four, itself included."""
    go_on = asyncio.Event()
    waiting: list[float] = []

    async def sleep(seconds: float) -> None:
        waiting.append(seconds)
        if len(waiting) == 4:
            go_on.set()
        await go_on.wait()

    headers = {"Authorization": "Bearer a"}
    async with (
        Sandbox(itwins=1, latency=1, sleep=sleep) as sandbox,
        httpx.AsyncClient(base_url=sandbox.base_url, headers=headers) as http,
    ):
        await asyncio.gather(*(http.get("/itwins/") for _ in range(4)))
        await http.get("/itwins/")
        assert sorted(record.in_flight for record in sandbox.requests) == [1, 1, 2, 3, 4]


async def test_times_are_those_of_the_sandboxs_clock() -> None:
    """started and ended are readings of the clock that was handed in."""
    readings = iter(range(100))
    async with (
        Sandbox(itwins=1, clock=lambda: float(next(readings))) as sandbox,
        httpx.AsyncClient(base_url=sandbox.base_url) as http,
    ):
        await http.get("/itwins/")
        (record,) = sandbox.requests
    assert (record.started, record.ended) == (0.0, 1.0)


async def test_the_record_is_there_before_the_response_is(http: httpx.AsyncClient, sandbox: Sandbox) -> None:
    """Whoever has a response finds its record, and clearing the list starts over."""
    for count in range(1, 20):
        await http.get("/itwins/?$top=1")
        assert len(sandbox.requests) == count
    sandbox.requests.clear()
    await http.get("/itwins/?$top=1")
    assert len(sandbox.requests) == 1


def test_a_record_cannot_be_changed() -> None:
    """Records are frozen values."""
    recorder = Recorder(lambda: 0.0)
    recorder.begin(APIRequest(method="GET", path="/"), None, None).end(200)
    (record,) = recorder.records
    assert isinstance(record, RecordedRequest)
    with pytest.raises(AttributeError):
        record.status = 500  # type: ignore[misc] # what the test is about


def test_old_records_go_when_there_are_too_many() -> None:
    """A sandbox that runs on keeps a bounded number of records, the latest ones."""
    recorder = Recorder(lambda: 0.0, most=10)
    for number in range(11):
        recorder.begin(APIRequest(method="GET", path=str(number)), None, None).end(200)
    assert [record.path for record in recorder.records] == ["5", "6", "7", "8", "9", "10"]


@pytest.mark.parametrize("where", ["query", "headers", "body"])
def test_the_journal_is_bounded_in_bytes(where: str) -> None:
    """Long texts drop the oldest records; the latest one stays, also after the list was cleared in between."""
    recorder = Recorder(lambda: 0.0, most_bytes=100_000)
    for number in range(20):
        text = f"{number}{'x' * 20_000}"
        texts = {} if where == "body" else {where: {"a": text}}
        recording = recorder.begin(APIRequest(method="GET", path=str(number), **texts), None, None)  # type: ignore[arg-type] # query or headers
        recording.body(Body(json.dumps({"a": text}).encode()) if where == "body" else Body())
        recording.end(200)
        if number == 16:
            assert 1 + (where != "body") <= len(recorder.records) <= 5
            recorder.records.clear()
    assert recorder.records[-1].path == "19"
    assert (recorder.records[-1].body_bytes > 20_000) is (where == "body")
