"""Bearer tokens and the rights of their callers. Source: section 5."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Literal, TypeAlias, get_args

import msgspec

from .json_values import Seconds
from .state import new_uuid, source_of

Permission: TypeAlias = Literal["itwins_modify", "webhooks_maintainer"]
ITWINS_MODIFY, WEBHOOKS_MAINTAINER = get_args(Permission)
ALL_PERMISSIONS: frozenset[Permission] = frozenset(get_args(Permission))
TokenScope: TypeAlias = Literal["itwin-platform", "webhooks:modify"]
PLATFORM_SCOPE, WEBHOOKS_SCOPE = get_args(TokenScope)
ALL_SCOPES: frozenset[TokenScope] = frozenset(get_args(TokenScope))

_TOKEN = r"[A-Za-z0-9\-._~+/]+=*"  # noqa: S105 - RFC 6750, section 2.1
_BEARER = re.compile(rf"bearer +({_TOKEN})", re.IGNORECASE)


class CredentialsError(Exception):
    """The request has no valid credentials; the message gives the reason and never the token."""


class TokenRights(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A token and the rights of its caller: the arguments of `Sandbox.add_token`."""

    token: Annotated[str, msgspec.Meta(pattern=rf"^{_TOKEN}\Z")]
    organization_administrator: bool = True
    service_application: bool = True
    permissions: frozenset[Permission] = ALL_PERMISSIONS
    scopes: frozenset[TokenScope] = ALL_SCOPES
    member_of: frozenset[str] | None = None
    expires_in: Seconds | None = None
    organization: bool = True

    def __repr__(self) -> str:
        return f"{type(self).__name__}(token={'<hidden>'!r})"


@dataclass(frozen=True, slots=True)
class Caller:
    """The caller of a token; without an organization, it has a `personal_account_id`. Source: section 4.4."""

    rights: TokenRights
    expires_at: float | None = None
    personal_account_id: str | None = None

    @property
    def organization_administrator(self) -> bool:
        """Whether the caller holds every permission everywhere."""
        return self.rights.organization_administrator and self.rights.organization

    @property
    def member_of(self) -> frozenset[str] | None:
        """The ids of the iTwins with the caller as a member; None for all iTwins."""
        return self.rights.member_of if self.rights.organization else self.rights.member_of or frozenset()

    def is_member_of(self, itwin_id: str) -> bool:
        """Return whether the caller is a member of the iTwin."""
        return self.member_of is None or itwin_id.lower() in self.member_of or itwin_id == self.personal_account_id

    def has_access_to(self, itwin_id: str) -> bool:
        """Return whether the caller can read the iTwin: as a member or as organization administrator."""
        return self.organization_administrator or self.is_member_of(itwin_id)

    def has_permission(self, permission: str, itwin_id: str) -> bool:
        """Return whether the caller holds a permission on the iTwin. Source: section 5."""
        return self.organization_administrator or (
            permission in self.rights.permissions and self.is_member_of(itwin_id)
        )


class Tokens:
    """The bearer tokens that the sandbox accepts."""

    __slots__ = ("_any_token", "_clock", "_expired", "_registered")

    def __init__(self, *, any_token: bool, clock: Callable[[], float]) -> None:
        self._any_token = any_token
        self._clock = clock
        self._registered: dict[str, Caller] = {}
        self._expired: set[str] = set()

    def register(self, rights: TokenRights) -> None:
        """Register a token for a caller with these rights; replace an earlier registration."""
        if rights.member_of is not None:
            member_of = frozenset(itwin_id.lower() for itwin_id in rights.member_of)
            rights = msgspec.structs.replace(rights, member_of=member_of)
        account_id = None if rights.organization else new_uuid(source_of(1, f"account of {rights.token}"))
        expires_at = None if rights.expires_in is None else self._clock() + rights.expires_in
        self._expired.discard(rights.token)
        self._registered[rights.token] = Caller(rights, expires_at, account_id)

    def clear(self) -> None:
        """Remove every registered token."""
        self._registered.clear()
        self._expired.clear()

    def accepts(self, authorization: str | None) -> bool:
        """Return whether this header has valid credentials."""
        try:
            self.caller(authorization)
        except CredentialsError:
            return False
        return True

    def expire(self, authorization: str | None) -> None:
        """Expire the token of this header until `restore` or a new registration."""
        token, _ = self.caller(authorization)
        self._expired.add(token)

    def restore(self) -> None:
        """Accept expired tokens of `expire` again."""
        self._expired.clear()

    def caller(self, authorization: str | None) -> tuple[str, Caller]:
        """Return the token and its caller, or raise `CredentialsError`. Source: section 7, 401."""
        if not authorization:
            raise CredentialsError("Header Authorization was not found in the request. Access denied.")
        match = _BEARER.fullmatch(authorization.strip())
        if match is None:
            raise CredentialsError("Header Authorization is malformed: expected a Bearer access token.")
        token = match[1]
        caller = self._registered.get(token, Caller(TokenRights(token=token)) if self._any_token else None)
        if caller is None:
            raise CredentialsError("The access token is not known to this sandbox.")
        if token in self._expired or (caller.expires_at is not None and self._clock() >= caller.expires_at):
            raise CredentialsError("The access token has expired.")
        if PLATFORM_SCOPE not in caller.rights.scopes:
            raise CredentialsError(f"The access token is missing the scope {PLATFORM_SCOPE}.")
        return token, caller
