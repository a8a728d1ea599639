"""Repositories: data sources attached to an iTwin, and their resources. Source: sections 1, 2.1 to 2.4, 4.1, 4.2.

An update replaces `authentication` and `options` as complete objects. Their models require every property. To change
one property, start from the returned object: `repository.options.replace(minimum_level=3)`.
"""

from collections.abc import Mapping
from typing import TypeAlias, cast

from itwin_platform_api import models
from itwin_platform_api.api.repositories import create_repository_resource, update_repository
from itwin_platform_api.types import UNSET, Unset

from .._requests.sender import ErrorsOfCall, unwrap
from . import Group, check_id

#: A complete object, or a mapping in wire names, whose `type` decides on its properties.
AuthenticationParam: TypeAlias = (
    models.HeaderAuthentication
    | models.HeaderAuthenticationParam
    | models.QueryParameterAuthentication
    | models.QueryParameterAuthenticationParam
    | models.BasicAuthentication
    | models.BasicAuthenticationParam
    | models.OAuth2AuthorizationCodePKCEAuthentication
    | models.OAuth2AuthorizationCodePKCEAuthenticationParam
    | Mapping[str, object]
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
        authentication: AuthenticationParam | Unset | None = UNSET,
        options: models.RepositoryOptions | models.RepositoryOptionsParam | Mapping[str, object] | Unset | None = UNSET,
    ) -> models.Repository:
        """Update the properties of a repository that are passed; `authentication` and `options` are complete objects.

        To change one property of these, start from the stored object: `repository.options.replace(minimum_level=3)`.

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
            if repository.options:
                options = repository.options.replace(minimum_level=3)
                await platform.repositories.update(itwin_id, repository_id, options=options)
            ```

        Source: section 4.1, update_repository on the specification page of the documentation.
        """
        try:
            with ErrorsOfCall(update_repository.METHOD, update_repository.ROUTE):
                check_id("itwin_id", itwin_id)
                check_id("repository_id", repository_id)
                self._check_changes(display_name=display_name, uri=uri, authentication=authentication, options=options)
                values = update_repository.build_request(
                    itwin_id,
                    repository_id,
                    body=models.RepositoryUpdate(  # not in a variable, which error trackers would capture
                        display_name=display_name,
                        uri=uri,
                        # A mapping may stand for a model.
                        authentication=cast("models.BasicAuthentication", authentication),
                        options=cast("models.RepositoryOptions", options),
                    ),
                    reject=self._reject,
                )
        finally:
            del authentication, options  # error trackers capture the variables of frames
        response = await self._sender.send(values)
        return unwrap(response, update_repository.parse_response(response).repository, models.Repository)

    async def create_resource(
        self,
        itwin_id: str,
        repository_id: str,
        *,
        id: str,
        display_name: str,
        type: str | Unset = UNSET,
    ) -> models.Resource:
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
            body = models.ResourceCreate(id=id, display_name=display_name, type_=type)
            values = create_repository_resource.build_request(itwin_id, repository_id, body=body, reject=self._reject)
        response = await self._sender.send(values)
        return unwrap(response, create_repository_resource.parse_response(response).resource, models.Resource)
