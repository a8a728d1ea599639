"""Paging links that mislead. Described is section 2.10."""

import base64
from collections.abc import Callable
from dataclasses import replace
from urllib.parse import urlsplit

from ..._service.messages import APIRequest, ServiceResponse
from ..._service.queries.itwin_query import parse_integer
from .context import ChangeContext, copy_of, object_at

CONTINUATION_TOKEN = "$continuationToken"  # noqa: S105 - the name of a query parameter


def foreign(context: ChangeContext, response: ServiceResponse) -> ServiceResponse:
    """The next page is said to be at another origin."""
    return _with_next(response, lambda href: context.fault.origin + _path_and_query(href))


def looping(_: ChangeContext, response: ServiceResponse) -> ServiceResponse:
    """The next page is said to be this page."""
    changed, body = copy_of(response)
    links = object_at(body, "_links")
    if "next" in links:
        links["next"] = links["self"]
    return changed


def relative(_: ChangeContext, response: ServiceResponse) -> ServiceResponse:
    """The link has no scheme and host."""
    return _with_next(response, _path_and_query)


def blank_led(_: ChangeContext, response: ServiceResponse) -> ServiceResponse:
    """A blank stands before the address."""
    return _with_next(response, lambda href: f" {href}")


def null(_: ChangeContext, response: ServiceResponse) -> ServiceResponse:
    """On the last page the link is null."""
    changed, body = copy_of(response)
    if "_links" in body:
        object_at(body, "_links").setdefault("next", None)
    return changed


def empty(_: ChangeContext, response: ServiceResponse) -> ServiceResponse:
    """On the last page the address of the link is empty."""
    changed, body = copy_of(response)
    if "_links" in body:
        object_at(body, "_links").setdefault("next", {"href": ""})
    return changed


def continuation_token(_: ChangeContext, response: ServiceResponse) -> ServiceResponse:
    """An opaque token says where the next page begins."""
    return _with_next(response, lambda href: "&".join(map(_hide_skip, href.split("&"))))


def read_continuation_token(request: APIRequest) -> APIRequest:
    """The request with the number that its continuation token stands for."""
    if CONTINUATION_TOKEN not in request.query:
        return request
    query = {name: value for name, value in request.query.items() if name != CONTINUATION_TOKEN}
    try:
        skip = base64.urlsafe_b64decode(request.query[CONTINUATION_TOKEN]).decode("ascii")
    except ValueError:
        skip = "not a token of this sandbox"
    return replace(request, query={**query, "$skip": skip})


def ask_for_smaller_page(request: APIRequest) -> APIRequest:
    """The request with a page size a third smaller."""
    top = parse_integer(request.query.get("$top", "100"))
    if top is None or top < 2:
        return request
    return replace(request, query={**request.query, "$top": str(top - max(1, top // 3))})


def other_page_size(context: ChangeContext, response: ServiceResponse) -> ServiceResponse:
    """The links keep the page size that was asked for."""
    asked = context.request.query.get("$top", "100")
    used = ask_for_smaller_page(context.request).query.get("$top", "100")
    return _with_next(response, lambda href: href.replace(f"$top={used}", f"$top={asked}"))


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
