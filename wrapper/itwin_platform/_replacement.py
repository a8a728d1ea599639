"""The full-object replacement rule: `authentication` and `options` are sent whole or not at all. Source: section 4.1.

What is sent replaces what is stored, so each type here names every field, and a change of one property starts from
what the service returned: `BasicAuthentication.of(repository).replace(password="...")`. Properties that this version
does not know are kept in `unknown` and sent back.
"""

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Self, TypeVar

from ._api import UNSET, Repository, Unset, encode
from ._errors import UsageError

W = TypeVar("W", bound="Authentication | RepositoryOptions")

#: Fields of each authentication type in wire names. Source: section 2.2.
AUTHENTICATION_FIELDS: dict[str, tuple[str, ...]] = {
    "Header": ("key", "value"),
    "QueryParameter": ("key", "value"),
    "Basic": ("username", "password"),
    "OAuth2AuthorizationCodePKCE": ("clientId", "scopes", "authorizationEndpoint", "tokenEndpoint", "redirectUri"),
}
#: The ones that section 2.2 calls required: the service documents what it answers where one is missing.
REQUIRED_FIELDS = frozenset({"key", "value", "username", "password"})
OPTIONS_FIELDS = ("queryParameters", "minimumLevel", "maximumLevel")
#: The least and the most level of detail. Source: sections 2.3 and 8.
LEVELS = (0, 24)


