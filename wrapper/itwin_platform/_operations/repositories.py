"""Repositories: data sources attached to an iTwin, and their resources. Source: sections 1, 2.1 to 2.4, 4.1, 4.2.

An update replaces `authentication` and `options` as complete objects: each type here therefore requires every field. To
change one property, start from what the service returned: `BasicAuthentication.of(repository).replace(password="...")`.
"""

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from types import MappingProxyType
from typing import Any, ClassVar, Self, TypeAlias

from itwin_platform_api.api.repositories import create_repository_resource, update_repository
from itwin_platform_api.models import (
    BasicAuthenticationParam,
    HeaderAuthenticationParam,
    OAuth2AuthorizationCodePKCEAuthenticationParam,
    QueryParameterAuthenticationParam,
    Repository,
    RepositoryOptionsParam,
    RepositoryUpdate,
    Resource,
    ResourceCreate,
)
from itwin_platform_api.types import UNSET, Fields, Unset, encode
from itwin_platform_transport import UsageError

from .._requests.sender import ErrorsOfCall, unwrap, with_changes
from . import Group, check_changes, check_id


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class CompleteObject:
    """An object that replaces the stored one. Each field is a property, named as on the wire but in snake case.

    `unknown` holds the properties that this version does not know, in wire names; they are sent back as they came.
    """

    unknown: Mapping[str, object] = field(default_factory=dict, hash=False, repr=False)

    def __repr__(self) -> str:
        return f"{type(self).__name__}(<hidden>)"

    @classmethod
    @cache
    def properties(cls) -> Mapping[str, str]:
        """Return the names of the fields by wire name."""
        names = [each.name for each in dataclasses.fields(cls) if each.name != "unknown"]
        return MappingProxyType({name[0] + name.title().replace("_", "")[1:]: name for name in names})

    def wire_fields(self) -> Fields:
        """Return all properties in wire names."""
        return Fields({**self.unknown, **{wire: getattr(self, name) for wire, name in self.properties().items()}})

    @classmethod
    def _of(cls, stored: Mapping[str, object]) -> Self:
        known: dict[str, Any] = {name: stored.get(wire) for wire, name in cls.properties().items()}
        return cls(unknown={wire: stored[wire] for wire in stored if wire not in cls.properties()}, **known)


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Authentication(CompleteObject):
    """The base of the four types. `repr` shows no secret."""

    TYPE: ClassVar[str]

    def wire_fields(self) -> Fields:
        """Return all properties in wire names, including `type`."""
        return Fields({**CompleteObject.wire_fields(self), "type": self.TYPE})

    @classmethod
    def of(cls, repository: Repository) -> Self:
        """Return what the service returned for a repository: call `replace` on it to change a property.

        Raises:
            UsageError: the repository has no authentication of this type, or the service did not return all of it.
        """
        stored = encode(_checked(repository).authentication)
        if not isinstance(stored, dict) or stored.pop("type", None) != cls.TYPE:
            raise UsageError(
                f"the repository has no authentication of type {cls.TYPE}: pass a complete {cls.__name__}(...)",
                argument="repository",
            )
        missing = [name for name in cls.properties() if stored.get(name) is None]
        if missing:
            raise UsageError(
                f"the service did not return {', '.join(missing)}: pass a complete {cls.__name__}(...)",
                argument="repository",
            )
        return cls._of(stored)


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class KeyAndValue(Authentication):
    """The base of the two types with a key and its value."""

    key: str
    value: str

    def replace(self, *, key: str | Unset = UNSET, value: str | Unset = UNSET) -> Self:
        """Return a copy with these fields changed; everything else stays, unknown properties too."""
        return with_changes(self, key=key, value=value)


# Source: section 2.2.
@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class HeaderAuthentication(KeyAndValue):
    """A header sent to the repository with each request.

    Args:
        key: the name of the header.
        value: the value of the header.
    """

    TYPE: ClassVar[str] = "Header"


# Source: section 2.2.
@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class QueryParameterAuthentication(KeyAndValue):
    """A query parameter sent to the repository with each request.

    Args:
        key: the name of the parameter.
        value: the value of the parameter.
    """

    TYPE: ClassVar[str] = "QueryParameter"


