"""Tokens as values: what a source may give, what can be sent, and when one has to be renewed."""

import enum
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from .._errors import TokenError

#: With less than this to live a token is not sent any more: it could expire on the way.
EXPIRY_MARGIN = timedelta(seconds=10)
#: With less than this to live, one task renews a token while the others go on with it.
EARLY_WINDOW = timedelta(minutes=2)
#: For a short-lived token both windows are at most these parts of its life, so that it is used at all.
EXPIRY_SHARE, EARLY_SHARE = 0.05, 0.2


@dataclass(frozen=True, slots=True, kw_only=True, init=False)
class AccessToken:
    """A bearer token and when it expires. Source: section 5.

    Args:
        value: the access token; `repr` never shows it.
        expires_at: an aware datetime, or None for a token that does not say.

    Raises:
        TokenError: the value is empty or holds what a header cannot, or the time has no zone.
    """

    value: str = field(repr=False)
    expires_at: datetime | None = None

    def __init__(self, value: str, expires_at: datetime | None = None) -> None:
        text = value.strip(" ") if isinstance(value, str) else ""
        if not text or not text.isascii() or not text.isprintable() or " " in text:
            raise TokenError(
                "the token must be a non-empty string of visible ASCII characters, without spaces, line breaks or "
                "the word 'Bearer'"
            )
        if expires_at is not None and not (isinstance(expires_at, datetime) and expires_at.utcoffset() is not None):
            raise TokenError("expires_at must be an aware datetime, such as datetime.now(timezone.utc), or None")
        object.__setattr__(self, "value", text)
        object.__setattr__(self, "expires_at", expires_at)


class Freshness(enum.Enum):
    """What a token's remaining life asks for."""

    FRESH = "send it"
    EARLY = "send it, and let one task renew it"
    EXPIRED = "renew it before anything is sent"


def freshness(token: AccessToken, *, obtained_at: datetime, now: datetime) -> Freshness:
    """Decides by the two windows; a token that does not say when it expires is fresh."""
    if token.expires_at is None:
        return Freshness.FRESH
    life, left = token.expires_at - obtained_at, token.expires_at - now
    if left <= min(EXPIRY_MARGIN, life * EXPIRY_SHARE) or left <= timedelta(0):
        return Freshness.EXPIRED
    return Freshness.EARLY if left <= min(EARLY_WINDOW, life * EARLY_SHARE) else Freshness.FRESH


def utc_now() -> datetime:
    """The wall clock, which tokens and HTTP dates are told in."""
    return datetime.now(UTC)
