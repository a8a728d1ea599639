"""Access tokens as values: what can be sent as a token, and when it must be refreshed."""

import enum
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from ..._errors import TokenError

#: A token with less than this left before its expiry is not sent: it could expire on the way.
EXPIRY_MARGIN = timedelta(seconds=10)
#: With less than this left, one task refreshes the token and the others continue with it.
EARLY_WINDOW = timedelta(minutes=2)
#: Both windows are at most these shares of a token's life, so that a short-lived one is used at all.
EXPIRY_SHARE, EARLY_SHARE = 0.05, 0.2


@dataclass(frozen=True, slots=True, kw_only=True, init=False)
class AccessToken:
    """A bearer token and when it expires. Source: section 5.

    Args:
        value: the access token; `repr` never shows it.
        expires_at: an aware datetime, or None for a token without a known expiry.

    Raises:
        TokenError: the value is empty or holds what a header cannot, or the time has no zone.
    """

    value: str = field(repr=False)
    expires_at: datetime | None = None

    def __init__(self, value: str, expires_at: datetime | None = None) -> None:
        text = value.strip(" ") if isinstance(value, str) else ""
        if not text or not text.isascii() or not text.isprintable() or " " in text:
            del value, text  # tools that report errors show what frames hold
            raise TokenError(
                "the token must be a non-empty string of visible ASCII characters, without spaces, line breaks or "
                "the word 'Bearer'"
            )
        if expires_at is not None and not (isinstance(expires_at, datetime) and expires_at.utcoffset() is not None):
            del value, text
            raise TokenError("expires_at must be an aware datetime, such as datetime.now(timezone.utc), or None")
        object.__setattr__(self, "value", text)
        object.__setattr__(self, "expires_at", expires_at)


class Freshness(enum.Enum):
    """What to do with a token, by the time that is left before its expiry."""

    FRESH = "send it"
    EARLY = "send it, and let one task refresh it"
    EXPIRED = "refresh it before anything is sent"


def freshness(token: AccessToken, *, obtained_at: datetime, now: datetime) -> Freshness:
    """Decide by the two windows; a token without a known expiry is fresh."""
    if token.expires_at is None:
        return Freshness.FRESH
    life, left = token.expires_at - obtained_at, token.expires_at - now
    if left <= min(EXPIRY_MARGIN, life * EXPIRY_SHARE) or left <= timedelta(0):
        return Freshness.EXPIRED
    return Freshness.EARLY if left <= min(EARLY_WINDOW, life * EARLY_SHARE) else Freshness.FRESH


def utc_now() -> datetime:
    """Return the time of the wall clock, in which tokens expire and HTTP dates are written."""
    return datetime.now(UTC)
