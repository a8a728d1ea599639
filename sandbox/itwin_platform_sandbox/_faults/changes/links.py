"""Wrong and unusual paging links. Source of the links: section 2.10."""

import base64
from collections.abc import Callable
from dataclasses import replace
from urllib.parse import urlsplit

from ..._service.messages import APIRequest, ServiceResponse
from ..._service.queries.itwin_query import parse_integer
from .context import ChangeContext, copy_of, items_of, object_at

CONTINUATION_TOKEN = "$continuationToken"  # noqa: S105 - the name of a query parameter


def foreign(context: ChangeContext, response: ServiceResponse) -> ServiceResponse:
    """Let the next link name another origin."""
    return _with_next(response, lambda href: context.fault.origin + _path_and_query(href))


def looping(_: ChangeContext, response: ServiceResponse) -> ServiceResponse:
    """Let the next link name this page."""
    changed, body = copy_of(response)
    links = object_at(body, "_links")
    if "next" in links:
        links["next"] = links["self"]
    return changed


def relative(_: ChangeContext, response: ServiceResponse) -> ServiceResponse:
    """Omit scheme and host from the next link."""
    return _with_next(response, _path_and_query)


def blank_led(_: ChangeContext, response: ServiceResponse) -> ServiceResponse:
    """Put a blank before the address."""
    return _with_next(response, lambda href: f" {href}")


def null(_: ChangeContext, response: ServiceResponse) -> ServiceResponse:
    """Set the next link of the last page to null."""
    changed, body = copy_of(response)
    if "_links" in body:
        object_at(body, "_links").setdefault("next", None)
    return changed


def empty(_: ChangeContext, response: ServiceResponse) -> ServiceResponse:
    """Give the next link of the last page an empty address."""
    changed, body = copy_of(response)
    if "_links" in body:
        object_at(body, "_links").setdefault("next", {"href": ""})
    return changed


def continuation_token(_: ChangeContext, response: ServiceResponse) -> ServiceResponse:
    """Replace $skip in the next link by an opaque token."""
    return _with_next(response, lambda href: "&".join(map(_hide_skip, href.split("&"))))


def read_continuation_token(request: APIRequest) -> APIRequest:
    """Return the request with the $skip that its continuation token encodes."""
    if CONTINUATION_TOKEN not in request.query:
        return request
    query = {name: value for name, value in request.query.items() if name != CONTINUATION_TOKEN}
    try:
        skip = base64.urlsafe_b64decode(request.query[CONTINUATION_TOKEN]).decode("ascii")
    except ValueError:
        skip = "not a token of this sandbox"
    return replace(request, query={**query, "$skip": skip})


def can_be_smaller(context: ChangeContext, response: ServiceResponse) -> bool:
    """Return whether a page a third smaller would have fewer items."""
    body = response.body if isinstance(response.body, dict) else {}
    return "_links" in body and len(list(items_of(body))) > _smaller_size(context.request)


def other_page_size(context: ChangeContext, _: ServiceResponse) -> ServiceResponse:
    """Return a page a third smaller; its links keep the requested page size."""
    requested = context.request.query.get("$top", "100")
    used = str(_smaller_size(context.request))
    smaller = context.run_again(replace(context.request, query={**context.request.query, "$top": used}))
    return _with_next(smaller, lambda href: href.replace(f"$top={used}", f"$top={requested}"))


def _smaller_size(request: APIRequest) -> int:
    top = parse_integer(request.query.get("$top", "100")) or 0
    return top - max(1, top // 3)


def _with_next(response: ServiceResponse, change: Callable[[str], str]) -> ServiceResponse:
    changed, body = copy_of(response)
    link = object_at(object_at(body, "_links"), "next")
    if "href" in link:
        link["href"] = change(str(link["href"]))
    return changed


def _path_and_query(href: str) -> str:
    parts = urlsplit(href)
    return f"{parts.path}?{parts.query}"


def _hide_skip(parameter: str) -> str:
    before, found, skip = parameter.partition("$skip=")
    if not found:
        return parameter
    return f"{before}{CONTINUATION_TOKEN}={base64.urlsafe_b64encode(skip.encode('ascii')).decode('ascii')}"
