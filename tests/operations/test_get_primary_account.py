"""Get primary account on the wire. Source: section 4.4."""

from itwin_platform import ITwinClass, ITwinStatus, ITwinSubClass, ITwinSummary, PlatformClient
from pytest_httpx import HTTPXMock

from tests.operations.conftest import OPERATIONS, request_of

GET = OPERATIONS["get_primary_account"]


async def test_it_sends_no_query_and_no_body(platform: PlatformClient, httpx_mock: HTTPXMock) -> None:
    """The operation has no parameters."""
    httpx_mock.add_response(json=GET.sample())
    await platform.itwins.get_primary_account()
    request = request_of(httpx_mock)
    assert (request.url.raw_path, request.content) == (b"/api/itwins/myprimaryaccount", b"")


async def test_the_account_is_unwrapped(platform: PlatformClient, httpx_mock: HTTPXMock) -> None:
    """The result is the iTwin itself, with enums as members and null as None."""
    httpx_mock.add_response(json=GET.sample())
    account = await platform.itwins.get_primary_account()
    assert type(account) is ITwinSummary
    assert account.to_dict() == GET.sample()["iTwin"]
    assert account.class_ is ITwinClass.ACCOUNT
    assert account.sub_class is ITwinSubClass.ACCOUNT
    assert account.status is ITwinStatus.ACTIVE
    assert account.type_ is None


async def test_an_account_as_seen_is_unwrapped(platform: PlatformClient, httpx_mock: HTTPXMock) -> None:
    """Without a status and with a field of the full representation it is an account all the same."""
    httpx_mock.add_response(json=GET.sample(seen=True))
    account = await platform.itwins.get_primary_account()
    assert account.to_dict() == GET.sample(seen=True)["iTwin"]
    assert account["dataCenterLocation"] == "East US"
