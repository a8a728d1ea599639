"""Scenes: named collections of scene objects, tied to an iTwin. Source: sections 1, 2.6, 2.7, 4.5 and 4.6."""

import html
from collections.abc import Callable, Iterable, Mapping
from datetime import datetime
from functools import partial
from typing import Any, cast

from itwin_platform_api import models
from itwin_platform_api.api.scenes import create_scene, list_scene_objects
from itwin_platform_api.types import UNSET, Unset, copy_values, encode
from itwin_platform_transport import TransportError

from .._listings.pager import Pager, PageReader
from .._listings.pages import Listing, Page, PageContent, SceneState
from .._requests.request import check_header
from .._requests.sender import DecodedResponse, ErrorsOfCall, unwrap
from . import Group, check_id

#: Most objects of one page.
OBJECTS_PER_PAGE = list_scene_objects.RULES["top"].maximum
JSON = str | int | float | bool | list["JSON"] | dict[str, "JSON"] | None


# Source: section 5.
class Scenes(Group):
    """The operations on scenes, as `platform.scenes`. The specification names no permission for them."""

    async def create(
        self,
        itwin_id: str,
        *,
        display_name: str,
        id: str | Unset = UNSET,
        description: str | Unset = UNSET,
        parent_id: str | Unset = UNSET,
        objects: Iterable[models.SceneObjectCreate | models.SceneObjectCreateParam | Mapping[str, object]]
        | Unset = UNSET,
        correlation_id: str | Unset = UNSET,
    ) -> models.Scene:
        """Create a scene, with objects in it.

        Technical Preview: for testing only, not for production use; may change.

        A lost response is not retried, because the scene may exist. Pass an `id` of your own, and create the scene
        again with the same arguments: ConflictError (SceneExists) means that the first request arrived, and so does
        BadRequestError with the message "objects[0].id is not unique" when the objects have ids.

        Args:
            itwin_id: primary iTwin of the scene.
            display_name: name of the scene.
            id: a UUID of your own; the service generates one by default.
            description: any string.
            parent_id: the parent scene, a UUID.
            objects: at most 100 scene objects, as models or as mappings in wire names; they are not changed.
            correlation_id: activity id for tracking the request.

        Returns:
            The scene as stored; the data of known kinds is typed.

        Raises:
            UsageError: a value out of its limits, or a body that is too large.
            OutcomeUnknownError: the response was lost; `scene_id` is the `id` that was passed.
            BadRequestError: the service rejects a value (`InvalidScenesRequest`).
            PermissionDeniedError: a permission is missing.
            NotFoundError: there is no such iTwin or scene (`SceneNotFound`).
            ConflictError: there is a scene with this `id` (`SceneExists`).
            RequestTooLargeError: the request is larger than the service accepts.
            PlatformError: the errors of every call: AuthenticationError, RateLimitError, ServerError, TokenError,
                NotSentError, DeadlineExceededError, ResponseDecodeError.

        Example:
            ```python
            scene = await platform.scenes.create(
                itwin_id,
                display_name="Bridge, west side",
                id="6a2d2381-6c57-4332-b87a-5b7c00000002",
            )
            print(scene.display_name)
            ```

        Source: section 4.5, create_scene on the specification page of the documentation.
        """
        with ErrorsOfCall(create_scene.METHOD, create_scene.ROUTE):
            check_id("itwin_id", itwin_id)
            check_header("correlation_id", correlation_id)
            created: Any = objects  # models and mappings, which `build_request` checks
            if isinstance(objects, Iterable) and not isinstance(objects, str | Mapping):
                created = cast("Any", [*objects])
            body = models.SceneCreate(
                display_name=display_name,
                id=id,
                description=description,
                parent_id=parent_id,
                scene_data=UNSET if created is UNSET else models.SceneDataCreate(objects=created),
            )
            values = create_scene.build_request(
                itwin_id=itwin_id, x_correlation_id=correlation_id, body=body, reject=self._reject
            )
        try:
            response = await self._sender.send(values)
        except TransportError as error:
            if not isinstance(id, Unset):
                error.scene_id = id
                error.args = (f"{error.args[0]}; the id of the scene is {id}",)
            raise
        return unwrap(response, create_scene.parse_response(response).scene, models.Scene)

    def list_objects(
        self,
        scene_id: str,
        itwin_id: str,
        *,
        order_by: models.SceneObjectOrderParam | Unset = UNSET,
        skip: int = 0,
        page_size: int | None = None,
        limit: int | None = None,
        concurrency: int = 1,
        resume: str | None = None,
        correlation_id: str | Unset = UNSET,
        on_page: Callable[[Page[models.SceneObject]], None] | None = None,
    ) -> Pager[models.SceneObject]:
        """List the objects of a scene. The first request is sent when iteration starts.

        Technical Preview: for testing only, not for production use; may change.

        `pager.is_partial` is True when the service withheld objects that the caller has no permission for.
        Strings in `data` are untrusted: see `escape`.

        Args:
            scene_id: the scene, a UUID.
            itwin_id: primary iTwin of the scene.
            order_by: a property; the service defaults to `kind`. The specification names no other.
            skip: objects to skip, 0 or more.
            page_size: objects of one request, 1 to 100; None for 100, or for the rest of `limit` if that is less.
            limit: objects wanted in all; None for all there are.
            concurrency: page requests in flight, 1 or more. The first page is requested alone, because its link shows
                how the service paginates.
            resume: the position at which an earlier run of the same listing ended: see `itwins.list`.
            correlation_id: activity id for tracking, sent with every page.
            on_page: called with each page when it has been read.

        Returns:
            A lazy listing: iterate over its objects or its `pages()`, or await `collect()`.

        Raises:
            UsageError: a value out of its limits, or a `resume` of another listing.
            NotFoundError: during iteration, there is no such scene (`SceneObjectNotFound`).
            PagingError: during iteration, a next link cannot be followed.
            PlatformError: during iteration, the errors of every call: AuthenticationError, RateLimitError, ServerError,
                TokenError, NotSentError, OutcomeUnknownError, DeadlineExceededError, ResponseDecodeError.

        Example:
            ```python
            async for item in platform.scenes.list_objects(scene_id, itwin_id, limit=10):
                print(item.kind, item.display_name)
            ```

        Source: section 4.6, list_scene_objects on the specification page of the documentation.
        """
        with ErrorsOfCall(list_scene_objects.METHOD, list_scene_objects.ROUTE):
            check_id("scene_id", scene_id)
            check_id("itwin_id", itwin_id)
            check_header("correlation_id", correlation_id)
            first = list_scene_objects.build_request(
                scene_id,
                itwin_id=itwin_id,
                order_by=order_by,
                skip=UNSET if skip == 0 else skip,
                top=UNSET if page_size is None else page_size,
                x_correlation_id=correlation_id,
                reject=self._reject,
            )
            listing = Listing(
                name="list_scene_objects",
                first=self._sender.with_extras(first),
                sender=self._sender,
                parameters=list_scene_objects.QUERY_PARAMETERS,
                most=OBJECTS_PER_PAGE,
                page_size=page_size,
                skip=skip,
                limit=limit,
                concurrency=concurrency,
            )
            return Pager(listing, partial(PageReader, _read_page), resume=resume, on_page=on_page)


