"""X-Max-Return: a cap that the service rejects is lowered once, and the echoed cap is reported."""

import asyncio
from contextlib import aclosing

import httpx
import pytest
from itwin_platform import PlatformClient, UnprocessableError
from pytest_httpx import HTTPXMock

from tests.support.prepared_pages import BASE_URL, itwin_page, linked

INVALID_HEADER = {
    "error": {
        "code": "InvalidiTwinsRequest",
        "message": "Cannot list iTwins.",
        "details": [{"code": "InvalidHeaderValue", "message": "below 10000", "target": "X-Max-Return"}],
    }
}


@pytest.mark.parametrize("target", ["X-Max-Return", "x-max-return", None, ""])
async def test_a_cap_that_is_rejected_is_lowered_once(
    platform: PlatformClient, httpx_mock: HTTPXMock, target: str | None
) -> None:
    """When the service rejects a cap of 10000, the pager requests 9999, and keeps it for later pages."""
    detail = {"code": "InvalidHeaderValue", "target": target}
    httpx_mock.add_response(422, json={"error": {"code": "InvalidiTwinsRequest", "details": [{"code": "x"}, detail]}})
    httpx_mock.add_response(json=itwin_page("a", link="?$skip=1"), headers={"X-Max-Return": "9999"})
    httpx_mock.add_response(json=itwin_page("b"))
    pager = platform.itwins.list()
    assert len(await pager.collect()) == 2
    assert [request.headers["x-max-return"] for request in httpx_mock.get_requests()] == ["10000", "9999", "9999"]
    assert pager.max_return == 9999


@pytest.mark.parametrize("error", [{}, {"target": "X-Max-Return"}, {"details": []}], ids=str)
async def test_the_error_itself_may_have_the_code(
    platform: PlatformClient, httpx_mock: HTTPXMock, error: dict[str, object]
) -> None:
    """The cap is lowered too when the code stands in the error instead of a detail."""
    httpx_mock.add_response(422, json={"error": {"code": "InvalidHeaderValue", "message": "below 10000", **error}})
    httpx_mock.add_response(json=itwin_page("a"))
    assert len(await platform.itwins.list().collect()) == 1
    assert [request.headers["x-max-return"] for request in httpx_mock.get_requests()] == ["10000", "9999"]


async def test_runs_of_one_pager_lower_the_cap_each_for_itself() -> None:
    """Two runs of one pager at once each retry with the lower cap, whatever the order of their responses."""
    caps: list[str] = []

    async def respond(request: httpx.Request) -> httpx.Response:
        cap = request.headers["x-max-return"]
        caps.append(cap)
        for _ in range(len(caps)):
            await asyncio.sleep(0)
        return httpx.Response(422, json=INVALID_HEADER) if cap == "10000" else httpx.Response(200, json=page)

    page = itwin_page("a")
    async with PlatformClient(BASE_URL, vendor="v", token="t", transport=httpx.MockTransport(respond)) as platform:
        pager = platform.itwins.list(concurrency=3, limit=3, page_size=1)
        found = await asyncio.gather(pager.collect(), pager.collect())
    assert [len(items) for items in found] == [1, 1]
    assert set(caps) == {"10000", "9999"}


@pytest.mark.parametrize("checked", [True, False])
async def test_list_all_lowers_the_cap_once(*, checked: bool) -> None:
    """All ranges are requested with the cap that the service accepts."""
    seen: list[tuple[str, str]] = []

    def respond(request: httpx.Request) -> httpx.Response:
        seen.append((request.headers["x-max-return"], request.url.params.get("$filter", "")))
        if seen[-1][0] == "10000":
            return httpx.Response(422, json=INVALID_HEADER)
        found = [{"id": number, "createdDateTime": f"2026-01-0{number}T00:00:00Z"} for number in "12"]
        first = len(seen) == 2
        return httpx.Response(
            200, json={"iTwins": found if first else found[1:]}, headers={"X-Max-Return": "2" if first else "9999"}
        )

    async with PlatformClient(
        BASE_URL, vendor="v", token="t", transport=httpx.MockTransport(respond), check_requests=checked
    ) as platform:
        assert len(await platform.itwins.list_all(filter="a eq 1").collect()) == 2
    time = "createdDateTime"
    assert seen[1:] == [
        ("9999", "a eq 1"),
        ("9999", f"(a eq 1) and ({time} ge 2026-01-02T00:00:00.000000Z or {time} eq null)"),
    ]


