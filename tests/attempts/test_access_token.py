"""A token as a value: what can be sent, what it shows, and when it has to be refreshed."""

import copy
import dataclasses
import pickle
from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given, strategies as st
from itwin_platform import AccessToken, TokenError

from tests.support.faces import Freshness, freshness

NOW = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    "value",
    [
        *("", " ", "\n", "a\nb", "a\r\nX-Evil: 1", "abc\n", "a\tb", "a b", "Bearer abc", "\x00", "a\x7f", "tökén"),
        *("a\u2028b", None, 7, b"abc", ["abc"]),
    ],
)
def test_a_text_that_cannot_be_sent_is_rejected_without_showing_it(value: object) -> None:
    """An invalid token raises TokenError, which does not contain it."""
    with pytest.raises(TokenError, match="the token must be a non-empty string") as raised:
        AccessToken(value)  # type: ignore[arg-type]  # what must not work
    assert "Evil" not in str(raised.value)
    assert "abc" not in str(raised.value)


@given(st.text(st.characters(min_codepoint=33, max_codepoint=126), min_size=1))
def test_every_visible_string_is_a_token(text: str) -> None:
    """Any visible ASCII text is one; blanks around it are taken away."""
    assert AccessToken(f"  {text} ").value == text


@pytest.mark.parametrize("moment", [datetime(2026, 3, 1), 1_772_366_400, "2026-03-01T12:00:00Z", timedelta(hours=1)])
def test_a_moment_without_a_zone_is_rejected(moment: object) -> None:
    """What is not an aware datetime is a TokenError that says what to give."""
    with pytest.raises(TokenError, match="expires_at must be an aware datetime"):
        AccessToken("abc", moment)  # type: ignore[arg-type]  # what must not work


def test_a_token_does_not_show() -> None:
    """`repr` tells when it expires and not what it is; it does not change, and survives copying."""
    token = AccessToken("planted-secret", NOW)
    assert "planted" not in f"{token!r} {token}"
    assert "2026" in repr(token)
    with pytest.raises(dataclasses.FrozenInstanceError):
        token.value = "other"  # type: ignore[misc]  # what must not work
    assert pickle.loads(pickle.dumps(token)) == copy.deepcopy(token) == token  # noqa: S301  # our own bytes


@pytest.mark.parametrize(
    ("life", "left", "expected"),
    [
        (3600, 3600, Freshness.FRESH),
        (3600, 121, Freshness.FRESH),
        (3600, 120, Freshness.EARLY),
        (3600, 11, Freshness.EARLY),
        (3600, 10, Freshness.EXPIRED),
        (3600, 0, Freshness.EXPIRED),
        (3600, -5, Freshness.EXPIRED),
        (100, 21, Freshness.FRESH),
        (100, 20, Freshness.EARLY),
        (100, 5, Freshness.EXPIRED),
        (1, 1, Freshness.FRESH),
        (0, 0, Freshness.EXPIRED),
        (-60, -60, Freshness.EXPIRED),
    ],
)
def test_two_windows_before_the_end(life: int, left: int, expected: Freshness) -> None:
    """Two minutes before the end one refreshes it, ten seconds before the end all do; for short lives in proportion."""
    token = AccessToken("abc", NOW + timedelta(seconds=left))
    obtained_at = NOW + timedelta(seconds=left - life)
    assert freshness(token, obtained_at=obtained_at, now=NOW) is expected


def test_the_zone_of_the_end_does_not_matter() -> None:
    """The same moment in another zone is the same moment."""
    there = timezone(timedelta(hours=9))
    token = AccessToken("abc", (NOW + timedelta(hours=1)).astimezone(there))
    assert freshness(token, obtained_at=NOW, now=NOW) is Freshness.FRESH


def test_a_token_that_does_not_say_is_fresh() -> None:
    """Only the service can tell."""
    assert freshness(AccessToken("abc"), obtained_at=NOW - timedelta(days=9), now=NOW) is Freshness.FRESH


@given(st.integers(-100, 10_000) | st.integers(-100, 0), st.integers(-100, 10_000) | st.integers(-10, 0))
def test_a_token_is_never_sent_after_its_end(life: int, left: int) -> None:
    """Whatever it lived: with nothing left it is refreshed before anything is sent."""
    token = AccessToken("abc", NOW + timedelta(seconds=left))
    state = freshness(token, obtained_at=NOW + timedelta(seconds=left - life), now=NOW)
    assert (state is Freshness.EXPIRED) or left > 0
