"""Requests counted against a limit, and the delay in a 429 response. Source: sections 7 and 8."""

from datetime import UTC, datetime, timedelta, timezone
from email.utils import parsedate_to_datetime

import httpx
import pytest
from hypothesis import example, given, strategies as st
from itwin_platform_sandbox import RateLimit, Sandbox
from itwin_platform_sandbox._service.rate_limit import RateKind, RequestCounter, RetryAfter, rate_limit_of

NOW = datetime(2024, 5, 1, 12, 0, 0, tzinfo=UTC)


class Clock:
    """Seconds that a test moves."""

    def __init__(self) -> None:
        self.seconds = 0.0

    def __call__(self) -> float:
        """The seconds."""
        return self.seconds


def test_a_fixed_window_begins_with_the_first_request_and_then_starts_over() -> None:
    """A window accepts the number of requests; the delay is the rest of the window."""
    clock = Clock()
    counter = RequestCounter(RateLimit(2, 60), clock)
    waits = []
    for clock.seconds in (5, 6, 7, 64.5, 65, 66, 67):
        waits.append(counter.wait("a"))
    assert waits == [None, None, 58, 0.5, None, None, 58]


def test_a_token_bucket_is_refilled_evenly() -> None:
    """A full bucket allows a burst, then one request for every share of the time."""
    clock = Clock()
    counter = RequestCounter(RateLimit(2, 60, kind="token_bucket"), clock)
    waits = []
    for clock.seconds in (0, 0, 0, 15, 30, 30, 600, 600, 600):
        waits.append(counter.wait("a"))
    assert waits == [None, None, 30, 15, None, 30, None, None, 30]


@example("fixed_window", 1, 64.18268714761321, [0.0, 0.0, 0.0, 64.18268714761321])
@given(
    st.sampled_from(["fixed_window", "token_bucket"]),
    st.integers(1, 50),
    st.floats(0.01, 1000),
    st.lists(st.floats(0, 100), max_size=60),
)
def test_a_client_that_waits_for_retry_after_is_served(
    kind: RateKind, requests: int, per: float, pauses: list[float]
) -> None:
    """After a 429 and exactly its delay, the next request is accepted."""
    clock = Clock()
    counter = RequestCounter(RateLimit(requests, per, kind=kind), clock)
    for pause in pauses:
        clock.seconds += pause
        wait = counter.wait("a")
        if wait is not None:
            assert 0 < wait <= per * (1 + 1e-9)
            clock.seconds += wait + 1e-9
            assert counter.wait("a") is None


async def test_every_token_has_a_limit_of_its_own() -> None:
    """Each token has its own rate, and a rate limited request gives 429 with an integer `retry-after`."""
    clock = Clock()
    async with (
        Sandbox(itwins=1, rate="2/60", clock=clock) as sandbox,
        httpx.AsyncClient(base_url=sandbox.base_url) as http,
    ):
        responses = []
        for token in ("a", "a", "a", "b"):
            clock.seconds += 0.3
            responses.append(await http.get("/itwins/", headers={"Authorization": f"Bearer {token}"}))
    assert [response.status_code for response in responses] == [200, 200, 429, 200]
    assert responses[2].headers["retry-after"] == "60"
    assert responses[2].json()["error"]["code"] == "RateLimitExceeded"


@pytest.mark.parametrize(
    ("form", "expected"),
    [("seconds", "2"), ("decimals", "1.500"), ("none", None), ("garbage", "soon"), ("huge", "1" + "0" * 15)],
)
async def test_an_error_says_when_to_come_back_in_each_form(form: RetryAfter, expected: str | None) -> None:
    """The form of retry-after is chosen with the limit."""
    assert await retry_after_of(form) == (expected, NOW)


async def test_a_date_in_retry_after_is_measured_against_the_responses_own_date() -> None:
    """With the form `date` the header names the second in which the wait is over."""
    text, responded_at = await retry_after_of("date")
    assert text is not None
    assert parsedate_to_datetime(text) - responded_at == timedelta(seconds=2)


async def test_whoever_obeys_a_date_is_not_rate_limited_again() -> None:
    """A date in `retry-after` is rounded up, so it is never too early."""
    limit = RateLimit(1, 1.5, retry_after="date")
    for tenths in range(10):
        clock = Clock()

        def now(clock: Clock = clock, tenths: int = tenths) -> datetime:
            return NOW + timedelta(seconds=clock.seconds + tenths / 10)

        async with (
            Sandbox(itwins=1, rate=limit, clock=clock, now=now) as sandbox,
            httpx.AsyncClient(base_url=sandbox.base_url, headers={"Authorization": "Bearer a"}) as http,
        ):
            await http.get("/itwins/")
            limited = await http.get("/itwins/")
            clock.seconds += (parsedate_to_datetime(limited.headers["retry-after"]) - now()).total_seconds()
            assert (await http.get("/itwins/")).status_code == 200, tenths


async def test_the_date_of_a_response_is_in_gmt_whatever_zone_the_clock_has() -> None:
    """A clock of another zone gives the same header."""
    zone = timezone(timedelta(hours=5))
    async with (
        Sandbox(itwins=1, now=lambda: NOW.astimezone(zone)) as sandbox,
        httpx.AsyncClient(base_url=sandbox.base_url) as http,
    ):
        response = await http.get("/itwins/")
    assert response.headers["date"] == "Wed, 01 May 2024 12:00:00 GMT"


async def retry_after_of(form: RetryAfter) -> tuple[str | None, datetime]:
    """The header of a 429 with a delay of 1.5 seconds, and the date of the response."""
    clock = Clock()
    limit = RateLimit(1, 1.5, retry_after=form)
    headers = {"Authorization": "Bearer a"}
    async with (
        Sandbox(itwins=1, rate=limit, clock=clock, now=lambda: NOW) as sandbox,
        httpx.AsyncClient(base_url=sandbox.base_url, headers=headers) as http,
    ):
        await http.get("/itwins/")
        response = await http.get("/itwins/")
    return response.headers.get("retry-after"), parsedate_to_datetime(response.headers["date"])


class SomebodyElsesLimit:
    """A value with the two properties, of another library."""

    requests = 7
    per = 0.5


@pytest.mark.parametrize(
    ("rate", "limit"),
    [
        ("100/60", RateLimit(100, 60)),
        (" 5/0.5 ", RateLimit(5, 0.5)),
        (RateLimit(1, 2, "token_bucket"), RateLimit(1, 2, "token_bucket")),
        (SomebodyElsesLimit(), RateLimit(7, 0.5)),
    ],
)
def test_a_rate_is_written_or_handed_over(rate: str | RateLimit, limit: RateLimit) -> None:
    """Text, a limit, and anything with requests and per are understood."""
    assert rate_limit_of(rate) == limit


def test_a_limit_of_an_unknown_kind_is_rejected() -> None:
    """A misspelt kind raises an error at once."""
    with pytest.raises(ValueError, match="kind"):
        RateLimit(1, 1, kind="leaky")  # type: ignore[arg-type] # a kind that the type does not allow


@pytest.mark.parametrize("rate", ["", "100", "100/", "/60", "-1/60", "1/-60", "0/1", "1/0", "1/1/1", "a/b"])
def test_other_text_is_no_rate(rate: str) -> None:
    """What cannot be read is rejected, not guessed."""
    with pytest.raises(ValueError, match=r"^(rate|requests|per): "):
        rate_limit_of(rate)
