"""Update repository on the wire. Source: section 4.1."""

import copy
import types
from collections.abc import Mapping
from typing import Any

import pytest
from itwin_platform import (
    UNSET,
    BasicAuthentication,
    HeaderAuthentication,
    OAuth2AuthorizationCodePKCEAuthentication,
    PlatformClient,
    QueryParameterAuthentication,
    Repository,
    RepositoryClass,
    RepositoryOptions,
    RepositorySubClass,
    UsageError,
)
from pytest_httpx import HTTPXMock

from tests.operations.conftest import ITWIN, OPERATIONS, REPOSITORY, request_of, sent_json

UPDATE = OPERATIONS["update_repository"]
PKCE = OAuth2AuthorizationCodePKCEAuthentication(
    client_id="c",
    scopes="a b",
    authorization_endpoint="https://a",
    token_endpoint="https://t",
    redirect_uri="https://r",
)
WHOLE_OPTIONS = {"queryParameters": {"a": ["1", 2, None]}, "minimumLevel": 0, "maximumLevel": 24}


@pytest.mark.parametrize(
    ("keywords", "body"),
    [
        ({"display_name": "Tiles"}, b'{"displayName":"Tiles"}'),
        ({"display_name": "Zürich <&> \u2028"}, '{"displayName":"Zürich <&> \u2028"}'.encode()),
        ({"uri": "https://x"}, b'{"uri":"https://x"}'),
        ({"authentication": None}, b'{"authentication":null}'),
        ({"options": None}, b'{"options":null}'),
        ({"uri": "u", "options": UNSET}, b'{"uri":"u"}'),
        ({"display_name": "n" * 200, "uri": UNSET}, b'{"displayName":"' + b"n" * 200 + b'"}'),
    ],
    ids=["display_name", "text beyond ASCII", "uri", "no authentication", "no options", "UNSET", "longest name"],
)
async def test_absent_null_and_value_are_three_things(
    keywords: dict[str, Any], body: bytes, platform: PlatformClient, httpx_mock: HTTPXMock
) -> None:
    """What is omitted is not sent, None is sent as null, a value as itself; nothing else is in the body."""
    httpx_mock.add_response(json=UPDATE.sample())
    await platform.repositories.update(ITWIN, REPOSITORY, **keywords)
    assert request_of(httpx_mock).content == body


@pytest.mark.parametrize(
    ("authentication", "wire"),
    [
        (HeaderAuthentication(key="k", value="v"), {"type": "Header", "key": "k", "value": "v"}),
        (QueryParameterAuthentication(key="k", value=""), {"type": "QueryParameter", "key": "k", "value": ""}),
        (BasicAuthentication(username="u", password="p"), {"type": "Basic", "username": "u", "password": "p"}),
        (
            PKCE,
            {
                "type": "OAuth2AuthorizationCodePKCE",
                "clientId": "c",
                "scopes": "a b",
                "authorizationEndpoint": "https://a",
                "tokenEndpoint": "https://t",
                "redirectUri": "https://r",
            },
        ),
        (
            {"type": "Basic", "username": "u", "password": "p", "realm": {"a": [None]}},
            {"type": "Basic", "username": "u", "password": "p", "realm": {"a": [None]}},
        ),
    ],
    ids=["Header", "QueryParameter", "Basic", "PKCE", "mapping with an unknown property"],
)
async def test_complete_authentication_is_sent(
    authentication: BasicAuthentication | dict[str, object],
    wire: dict[str, object],
    platform: PlatformClient,
    httpx_mock: HTTPXMock,
) -> None:
    """Each type of section 2.2 is sent with its type and all of its properties."""
    httpx_mock.add_response(json=UPDATE.sample())
    await platform.repositories.update(ITWIN, REPOSITORY, authentication=authentication)
    assert sent_json(httpx_mock) == {"authentication": wire}


@pytest.mark.parametrize(
    ("options", "wire"),
    [
        (RepositoryOptions(query_parameters=None, minimum_level=None, maximum_level=None), {}),
        (
            RepositoryOptions(query_parameters={}, minimum_level=0, maximum_level=None),
            {"queryParameters": {}, "minimumLevel": 0},
        ),
        (WHOLE_OPTIONS, WHOLE_OPTIONS),
        (
            WHOLE_OPTIONS | {"minimumLevel": None, "tileSize": 512},
            WHOLE_OPTIONS | {"minimumLevel": None, "tileSize": 512},
        ),
    ],
    ids=["without all", "without one", "mapping", "mapping with null and an unknown property"],
)
async def test_complete_options_are_sent(
    options: RepositoryOptions | dict[str, object],
    wire: dict[str, object],
    platform: PlatformClient,
    httpx_mock: HTTPXMock,
) -> None:
    """None in RepositoryOptions means without the property; a null in a mapping is sent as written."""
    httpx_mock.add_response(json=UPDATE.sample())
    await platform.repositories.update(ITWIN, REPOSITORY, options=options)
    assert sent_json(httpx_mock) == {"options": wire}