def _read_page(response: DecodedResponse) -> PageContent[models.SceneObject]:
    parsed = list_scene_objects.parse_response(response)
    scene = None
    context: models.SceneContext | Unset | None = parsed.scene_context  # the type checker rejects another type here
    if isinstance(context, models.SceneContext):
        last: datetime | Unset | None = context.last_modified
        modified = last if isinstance(last, datetime) else None
        is_partial = context.is_partial is True
        scene = SceneState(display_name=context.display_name or None, last_modified=modified, is_partial=is_partial)
    return PageContent(items=unwrap(response, parsed.objects, list), links=parsed.links, response=response, scene=scene)


# Source: section 2.7.
def escape(data: object) -> JSON:
    """Return a copy in which every string is escaped for HTML, keys and quotes too.

    Args:
        data: data of a scene object, typed or not, or any part of it. It is not changed.

    Returns:
        A mapping, a list or a scalar, as JSON has them, with the property names of the service.

    Example:
        ```python
        async for item in platform.scenes.list_objects(scene_id, itwin_id, limit=10):
            print(escape(item.data))
        ```
    """
    copied: JSON = copy_values(data, scalar=_escaped, name=lambda key: html.escape(str(key)))
    return copied


def _escaped(value: object) -> str | int | float | None:
    encoded = encode(value)
    if encoded is None or isinstance(encoded, bool | int | float):
        return encoded
    return html.escape(str(encoded))
