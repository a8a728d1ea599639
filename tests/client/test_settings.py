"""Where a client gets its settings from, and what it rejects to begin with. Source: sections 1, 5 and 9."""

from typing import Any

import httpx
import pytest
from itwin_platform import PlatformClient, UsageError

from tests.client.conftest import SETTINGS, answering

NAMES = {"base_url": "ITWIN_PLATFORM_BASE_URL", "vendor": "ITWIN_PLATFORM_VENDOR", "token": "ITWIN_PLATFORM_TOKEN"}


async def test_settings_come_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without arguments, three variables say where to send, as which vendor and with which token."""
    for name, variable in NAMES.items():
        monkeypatch.setenv(variable, SETTINGS[name])
    client, requests = answering(base_url=None, vendor=None, token=None)
    async with client:
        await client.itwins.get_primary_account()
    [request] = requests
    assert request.url == "https://service.example/api/itwins/myprimaryaccount"
    assert request.headers["accept"] == "application/vnd.acme.itwin-platform.v1+json"
    assert request.headers["authorization"] == "Bearer planted-token"


async def test_an_argument_wins_over_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """An argument overrides its environment variable."""
    for variable in NAMES.values():
        monkeypatch.setenv(variable, "https://not-this.example/")
    client, requests = answering()
    async with client:
        await client.itwins.get_primary_account()
    assert requests[0].url.host == "service.example"
    assert "not-this" not in str(requests[0].headers)


@pytest.mark.parametrize("empty", [False, True], ids=["missing", "empty"])
@pytest.mark.parametrize(("name", "variable"), NAMES.items())
def test_a_missing_setting_is_named(name: str, variable: str, empty: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """The error says which argument to give or which variable to set; an empty variable is a missing one."""
    if empty:
        monkeypatch.setenv(variable, "")
    with pytest.raises(UsageError, match=f"{name} is missing: pass {name}=... or set .* {variable}"):
        answering(**{name: None})


@pytest.mark.parametrize("vendor", ["", " ", "a b", "a/b", "a.b", "acme\n", "{vendor}", "é", "-acme", "a;q=1", "a,b"])
def test_a_vendor_must_be_one_word(vendor: str) -> None:
    """A vendor with characters other than those of a word raises UsageError."""
    with pytest.raises(UsageError, match="vendor"):
        answering(vendor=vendor)


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ({}, {"connect": 30.0, "read": 30.0, "write": 30.0, "pool": 30.0}),
        ({"timeout": 2.5}, {"connect": 2.5, "read": 2.5, "write": 2.5, "pool": 2.5}),
        ({"timeout": httpx.Timeout(5.0, read=9.0)}, {"connect": 5.0, "read": 9.0, "write": 5.0, "pool": 5.0}),
    ],
    ids=["default", "seconds", "parts"],
)
async def test_every_attempt_has_a_timeout(settings: dict[str, Any], expected: dict[str, float]) -> None:
    """By default half a minute for each part of an attempt, and never none."""
    client, requests = answering(**settings)
    async with client:
        await client.itwins.get_primary_account()
    assert requests[0].extensions["timeout"] == expected


def test_a_client_shows_no_token() -> None:
    """`repr` names the address and the vendor; neither it nor the generated client shows the token."""
    client, _ = answering()
    assert repr(client) == "PlatformClient(base_url='https://service.example/api', vendor='acme')"
    assert "planted-token" not in repr(client) + repr(client.generated) + repr(vars(client))


def test_settings_other_than_the_address_are_keywords() -> None:
    """The address may be given by position; nothing else."""
    with pytest.raises(TypeError):
        PlatformClient("https://service.example", "acme")  # type: ignore[call-arg]  # as a mistake