@pytest.mark.parametrize("frozen", [dict, types.MappingProxyType])
async def test_what_is_handed_in_is_not_changed(
    frozen: type[Mapping[str, object]], platform: PlatformClient, httpx_mock: HTTPXMock
) -> None:
    """Mappings of any kind are taken and stay as they were, in their depth too."""
    authentication = {"type": "Basic", "username": "u", "password": "p", "more": {"a": [1]}}
    options = copy.deepcopy(WHOLE_OPTIONS)
    before = copy.deepcopy((authentication, options))
    httpx_mock.add_response(json=UPDATE.sample())
    await platform.repositories.update(
        ITWIN,
        REPOSITORY,
        authentication=frozen(authentication),  # type: ignore[call-arg]  # both constructors take a mapping
        options=frozen(options),  # type: ignore[call-arg]  # the same
    )
    assert sent_json(httpx_mock) == {"authentication": authentication, "options": options}
    assert (authentication, options) == before


@pytest.mark.parametrize(
    ("repository_id", "raw"),
    [
        ("a/b#c?d%e", b"a%2Fb%23c%3Fd%25e"),
        ("imodels", b"imodels"),
        ("...", b"..."),
        ("a b@ü+&=;{itwin_id}", b"a%20b%40%C3%BC%2B%26%3D%3B%7Bitwin_id%7D"),
        ("a%2Fb", b"a%252Fb"),
        ("\n\x00", b"%0A%00"),
    ],
)
async def test_an_id_stays_one_part_of_the_path(
    repository_id: str, raw: bytes, platform: PlatformClient, httpx_mock: HTTPXMock
) -> None:
    """Whatever characters an id has, it is percent-encoded and read back as one part of the path."""
    httpx_mock.add_response(json=UPDATE.sample())
    await platform.repositories.update("a/b", repository_id, uri="u")
    url = request_of(httpx_mock).url
    assert url.raw_path == b"/api/itwins/a%2Fb/repositories/" + raw


@pytest.mark.parametrize("repository_id", ["../x", "../../admin", "a/../b", "..", "%2e%2e", "..%2Fadmin", "..\\admin"])
async def test_an_id_that_climbs_is_rejected(repository_id: str, platform: PlatformClient) -> None:
    """An id that would reach another path is never sent, even with `check_requests=False`."""
    unchecked = PlatformClient("https://service.example", vendor="acme", token="t-1", check_requests=False)
    for client in (platform, unchecked):
        with pytest.raises(UsageError, match="would reach another path"):
            await client.repositories.update(ITWIN, repository_id, uri="u")
    await unchecked.aclose()


async def test_the_repository_is_unwrapped(platform: PlatformClient, httpx_mock: HTTPXMock) -> None:
    """The result is the repository itself, with enums as members and nothing lost."""
    httpx_mock.add_response(json=UPDATE.sample())
    repository = await platform.repositories.update(ITWIN, REPOSITORY, uri="u")
    assert type(repository) is Repository
    assert repository.to_dict() == UPDATE.sample()["repository"]
    assert repository.class_ is RepositoryClass.GEOGRAPHIC_INFORMATION_SYSTEM
    assert repository.sub_class is RepositorySubClass.URL_TEMPLATE
    assert repository.capabilities.resources.uri.endswith("/resources")


async def test_a_repository_as_seen_is_unwrapped(platform: PlatformClient, httpx_mock: HTTPXMock) -> None:
    """Unknown enum values, an unknown type of authentication and missing fields are no obstacle."""
    httpx_mock.add_response(json=UPDATE.sample(seen=True))
    repository = await platform.repositories.update(ITWIN, REPOSITORY, uri="u")
    assert repository.to_dict() == UPDATE.sample(seen=True)["repository"]
    assert (repository.class_, repository.sub_class) == ("ProjectWise", "MapServer")
    assert not repository.display_name
    assert "planted-unknown" not in repr(repository)