def _changed(whole: W, **changes: object) -> W:
    given = {name: value for name, value in changes.items() if not isinstance(value, Unset)}
    return dataclasses.replace(whole, **given)  # type: ignore[arg-type]  # `replace` of each class states the types


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Authentication:
    """What the four types share. Secrets never show in `repr`."""

    unknown: Mapping[str, object] = field(default_factory=dict, hash=False)

    TYPE: ClassVar[str]

    def __repr__(self) -> str:
        return f"{type(self).__name__}(<hidden>)"

    def to_wire(self) -> dict[str, object]:
        """Returns the whole object in wire names."""
        known = zip(AUTHENTICATION_FIELDS[self.TYPE], self._own_fields(), strict=True)
        return {**self.unknown, "type": self.TYPE, **{wire: getattr(self, own) for wire, own in known}}

    @classmethod
    def of(cls, repository: Repository) -> Self:
        """Returns what a repository has stored, so that `replace` can change a part of it.

        Raises:
            UsageError: it has none of this type, or the service did not return all of it.
        """
        stored = encode(repository.authentication) if repository.authentication else None
        if not isinstance(stored, dict) or stored.get("type") != cls.TYPE:
            raise UsageError(f"the repository as returned has no authentication of type {cls.TYPE}")
        names = AUTHENTICATION_FIELDS[cls.TYPE]
        missing = [name for name in names if stored.get(name) is None]
        if missing:
            raise UsageError(f"the service did not return {', '.join(missing)}: give a whole {cls.__name__} instead")
        known: dict[str, Any] = {own: stored[wire] for wire, own in zip(names, cls._own_fields(), strict=True)}
        return cls(unknown={name: stored[name] for name in stored if name not in (*names, "type")}, **known)

    @classmethod
    def _own_fields(cls) -> list[str]:
        return [own.name for own in dataclasses.fields(cls) if own.name != "unknown"]


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class HeaderAuthentication(Authentication):
    """A header sent to the repository with each request. Source: section 2.2."""

    TYPE: ClassVar[str] = "Header"
    key: str
    value: str

    def replace(self, *, key: str | Unset = UNSET, value: str | Unset = UNSET) -> Self:
        """Returns a copy with the given fields changed and all else, unknown properties too, as it was."""
        return _changed(self, key=key, value=value)


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class QueryParameterAuthentication(Authentication):
    """A query parameter sent to the repository with each request. Source: section 2.2."""

    TYPE: ClassVar[str] = "QueryParameter"
    key: str
    value: str

    def replace(self, *, key: str | Unset = UNSET, value: str | Unset = UNSET) -> Self:
        """Returns a copy with the given fields changed and all else, unknown properties too, as it was."""
        return _changed(self, key=key, value=value)


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class BasicAuthentication(Authentication):
    """A user name and a password for the repository. Source: section 2.2."""

    TYPE: ClassVar[str] = "Basic"
    username: str
    password: str

    def replace(self, *, username: str | Unset = UNSET, password: str | Unset = UNSET) -> Self:
        """Returns a copy with the given fields changed and all else, unknown properties too, as it was."""
        return _changed(self, username=username, password=password)


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class OAuth2AuthorizationCodePKCEAuthentication(Authentication):
    """How a user authorizes access to the repository. Source: section 2.2.

    Args:
        client_id: client identifier registered with the authorization server.
        scopes: space-separated list of requested scopes.
        authorization_endpoint: URL where the user is sent to start authorization.
        token_endpoint: URL where the code is exchanged for access and refresh tokens.
        redirect_uri: URI the authorization server redirects to afterwards.
    """

    TYPE: ClassVar[str] = "OAuth2AuthorizationCodePKCE"
    client_id: str
    scopes: str
    authorization_endpoint: str
    token_endpoint: str
    redirect_uri: str

    def replace(
        self,
        *,
        client_id: str | Unset = UNSET,
        scopes: str | Unset = UNSET,
        authorization_endpoint: str | Unset = UNSET,
        token_endpoint: str | Unset = UNSET,
        redirect_uri: str | Unset = UNSET,
    ) -> Self:
        """Returns a copy with the given fields changed and all else, unknown properties too, as it was."""
        return _changed(
            self,
            client_id=client_id,
            scopes=scopes,
            authorization_endpoint=authorization_endpoint,
            token_endpoint=token_endpoint,
            redirect_uri=redirect_uri,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class RepositoryOptions:
    """All options of a repository; None means without this property. Source: section 2.3.

    Args:
        query_parameters: added to the uri on each request (all GIS repositories).
        minimum_level: least level of detail that can be requested, 0 to 24 (UrlTemplate).
        maximum_level: most level of detail that can be requested, 0 to 24 (UrlTemplate).
    """

    query_parameters: Mapping[str, object] | None = field(hash=False)
    minimum_level: int | None
    maximum_level: int | None
    unknown: Mapping[str, object] = field(default_factory=dict, hash=False, repr=False)

    def to_wire(self) -> dict[str, object]:
        """Returns the whole object in wire names, without the properties that are None."""
        known = zip(OPTIONS_FIELDS, (self.query_parameters, self.minimum_level, self.maximum_level), strict=True)
        return {**self.unknown, **{name: value for name, value in known if value is not None}}

    @classmethod
    def of(cls, repository: Repository) -> Self:
        """Returns what a repository has stored, so that `replace` can change a part of it."""
        stored = encode(repository.options) if repository.options else None
        wire: dict[str, Any] = stored if isinstance(stored, dict) else {}
        return cls(
            query_parameters=wire.get("queryParameters"),
            minimum_level=wire.get("minimumLevel"),
            maximum_level=wire.get("maximumLevel"),
            unknown={name: wire[name] for name in wire if name not in OPTIONS_FIELDS},
        )

    def replace(
        self,
        *,
        query_parameters: Mapping[str, object] | Unset | None = UNSET,
        minimum_level: int | Unset | None = UNSET,
        maximum_level: int | Unset | None = UNSET,
    ) -> Self:
        """Returns a copy with the given fields changed and all else, unknown properties too, as it was."""
        return _changed(
            self, query_parameters=query_parameters, minimum_level=minimum_level, maximum_level=maximum_level
        )


def whole_authentication(given: Authentication | Mapping[str, object], *, check: bool) -> dict[str, object]:
    """Returns the object to send.

    Raises:
        UsageError: `check` is set, and the type is unknown or a property of it is missing or null.
    """
    wire = given.to_wire() if isinstance(given, Authentication) else dict(given)
    if not check:
        return wire
    names = AUTHENTICATION_FIELDS.get(str(wire.get("type")))
    if names is None:
        known = ", ".join(AUTHENTICATION_FIELDS)
        raise UsageError(f"authentication needs a `type`, one of {known}; check_requests=False lets another through")
    missing = [name for name in names if wire.get(name) is None]
    if missing:
        documented = missing[0] in REQUIRED_FIELDS
        raise UsageError(
            f"authentication of type {wire['type']} lacks {', '.join(missing)}: what is sent replaces what is stored, "
            "so all of it must be given",
            code="InvalidValue" if documented else None,
            target=missing[0] if documented else None,
        )
    return wire


def whole_options(given: RepositoryOptions | Mapping[str, object], *, check: bool) -> dict[str, object]:
    """Returns the object to send.

    Raises:
        UsageError: `check` is set, and a mapping lacks a property, or a level is not from 0 to 24.
    """
    wire = given.to_wire() if isinstance(given, RepositoryOptions) else dict(given)
    if not check:
        return wire
    missing = [name for name in OPTIONS_FIELDS if name not in wire]
    if missing and not isinstance(given, RepositoryOptions):
        raise UsageError(
            f"options lack {', '.join(missing)}: what is sent replaces what is stored, so all of it must be given; "
            "RepositoryOptions(...) takes None for a property that it is to be without",
            code="InvalidValue",
            target="options",
        )
    for name in ("minimumLevel", "maximumLevel"):
        level = wire.get(name)
        if level is not None and (type(level) is not int or not LEVELS[0] <= level <= LEVELS[1]):
            raise UsageError(f"{name} must be an integer from 0 to 24", code="InvalidValue", target=name.lower())
    return wire
