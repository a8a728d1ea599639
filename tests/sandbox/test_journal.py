"""The record of each request: times, reasons of its failure, and no secret."""

import asyncio

import httpx
from itwin_platform_sandbox import Sandbox

from tests.support.sandboxes import requests_of, serving


async def test_a_request_is_recorded_with_its_operation(http: httpx.AsyncClient, sandbox: Sandbox) -> None:
    """A record has method, operation, route, raw path, query and status, also of an unknown path."""
    await http.get(f"/scenes/{sandbox.scene_id}/objects", params={"iTwinId": sandbox.itwin_id, "$top": "5"})
    await http.get("/nowhere")
    record, nothing = sandbox.requests
    assert (record.operation, record.method, record.status) == ("list_scene_objects", "GET", 200)
    assert (record.route, record.path) == ("/scenes/{sceneId}/objects", f"/scenes/{sandbox.scene_id}/objects")
    assert record.query == {"iTwinId": sandbox.itwin_id, "$top": "5"}
    assert record.headers["accept"] == "application/json"
    assert record.body is None
    assert (nothing.operation, nothing.route, nothing.status) == (None, None, 404)


async def test_no_secret_is_kept_or_shown() -> None:
    """Secrets that were sent, stored or seeded are nowhere in a record or over HTTP."""
    async with serving() as (sandbox, http):
        requests = requests_of(sandbox)
        secrets = {"access_token": "s3cret-j", "api_key": "s3cret-k", "sig": "s3cret-l", "code": "s3cret-m"}
        await http.get("/itwins/myprimaryaccount", params={**secrets, "$top": "5", "$continuationToken": "MTAw"})
        headers = {"Authorization": "Bearer s3cret-a", "Cookie": "c=s3cret-b", "Proxy-Authorization": "Basic s3cret-c"}
        await http.request(*requests["update_webhook"], json={"secret": "s3cret-d"}, headers=headers)
        bodies: list[object] = [
            {"authentication": {"type": "Basic", "username": "s3cret-e", "password": "s3cret-f"}},
            {"authentication": "s3cret-g", "nested": [{"secret": {"a": "s3cret-h"}}]},
        ]
        for body in bodies:
            await http.request(*requests["update_repository"], json=body)
        await http.request(*requests["update_repository"], content=b"secret=s3cret-i")
        shown = (await http.get("/sandbox/requests")).text
    account, *records = sandbox.requests
    assert account.query == {**dict.fromkeys(secrets, "<hidden>"), "$top": "5", "$continuationToken": "MTAw"}
    hidden = {"type": "Basic", "username": "<hidden>", "password": "<hidden>"}
    assert [record.body for record in records] == [
        {"secret": "<hidden>"},
        {"authentication": hidden},
        {"authentication": "<hidden>", "nested": [{"secret": "<hidden>"}]},
        "<15 bytes that are not JSON>",
    ]
    assert [text for text in ("s3cret", "seeded-password", "seeded-value", "map.reader") if text in shown] == []
    assert "s3cret" not in repr(sandbox.requests)


async def test_in_flight_counts_the_requests_at_the_same_time() -> None:
    """The fourth of four concurrent requests sees four, itself included."""
    all_wait = asyncio.Barrier(4)

    async def sleep(_: float) -> None:
        await all_wait.wait()

    async with serving(latency=1, sleep=sleep) as (sandbox, http):
        await asyncio.gather(*(http.get("/itwins/") for _ in range(4)))
        await asyncio.gather(*(http.get("/itwins/") for _ in range(4)))
    assert sorted(record.in_flight for record in sandbox.requests) == [1, 1, 2, 2, 3, 3, 4, 4]


async def test_times_are_those_of_the_sandboxs_clock() -> None:
    """`started` and `ended` are readings of the clock of the sandbox."""
    readings = map(float, range(100))
    async with serving(clock=lambda: next(readings)) as (sandbox, http):
        await http.get("/itwins/", headers={"Authorization": ""})
    assert [(record.started, record.ended) for record in sandbox.requests] == [(0.0, 1.0)]


async def test_the_journal_is_bounded(http: httpx.AsyncClient, sandbox: Sandbox) -> None:
    """More than 20,000 records, or 16 MiB of them, drop the older half, also after the list was cleared."""
    await http.get("/first")
    sandbox.requests.extend(sandbox.requests * 19_999)
    await http.get("/last")
    assert (len(sandbox.requests), sandbox.requests[-1].path) == (10_001, "/last")
    sandbox.requests.clear()
    for number in range(6):
        await http.post(f"/large/{number}", json={"a": "x" * 4_000_000})
    assert [record.path for record in sandbox.requests] == ["/large/2", "/large/3", "/large/4", "/large/5"]


async def test_each_record_names_its_reasons() -> None:
    """Faults, rate limit and error are named in Python and over HTTP."""
    async with serving(rate="3/1000") as (sandbox, http):
        sandbox.fault("unknown_fields", operation="list_itwins")
        await http.get("/itwins/")
        sandbox.fault("unavailable", operation="get_primary_account")
        await http.get("/itwins/myprimaryaccount")
        await http.request(*requests_of(sandbox)["update_repository"], json={"displayName": ""})
        await http.get("/itwins/")
        await http.get("/itwins/")
        shown = (await http.get("/sandbox/requests?status=429")).json()["requests"]
    limit = "3 requests in 1000 s for each token"
    details = ("displayName: displayName must not be empty.",)
    assert [(each.faults, each.rate_limit, each.error_code, each.error_details) for each in sandbox.requests] == [
        (("unknown_fields",), None, None, ()),
        (("unavailable",), None, "ServiceUnavailable", ()),
        ((), None, "InvalidiTwinsRequest", details),
        ((), None, None, ()),
        ((), limit, "RateLimitExceeded", ()),
    ]
    assert [(record["rate_limit"], record["error_code"]) for record in shown] == [(limit, "RateLimitExceeded")]
