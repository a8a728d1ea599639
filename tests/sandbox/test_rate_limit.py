"""Requests counted against a limit, and the delay in a 429 response. Source: sections 7 and 8."""

from datetime import UTC, datetime, timedelta, timezone
from email.utils import parsedate_to_datetime

import pytest
from hypothesis import example, given, strategies as st
from itwin_platform_sandbox import RateLimit
from itwin_platform_sandbox._service.rate_limit import RequestCounter, RetryAfter, rate_limit_of

from tests.support.sandboxes import error_of, serving

NOW = datetime(2024, 5, 1, 17, 0, 0, tzinfo=timezone(timedelta(hours=5)))


class Clock:
    """Seconds that a test moves."""

    seconds = 0.0

    def __call__(self) -> float:
        """The seconds."""
        return self.seconds


def test_a_period_begins_with_the_first_request() -> None:
    """It starts over after its rest, and a 429 tells the rest."""
    clock = Clock()
    counter, found = RequestCounter(RateLimit(2, 60), clock), []
    for clock.seconds in (5, 6, 7, 64.5, 65, 66, 67):
        found.append(counter.wait("a"))
    assert found == [None, None, 58, 0.5, None, None, 58]


@example(1, 64.18268714761321, [0.0, 0.0, 0.0, 64.18268714761321])
@given(st.integers(1, 50), st.floats(0.01, 1000), st.lists(st.floats(0, 100), max_size=60))
def test_a_client_that_waits_for_retry_after_is_served(requests: int, per: float, pauses: list[float]) -> None:
    """After a 429 and exactly its delay, the next request is accepted."""
    clock = Clock()
    counter = RequestCounter(RateLimit(requests, per), clock)
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
    async with serving(rate="2/60", clock=clock) as (_, http):
        responses = []
        for token in ("a", "a", "a", "b"):
            clock.seconds += 0.3
            responses.append(await http.get("/itwins/", headers={"Authorization": f"Bearer {token}"}))
    assert [response.status_code for response in responses] == [200, 200, 429, 200]
    assert (error_of(responses[2]), responses[2].headers["retry-after"]) == ("429 RateLimitExceeded", "60")


@pytest.mark.parametrize(
    ("form", "expected"),
    [
        ("seconds", "2"),
        ("decimals", "1.500"),
        ("date", "Wed, 01 May 2024 12:00:02 GMT"),
        ("none", None),
        ("garbage", "soon"),
        ("huge", "1" + "0" * 15),
    ],
)
async def test_an_error_says_when_to_come_back_in_each_form(form: RetryAfter, expected: str | None) -> None:
    """The form of retry-after is chosen with the limit; dates are in GMT, whatever zone the clock has."""
    async with serving(rate=RateLimit(1, 1.5, retry_after=form), clock=Clock(), now=lambda: NOW) as (_, http):
        await http.get("/itwins/")
        headers = (await http.get("/itwins/")).headers
    assert (headers.get("retry-after"), headers["date"]) == (expected, "Wed, 01 May 2024 12:00:00 GMT")


@pytest.mark.parametrize("tenths", range(10))
async def test_whoever_obeys_a_date_is_not_rate_limited_again(tenths: int) -> None:
    """A date in `retry-after` is rounded up, so it is never too early."""
    clock = Clock()

    def now() -> datetime:
        return NOW.astimezone(UTC) + timedelta(seconds=clock.seconds + tenths / 10)

    async with serving(rate=RateLimit(1, 1.5, retry_after="date"), clock=clock, now=now) as (_, http):
        await http.get("/itwins/")
        limited = await http.get("/itwins/")
        clock.seconds += (parsedate_to_datetime(limited.headers["retry-after"]) - now()).total_seconds()
        assert (await http.get("/itwins/")).status_code == 200


@pytest.mark.parametrize(
    ("rate", "limit"),
    [
        ("100/60", RateLimit(100, 60)),
        (" 5/0.5 ", RateLimit(5, 0.5)),
        (RateLimit(1, 2, "date"), RateLimit(1, 2, "date")),
    ],
)
def test_a_rate_is_written_or_handed_over(rate: str | RateLimit, limit: RateLimit) -> None:
    """Text and a limit are understood."""
    assert rate_limit_of(rate) == limit


@pytest.mark.parametrize("rate", ["", "100", "100/", "/60", "-1/60", "1/-60", "0/1", "1/0", "1/1/1", "a/b"])
def test_other_text_is_no_rate(rate: str) -> None:
    """What cannot be read is rejected, not guessed."""
    with pytest.raises(ValueError, match=r"^(rate|requests|per): "):
        rate_limit_of(rate)
