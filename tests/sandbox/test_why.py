"""The journal and the page say why a request failed."""

from collections.abc import AsyncIterator
from typing import Any

import httpx
import pytest
from itwin_platform_sandbox import Sandbox

HEADERS = {"Authorization": "Bearer page-test-token"}


@pytest.fixture
async def talkative() -> AsyncIterator[Sandbox]:
    """A sandbox that keeps bodies."""
    async with Sandbox(itwins=5, objects=3, bodies=True, rate="4/1000") as running:
        yield running


@pytest.fixture
async def asked(talkative: Sandbox) -> AsyncIterator[httpx.AsyncClient]:
    """A client whose requests have failed in several ways: a changed page, a fault, a wrong field, a rate limit."""
    talkative.fault("seen_times", operation="list_itwins")
    talkative.fault("unavailable", operation="get_primary_account")
    authentication = {"type": "Basic", "username": "planted-user", "password": "planted-password"}
    repository = f"/itwins/{talkative.itwin_id}/repositories/{talkative.repository_id}"
    async with httpx.AsyncClient(base_url=talkative.base_url, headers=HEADERS) as http:
        await http.get("/itwins/", headers={"Prefer": "return=representation"})
        await http.get("/itwins/myprimaryaccount")
        await http.patch(repository, json={"displayName": "", "authentication": authentication})
        await http.patch(repository, json={"authentication": authentication})
        await http.get("/nowhere")
        await http.get("/itwins/")
        yield http


async def test_each_record_names_its_reasons(asked: httpx.AsyncClient, talkative: Sandbox) -> None:
    """Faults, the rate limit, and code, message and details of the error, in Python and over HTTP alike."""
    changed, replaced, wrong, right, unknown, limited = talkative.requests
    assert (changed.faults, changed.status, changed.error_code) == (("seen_times",), 200, None)
    assert (replaced.faults, replaced.error_code) == (("unavailable",), "ServiceUnavailable")
    assert wrong.error_details == ("displayName: displayName must not be empty.",)
    assert (right.faults, right.error_code, right.error_details) == ((), None, ())
    assert unknown.error_code == "ResourceNotFound"
    assert limited.rate_limit == "4 requests in 1000 s for each token (fixed_window)"
    assert limited.error_code == "RateLimitExceeded"
    shown = (await asked.get("/sandbox/requests", params={"status": "429"})).json()["requests"]
    assert [(item["rate_limit"], item["error_code"]) for item in shown] == [(limited.rate_limit, limited.error_code)]


async def test_bodies_are_kept_on_request_and_without_secrets(asked: httpx.AsyncClient, talkative: Sandbox) -> None:
    """The bodies of requests and responses are in the journal and on the page; secrets are nowhere."""
    record = talkative.requests[3]
    body: Any = record.response_body
    assert body["repository"]["authentication"] == {"type": "Basic", "username": "<hidden>", "password": "<hidden>"}
    page = (await asked.get("/?operation=update_repository")).text
    assert "&#34;repository&#34;:" in page
    for secret in ("planted-user", "planted-password", "page-test-token"):
        assert secret not in page + repr(talkative.requests)


async def test_responses_are_not_kept_by_default(http: httpx.AsyncClient, sandbox: Sandbox) -> None:
    """Without `bodies` a record has no body of a response."""
    await http.get("/itwins/")
    assert sandbox.requests[0].response_body is None


async def test_the_page_shows_the_reasons(asked: httpx.AsyncClient) -> None:
    """One look finds the fault, the rate limit and the wrong field; filters narrow the list; the page refreshes."""
    page = (await asked.get("/")).text
    for text in (
        "<b>fault unavailable:</b> 503",
        "<b>rate limit:</b> 4 requests in 1000 s",
        "<b>InvalidiTwinsRequest:</b>",
        "displayName must not be empty.",
        'http-equiv="refresh" content="5"',
    ):
        assert text in page
    limited = (await asked.get("/?operation=list_itwins&status=429&refresh=0")).text
    assert "GET /itwins/\n" in limited
    assert "myprimaryaccount\n" not in limited
    assert "http-equiv" not in limited
    assert "No request yet with this filter." in (await asked.get("/?status=201")).text


async def test_the_forms_of_the_page_control_the_sandbox(http: httpx.AsyncClient, sandbox: Sandbox) -> None:
    """Rate, latency, snapshots and reset each have a form that leads back to the page, and explains a wrong value."""
    browser = {"Accept": "text/html"}

    async def submit(path: str, **fields: str) -> httpx.Response:
        return await http.post(f"/sandbox/{path}", data=fields, headers=browser)

    responses = [
        await submit("rate", rate="7/60", kind="token_bucket", retry_after="date"),
        await submit("latency", latency="0.01", jitter="0"),
        await submit("snapshots", name=""),
        await submit("snapshots", name="mine"),
        await submit("restore", name="mine"),
    ]
    assert [(response.status_code, response.headers["location"]) for response in responses] == [(303, "/")] * 5
    page = (await http.get("/")).text
    assert "Rate limit: 7 requests in 60 s for each token (token_bucket)" in page
    assert 'value="7/60"' in page
    assert 'value="0.01"' in page
    assert "Restore mine" in page
    wrong = await submit("rate", rate="many")
    assert wrong.status_code == 422
    assert 'id="error-rate-rate" role="alert">rate: must be requests/seconds' in wrong.text
    assert 'value="many"' in wrong.text
    assert "http-equiv" not in wrong.text
    assert (await submit("rate", rate="")).status_code == 303
    assert (await http.get("/sandbox/rate")).json() is None
    assert (await submit("reset")).status_code == 303
    assert (await http.get("/sandbox/snapshots")).json() == {"snapshots": []}


async def test_any_page_may_use_the_service_and_none_the_controls() -> None:
    """`*` opens the service; the control interface needs a named origin, as its error and the page say."""
    origin = {"Origin": "http://evil.example"}
    async with (
        Sandbox(itwins=1, cors=["*", "http://localhost:3000"]) as sandbox,
        httpx.AsyncClient(base_url=sandbox.base_url, headers=HEADERS) as http,
    ):
        service = await http.get("/itwins/", headers=origin)
        read = await http.get("/sandbox", headers=origin)
        control = await http.post("/sandbox/reset", headers=origin)
        named = await http.post("/sandbox/reset", headers={"Origin": "http://localhost:3000"})
        page = (await http.get("/")).text
    assert service.headers["access-control-allow-origin"] == "*"
    assert "access-control-allow-origin" not in read.headers
    assert control.status_code == 403
    assert "--cors http://localhost:3000" in control.json()["error"]["message"]
    assert named.headers["access-control-allow-origin"] == "http://localhost:3000"
    assert "The control interface is open to named origins only" in page


@pytest.mark.parametrize("origin", ["http://a.example\r\nX: y", "a.example", "http://a.example/path", ""])
async def test_the_origin_of_a_fault_is_an_origin(http: httpx.AsyncClient, sandbox: Sandbox, origin: str) -> None:
    """A line break, a path or no scheme is rejected, in Python and over HTTP."""
    with pytest.raises(ValueError, match="origin: "):
        sandbox.fault("next_foreign", origin=origin)
    response = await http.post("/sandbox/faults", json={"name": "next_foreign", "origin": origin})
    assert response.status_code == (422 if origin else 201)  # an empty field of a form is an omitted one
