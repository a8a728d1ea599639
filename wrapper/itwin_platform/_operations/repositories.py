"""Repositories: data sources attached to an iTwin, and their resources. Source: sections 1, 2.1 to 2.4, 4.1, 4.2."""

from collections.abc import Mapping
from typing import TypeAlias

from .._api import (
    UNSET,
    BasicAuthenticationParam,
    HeaderAuthenticationParam,
    OAuth2AuthorizationCodePKCEAuthenticationParam,
    QueryParameterAuthenticationParam,
    Repository,
    RepositoryOptionsParam,
    RepositoryUpdate,
    Resource,
    ResourceCreate,
    Unset,
    create_repository_resource,
    update_repository,
)
from .._errors import UsageError
from .._requests.platform import unwrap
from . import Group
from .replacement import Authentication, RepositoryOptions, check_authentication, check_options, wire_object
from .rules import check_changes, check_path_id

#: A mapping in wire names; `type` decides what it has.
AuthenticationParam: TypeAlias = (
    HeaderAuthenticationParam
    | QueryParameterAuthenticationParam
    | BasicAuthenticationParam
    | OAuth2AuthorizationCodePKCEAuthenticationParam
)


class Repositories(Group):
    """The operations on repositories, as `platform.repositories`. They need `itwins_modify`. Source: section 5."""

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

        Source: section 4.1.
        """
        try:
            check_path_id("itwin_id", itwin_id)
            check_path_id("repository_id", repository_id)
            check = self._sender.service.check_requests
            if check:
                check_changes(display_name=display_name, uri=uri, authentication=authentication, options=options)
            body = RepositoryUpdate(display_name=display_name, uri=uri)
            # As mappings, not as generated models: properties that this version does not know go out as they are.
            if not isinstance(authentication, Unset):
                body["authentication"] = wire_object("authentication", authentication)
                if check and body["authentication"] is not None:
                    check_authentication(body["authentication"])
            if not isinstance(options, Unset):
                body["options"] = wire_object("options", options)
                if check and body["options"] is not None and not isinstance(options, RepositoryOptions):
                    check_options(body["options"])
            values = update_repository.build_request(itwin_id, repository_id, body=body, reject=self._reject)
        except UsageError as error:
            raise error.with_traceback(None) from None
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

        Source: section 4.2.
        """
        check_path_id("itwin_id", itwin_id)
        check_path_id("repository_id", repository_id)
        body = ResourceCreate(id=id, display_name=display_name, type_=type)
        values = create_repository_resource.build_request(itwin_id, repository_id, body=body, reject=self._reject)
        response = await self._sender.send(values)
        return unwrap(response, create_repository_resource.parse_response(response).resource, Resource)