# Source: section 2.2.
@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class BasicAuthentication(Authentication):
    """A user name and a password.

    Args:
        username: the user name.
        password: the password.
    """

    TYPE: ClassVar[str] = "Basic"
    username: str
    password: str

    def replace(self, *, username: str | Unset = UNSET, password: str | Unset = UNSET) -> Self:
        """Return a copy with these fields changed; everything else stays, unknown properties too."""
        return with_changes(self, username=username, password=password)


# Source: section 2.2.
@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class OAuth2AuthorizationCodePKCEAuthentication(Authentication):
    """How a user authorizes access to the repository.

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
        """Return a copy with these fields changed; everything else stays, unknown properties too."""
        return with_changes(
            self,
            client_id=client_id,
            scopes=scopes,
            authorization_endpoint=authorization_endpoint,
            token_endpoint=token_endpoint,
            redirect_uri=redirect_uri,
        )


# Source: section 2.3.
@dataclass(frozen=True, slots=True, kw_only=True)
class RepositoryOptions(CompleteObject):
    """All options of a repository; None means without this property.

    Args:
        query_parameters: added to the uri on each request (all GIS repositories); keys may be among them, so they never
            show in `repr`.
        minimum_level: least level of detail that can be requested, 0 to 24 (UrlTemplate).
        maximum_level: most level of detail that can be requested, 0 to 24 (UrlTemplate).
    """

    query_parameters: Mapping[str, object] | None = field(hash=False, repr=False)
    minimum_level: int | None
    maximum_level: int | None

    def wire_fields(self) -> Fields:
        """Return all properties in wire names, without those that are None."""
        present = {name: value for name, value in CompleteObject.wire_fields(self).items() if value is not None}
        return Fields({**self.unknown, **present})

    @classmethod
    def of(cls, repository: Repository) -> Self:
        """Return what the service returned for a repository: call `replace` on it to change a property.

        Raises:
            UsageError: what the service returned is not an object.
        """
        stored = encode(_checked(repository).options) or {}
        if not isinstance(stored, dict):
            raise UsageError(
                "the options of the repository are not an object: pass a complete RepositoryOptions(...)",
                argument="repository",
            )
        return cls._of(stored)

    def replace(
        self,
        *,
        query_parameters: Mapping[str, object] | Unset | None = UNSET,
        minimum_level: int | Unset | None = UNSET,
        maximum_level: int | Unset | None = UNSET,
    ) -> Self:
        """Return a copy with these fields changed; everything else stays, unknown properties too."""
        return with_changes(
            self, query_parameters=query_parameters, minimum_level=minimum_level, maximum_level=maximum_level
        )


def _checked(repository: Repository) -> Repository:
    if not isinstance(repository, Repository):
        raise UsageError(
            f"repository must be a Repository, such as `repositories.update` returns, not {type(repository).__name__}",
            argument="repository",
        )
    return repository


def _sent(name: str, value: object) -> object:
    """Return what is sent: the fields of an object of our own, all else in wire names, as a copy.

    Raises:
        UsageError: it is not an object. This is checked even with `check_requests=False`.
    """
    sent = value.wire_fields() if isinstance(value, CompleteObject) else encode(value)
    if not isinstance(sent, dict | None):
        raise UsageError(
            f"{name} must be one of its types, a mapping in wire names, or None to remove it", argument=name
        )
    return sent


#: A mapping in wire names; `type` decides what it has.
AuthenticationParam: TypeAlias = (
    HeaderAuthenticationParam
    | QueryParameterAuthenticationParam
    | BasicAuthenticationParam
    | OAuth2AuthorizationCodePKCEAuthenticationParam
)


# Source: section 5.
class Repositories(Group):
    """The operations on repositories, as `platform.repositories`. They need `itwins_modify`."""

    async def update(
        self,
        itwin_id: str,
        repository_id: str,
        *,
        display_name: str | Unset = UNSET,
        uri: str | Unset = UNSET,
        authentication: Authentication | AuthenticationParam | Mapping[str, object] | Unset | None = UNSET,
        options: RepositoryOptions | RepositoryOptionsParam | Mapping[str, object] | Unset | None = UNSET,
    ) -> Repository:
        """Update a repository: only what is passed, and `authentication` and `options` as complete objects.

        To change one property of them, start from what is stored: `RepositoryOptions.of(repository).replace(...)`.

        Technical Preview: for testing only, not for production use; may change.

        Args:
            itwin_id: the iTwin that the repository is attached to.
            repository_id: the repository.
            display_name: name shown to users, 1 to 200 characters.
            uri: address of the repository, 1 to 2000 characters.
            authentication: the complete object that replaces the stored one; None removes it.
            options: the complete object that replaces the stored one; None removes it.

        Returns:
            The repository as stored; its authentication never shows in `repr`.

        Raises:
            UsageError: nothing to change, a partial object, or a value out of its limits.
            UnprocessableError: the service rejects a value (`InvalidiTwinsRequest`).
            PermissionDeniedError: a permission is missing.
            NotFoundError: there is no such repository (`iTwinRepositoryNotFound`).
            ConflictError: another repository has the same name (`iTwinRepositoryExists`).
            PlatformError: the errors of every call: AuthenticationError, RateLimitError, ServerError, TokenError,
                NotSentError, OutcomeUnknownError, DeadlineExceededError, ResponseDecodeError.

        Example:
            ```python
            repository = await platform.repositories.update(
                itwin_id, repository_id, display_name="Aerial images"
            )
            options = RepositoryOptions.of(repository).replace(minimum_level=3)
            await platform.repositories.update(itwin_id, repository_id, options=options)
            ```

        Source: section 4.1, update_repository on the specification page of the documentation.
        """
        try:
            with ErrorsOfCall(update_repository.METHOD, update_repository.ROUTE):
                check_id("itwin_id", itwin_id)
                check_id("repository_id", repository_id)
                if self._sender.service.check_requests:
                    check_changes(display_name=display_name, uri=uri, authentication=authentication, options=options)
                body = RepositoryUpdate(display_name=display_name, uri=uri)
                # Not as generated models: properties that this version does not know go out as they are.
                if not isinstance(authentication, Unset):
                    body["authentication"] = _sent("authentication", authentication)
                if not isinstance(options, Unset):
                    body["options"] = _sent("options", options)
                values = update_repository.build_request(itwin_id, repository_id, body=body, reject=self._reject)
        finally:
            del authentication, options  # tools that report errors show what frames hold
        response = await self._sender.send(values)
        return unwrap(response, update_repository.parse_response(response).repository, Repository)

    async def create_resource(
        self,
        itwin_id: str,
        repository_id: str,
        *,
        id: str,
        display_name: str,
        type: str | Unset = UNSET,
    ) -> Resource:
        """Add a resource, such as a map layer, to a repository of class GeographicInformationSystem.

        Technical Preview: for testing only, not for production use; may change.

        Args:
            itwin_id: the iTwin that the repository is attached to.
            repository_id: the repository.
            id: unique in the repository, 1 to 200 characters.
            display_name: unique in the repository, 1 to 200 characters.
            type: 1 to 100 characters.

        Returns:
            The resource as stored.

        Raises:
            UsageError: a value out of its limits.
            OutcomeUnknownError: the response was lost; send the same `id` again to find out whether it exists.
            UnprocessableError: the service rejects a value (`InvalidiTwinsRequest`).
            PermissionDeniedError: a permission is missing.
            NotFoundError: there is no such repository (`iTwinRepositoryNotFound`).
            ConflictError: the repository has a resource with this id or name (`iTwinRepositoryResourceExists`).
            PlatformError: the errors of every call: AuthenticationError, RateLimitError, ServerError, TokenError,
                NotSentError, DeadlineExceededError, ResponseDecodeError.

        Example:
            ```python
            resource = await platform.repositories.create_resource(
                itwin_id, repository_id, id="roads", display_name="Roads"
            )
            print(resource.display_name)
            ```

        Source: section 4.2, create_repository_resource on the specification page of the documentation.
        """
        with ErrorsOfCall(create_repository_resource.METHOD, create_repository_resource.ROUTE):
            check_id("itwin_id", itwin_id)
            check_id("repository_id", repository_id)
            body = ResourceCreate(id=id, display_name=display_name, type_=type)
            values = create_repository_resource.build_request(itwin_id, repository_id, body=body, reject=self._reject)
        response = await self._sender.send(values)
        return unwrap(response, create_repository_resource.parse_response(response).resource, Resource)
