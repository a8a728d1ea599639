"""Which addresses a client takes, and that its requests and its token stay there."""

import pytest
from itwin_platform import UsageError

from tests.client.conftest import answering


@pytest.mark.parametrize(
    ("base_url", "sent_to"),
    [
        ("https://service.example", "https://service.example/itwins/myprimaryaccount"),
        ("https://service.example/", "https://service.example/itwins/myprimaryaccount"),
        ("https://service.example/a/b", "https://service.example/a/b/itwins/myprimaryaccount"),
        ("https://service.example/a/b/", "https://service.example/a/b/itwins/myprimaryaccount"),
        ("https://service.example:8443/a%20b", "https://service.example:8443/a%20b/itwins/myprimaryaccount"),
        ("HTTPS://Service.Example/A", "https://service.example/A/itwins/myprimaryaccount"),
        ("http://127.0.0.1:8080", "http://127.0.0.1:8080/itwins/myprimaryaccount"),
        ("http://[::1]:8080/x", "http://[::1]:8080/x/itwins/myprimaryaccount"),
        ("http://127.8.9.10", "http://127.8.9.10/itwins/myprimaryaccount"),
        ("http://localhost:8080", "http://localhost:8080/itwins/myprimaryaccount"),
    ],
)
async def test_a_path_prefix_is_kept(base_url: str, sent_to: str) -> None:
    """Requests go below the given path, with or without a slash at its end; plain http is for loopback."""
    client, requests = answering(base_url=base_url)
    async with client:
        await client.itwins.get_primary_account()
    assert str(requests[0].url) == sent_to


@pytest.mark.parametrize(
    "base_url",
    [
        *("http://service.example", "http://localhost.example", "http://127.0.0.1.example", "http://10.0.0.1"),
        *("http://api.localhost", "http://0.0.0.0:80", "http://[::2]", "http://[::ffff:10.0.0.1]"),
    ],
)
async def test_a_token_does_not_travel_in_the_open(base_url: str) -> None:
    """Plain http to a host that is not loopback is rejected, unless the caller says that it is meant."""
    with pytest.raises(UsageError, match="allow_insecure=True") as caught:
        answering(base_url=base_url)
    assert caught.value.argument == "base_url"
    client, requests = answering(base_url=base_url, allow_insecure=True)
    async with client:
        await client.itwins.get_primary_account()
    assert requests[0].headers["authorization"] == "Bearer planted-token"


@pytest.mark.parametrize(
    ("base_url", "said"),
    [
        ("service.example", "starts with https://"),
        ("ftp://service.example", "starts with https://"),
        ("https://", "starts with https://"),
        ("//service.example", "starts with https://"),
        ("https://service.example\n", "not a URL"),
        ("https://[::1", "not a URL"),
        ("https://service.example:port", "not a URL"),
        ("https://service..example", "not a URL"),
        (f"https://{'x' * 64}.example", "not a URL"),
        ("https://xn--a", "not a URL"),
        ("https://user:planted@service.example", "must not contain a user"),
        ("https://service.example/?a=b", "must not contain a user"),
        ("https://service.example/?", "must not contain a user"),
        ("https://service.example/#a", "must not contain a user"),
        ("https://service.example#", "must not contain a user"),
    ],
)
def test_what_is_no_base_address_is_rejected(base_url: str, said: str) -> None:
    """A scheme and a host, and nothing after the path; user information does not show in the error."""
    with pytest.raises(UsageError, match=said) as caught:
        answering(base_url=base_url)
    assert "planted" not in str(caught.value)
    assert caught.value.argument == "base_url"
