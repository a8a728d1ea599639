"""`on_response`: what a callback learns about the final response of a call."""

import httpx
import pytest
from itwin_platform import (
    BackoffPolicy,
    NotFoundError,
    ResponseDecodeError,
    ResponseInfo,
)

from tests.client.conftest import ACCOUNT, SCENE, answering, pages
from tests.support.virtual_time import in_virtual_time


async def test_a_response_is_described() -> None:
    """The response info holds method, route template, status, headers, attempts, seconds and correlation id."""
    statuses = iter([503, 429])

    def service(request: httpx.Request) -> httpx.Response:
        status = next(statuses, None)
        return pages(request) if status is None else httpx.Response(status)

    client, _ = answering(service, backoff=BackoffPolicy(base_delay=0.0, max_delay=0.0))
    reported: list[ResponseInfo] = []
    async with client:
        view = client.with_options(on_response=reported.append)
        await view.scenes.list_objects(SCENE, "itwin-7", page_size=1).collect()
    first, second = reported
    assert (first.method, first.route, first.status) == ("GET", "/scenes/{scene_id}/objects", 200)
    assert (first.attempts, second.attempts, first.correlation_id) == (3, 1, "answered")
    assert first.headers["X-Correlation-ID"] == "answered"
    assert first.seconds >= 0
    assert SCENE not in repr(reported)
    with pytest.raises(AttributeError):
        first.status = 5  # type: ignore[misc]  # as a mistake


def test_the_seconds_cover_retries() -> None:
    """`seconds` covers the delays and retries of the call."""

    async def call() -> float:
        responses = iter([httpx.Response(503), httpx.Response(200, json=ACCOUNT)])
        client, _ = answering(lambda _: next(responses), backoff=BackoffPolicy(base_delay=7.0, max_delay=7.0))
        reported: list[ResponseInfo] = []
        async with client:
            await client.with_options(on_response=reported.append).itwins.get_primary_account()
        return reported[0].seconds

    assert 7.0 <= in_virtual_time(call()) <= 7.5


async def test_errors_with_a_status_are_reported() -> None:
    """A 404, an invalid body and a body that is too large are reported too."""
    bodies = iter([httpx.Response(404), httpx.Response(200, text="no JSON"), httpx.Response(200, content=b"x" * 2000)])
    client, _ = answering(lambda _: next(bodies), max_response_bytes=1000)
    reported: list[ResponseInfo] = []
    async with client:
        view = client.with_options(on_response=reported.append)
        with pytest.raises(NotFoundError):
            await view.itwins.get_primary_account()
        with pytest.raises(ResponseDecodeError):
            await view.itwins.get_primary_account()
        with pytest.raises(ResponseDecodeError) as caught:
            await view.itwins.get_primary_account()
    assert [(info.status, info.attempts) for info in reported] == [(404, 1), (200, 1), (200, 1)]
    assert (caught.value.attempts, reported[-1].route) == (1, "/itwins/myprimaryaccount")
