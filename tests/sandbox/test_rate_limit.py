"""Requests counted against a limit, and the delay in a 429 response. Source: sections 7 and 8."""

from datetime import datetime, timedelta, timezone

import pytest
from itwin_platform_sandbox import ServiceRateLimit
from itwin_platform_sandbox._service.rate_limit import RetryAfter

from tests.support.sandboxes import error_of, serving

NOW = datetime(2024, 5, 1, 17, 0, 0, tzinfo=timezone(timedelta(hours=5)))


class Clock:
    """A clock whose seconds a test sets."""

    seconds = 0.0

    def __call__(self) -> float:
        """The seconds."""
        return self.seconds


async def test_a_period_begins_with_the_first_request() -> None:
    """A period begins with its first request, and a 429 has the rest of the period."""
    clock, found = Clock(), []
    async with serving(rate=ServiceRateLimit(2, 60, retry_after="decimals"), clock=clock) as (_, http):
        for clock.seconds in (5, 6, 7, 64.5, 65, 66, 67):
            found.append((await http.get("/itwins/")).headers.get("retry-after"))
    assert found == [None, None, "58.000", "0.500", None, None, "58.000"]


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
    """The limit decides the form of retry-after; dates are in GMT, in any zone of the clock."""
    async with serving(rate=ServiceRateLimit(1, 1.5, retry_after=form), clock=Clock(), now=lambda: NOW) as (_, http):
        await http.get("/itwins/")
        headers = (await http.get("/itwins/")).headers
    assert (headers.get("retry-after"), headers["date"]) == (expected, "Wed, 01 May 2024 12:00:00 GMT")
