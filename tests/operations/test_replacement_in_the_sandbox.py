"""Replacing a part of what is stored, against a service that merges nothing. Source: section 4.1, rules 1 to 5."""

from collections.abc import AsyncIterator
from typing import Any

import pytest
from itwin_platform import (
    BasicAuthentication,
    HeaderAuthentication,
    PlatformClient,
    RepositoryOptions,
    UsageError,
)
from itwin_platform_sandbox import Sandbox


@pytest.fixture
async def sandbox() -> AsyncIterator[Sandbox]:
    """A running sandbox."""
    async with Sandbox(itwins=2, objects=0) as running:
        yield running


@pytest.fixture
async def platform(sandbox: Sandbox) -> AsyncIterator[PlatformClient]:
    """A client of the sandbox."""
    async with PlatformClient(sandbox.base_url, vendor="sandbox", token=sandbox.token) as client:
        yield client


async def test_one_property_is_changed_and_the_others_stay(sandbox: Sandbox, platform: PlatformClient) -> None:
    """From what the service returned, one level is changed; parameters, the other level and what is unknown stay."""
    target = (sandbox.itwin_id, sandbox.repository_ids["UrlTemplate"])
    complete = {"queryParameters": {"key": "k", "n": 1}, "minimumLevel": 2, "maximumLevel": 20, "tileSize": {"w": 512}}
    stored = await platform.repositories.update(*target, options=complete)
    changed = await platform.repositories.update(*target, options=RepositoryOptions.of(stored).replace(minimum_level=3))
    assert changed.to_dict()["options"] == complete | {"minimumLevel": 3}
    without = await platform.repositories.update(
        *target, options=RepositoryOptions.of(changed).replace(maximum_level=None)
    )
    assert "maximumLevel" not in without.to_dict()["options"]


async def test_a_partial_mapping_would_have_lost_the_rest(sandbox: Sandbox, platform: PlatformClient) -> None:
    """The service merges nothing: this is what the check keeps from happening, and what it lets through when lifted."""
    target = (sandbox.itwin_id, sandbox.repository_ids["UrlTemplate"])
    await platform.repositories.update(
        *target, options=RepositoryOptions(query_parameters={"a": "b"}, minimum_level=1, maximum_level=2)
    )
    with pytest.raises(UsageError, match="lacks queryParameters, maximumLevel"):
        await platform.repositories.update(*target, options={"minimumLevel": 3})
    async with PlatformClient(sandbox.base_url, vendor="sandbox", token=sandbox.token, check_requests=False) as lifted:
        left = await lifted.repositories.update(*target, options={"minimumLevel": 3})
    assert left.to_dict()["options"] == {"minimumLevel": 3}


async def test_omitted_stays_none_removes(sandbox: Sandbox, platform: PlatformClient) -> None:
    """What an update omits is as it was afterwards; None takes the object away."""
    target = (sandbox.itwin_id, sandbox.repository_id)
    basic = BasicAuthentication(username="u", password="p")
    options = RepositoryOptions(query_parameters={"a": "b"}, minimum_level=None, maximum_level=None)
    await platform.repositories.update(*target, authentication=basic, options=options)
    renamed = await platform.repositories.update(*target, display_name="Renamed")
    assert BasicAuthentication.of(renamed) == basic
    assert RepositoryOptions.of(renamed) == options
    removed = await platform.repositories.update(*target, authentication=None)
    assert removed.authentication is None
    assert RepositoryOptions.of(removed) == options
    assert (await platform.repositories.update(*target, options=None)).options is None


async def test_one_type_of_authentication_replaces_another(sandbox: Sandbox, platform: PlatformClient) -> None:
    """Replacing one type of authentication by another removes all old properties."""
    target = (sandbox.itwin_id, sandbox.repository_id)
    await platform.repositories.update(*target, authentication=BasicAuthentication(username="u", password="p"))
    header = HeaderAuthentication(key="X-Key", value="v")
    stored = await platform.repositories.update(*target, authentication=header)
    wire: dict[str, Any] = stored.to_dict()["authentication"]
    assert wire == {"type": "Header", "key": "X-Key", "value": "v"}
    with pytest.raises(UsageError, match="no authentication of type Basic"):
        BasicAuthentication.of(stored)


async def test_no_secret_is_remembered_in_a_text(
    sandbox: Sandbox, platform: PlatformClient, caplog: pytest.LogCaptureFixture
) -> None:
    """Neither a log line at any level nor an error nor the result shows what was sent."""
    caplog.set_level(0)
    target = (sandbox.itwin_id, sandbox.repository_id)
    secret = BasicAuthentication(username="planted-u", password="planted-p")
    stored = await platform.repositories.update(*target, authentication=secret)
    with pytest.raises(UsageError) as caught:
        await platform.repositories.update(*target, authentication={"type": "Basic", "password": "planted-p"})
    shown = repr(stored) + str(caught.value) + repr(caught.value) + caplog.text
    assert "planted" not in shown