async def test_a_lower_cap_that_is_rejected_is_an_error(platform: PlatformClient, httpx_mock: HTTPXMock) -> None:
    """Only the value that the description is of two minds about is changed, and only once."""
    httpx_mock.add_response(422, json=INVALID_HEADER, is_reusable=True)
    with pytest.raises(UnprocessableError):
        await platform.itwins.list(max_return=9999).collect()
    with pytest.raises(UnprocessableError):
        await platform.itwins.list().collect()
    assert [request.headers["x-max-return"] for request in httpx_mock.get_requests()] == ["9999", "10000", "9999"]


@pytest.mark.parametrize(
    "detail", [{"code": "InvalidValue", "target": "X-Max-Return"}, {"code": "InvalidHeaderValue", "target": "Prefer"}]
)
async def test_other_errors_do_not_lower_the_cap(
    platform: PlatformClient, httpx_mock: HTTPXMock, detail: dict[str, str]
) -> None:
    """A 422 for another reason is the caller's to see."""
    httpx_mock.add_response(422, json={"error": {"code": "InvalidiTwinsRequest", "details": [detail]}})
    with pytest.raises(UnprocessableError):
        await platform.itwins.list().collect()


@pytest.mark.parametrize(
    ("echo", "max_return", "truncated"),
    [({}, 2, True), ({"x-max-return": "2"}, 2, True), ({"X-MAX-RETURN": "3"}, 3, False)]
    + [({"X-Max-Return": text}, 2, True) for text in ("", "0", "many", "-2", "٢", "9" * 30)],
)
@pytest.mark.filterwarnings("ignore::itwin_platform.TruncatedWarning")
async def test_the_echoed_cap(
    platform: PlatformClient, httpx_mock: HTTPXMock, echo: dict[str, str], max_return: int, *, truncated: bool
) -> None:
    """The value that the service echoes counts; what is no number is taken for the one that was asked for."""
    headers = [(name.encode(), value.encode()) for name, value in echo.items()]
    httpx_mock.add_response(json=itwin_page("a", "b"), headers=headers)
    pager = platform.itwins.list(max_return=2)
    await pager.collect()
    assert (pager.max_return, pager.truncated) == (max_return, truncated)


@pytest.mark.parametrize(
    ("got", "cap", "skip", "limit", "has_next", "truncated", "continues"),
    [
        # items, X-Max-Return, skip, limit, next link; truncated, continues
        (10, 10_000, 0, None, False, False, False),
        (10, 10_000, 0, None, True, False, True),
        (10, 20, 0, None, True, False, True),
        (10, 10, 0, None, True, True, False),
        (10, 10, 0, None, False, True, False),
        (9, 10, 0, None, False, False, False),
        (10, 9, 0, None, False, True, False),
        (10, 15, 5, None, False, True, False),
        (10, 15, 5, None, True, False, True),
        (10, 16, 5, None, False, False, False),
        (0, 10, 20, None, False, True, False),
        (10, 20, 0, 10, True, False, False),
        (10, 10, 0, 10, True, True, False),
        (10, 10, 0, 5, True, False, False),
    ],
)
async def test_where_the_cap_ends_a_listing(
    *, got: int, cap: int, skip: int, limit: int | None, has_next: bool, truncated: bool, continues: bool
) -> None:
    """A listing is truncated at the cap, unless the service has more below it; nothing past it is requested."""
    service = linked(f"?$skip={skip + got}" if has_next else None, "?$skip=500", count=got, cap=cap)
    pager = service.platform.itwins.list(page_size=10, skip=skip, limit=limit)
    async with aclosing(pager.pages()) as pages:
        await anext(pages)
        assert (pager.truncated, pager.max_return) == (truncated, cap)
        await anext(pages, None)
    assert len(service.queries) == 1 + continues
