"""Links to this, the next and the previous page. Source: section 2.10."""

from collections.abc import Mapping
from urllib.parse import quote

from .json_values import JSONObject


def paging_links(url: str, query: Mapping[str, str], *, skip: int, top: int, total: int) -> JSONObject:
    """Return absolute links with every parameter of the request and its defaults; next and prev if they exist."""
    links: JSONObject = {"self": _link(url, query, skip, top)}
    if skip + top < total:
        links["next"] = _link(url, query, skip + top, top)
    if skip > 0 and total > 0:
        links["prev"] = _link(url, query, max(0, skip - top), top)
    return links


def _link(url: str, query: Mapping[str, str], skip: int, top: int) -> JSONObject:
    selecting = {name: value for name, value in query.items() if name not in ("$skip", "$top")}
    parameters = {**selecting, "$skip": str(skip), "$top": str(top)}
    # The service does not encode the dollar sign of its parameters.
    text = "&".join(f"{quote(name, safe='$')}={quote(value, safe=',:')}" for name, value in parameters.items())
    return {"href": f"{url}?{text}"}
