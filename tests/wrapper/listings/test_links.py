"""The reading of a `next` link: the next query, the end of the listing, or an error."""

import string
from urllib.parse import unquote

import pytest
from hypothesis import example, given, strategies as st
from itwin_platform import PagingError

from tests.support.examples import strings
from tests.wrapper.listings.conftest import BASE_URL, ITWIN, SCENE, LinkedPages, itwin_page, linked, object_page

ADDRESS = f"{BASE_URL}/itwins/"


async def query_after(link: object) -> str:
    """Follow a link from a page of 100, and return the decoded query of the request that it led to."""
    service = linked(link, None)
    await service.platform.itwins.list(page_size=100, parent_id="p").collect()
    return unquote(service.queries[1])


async def rejected(service: LinkedPages) -> str:
    """Read until a link is rejected, and return the text of the error, which follows the items of the page."""
    with pytest.raises(PagingError) as caught:
        await service.platform.itwins.list(page_size=100).collect()
    assert len(caught.value.collected) == len(service.queries), "items come before the error, and nothing is sent after"
    assert caught.value.resume is not None
    return str(caught.value)


#: Addresses before the query of a link, as backends, gateways and proxies have them for the operation.
PLACES = [
    *("", "./", "itwins", "itwins/", "/prefix/itwins", "/itwins/", ADDRESS, "HTTPS://SERVICE.example:443/itwins/"),
    *("http://localhost/itwins", "http://service.example:0/itwins/", "//backend/prefix/itwins/", "///itwins/"),
    *("http://backend.namespace_1:8080/itwins/", "http://[::1]:8080/v2/itwins/", "http:///itwins/", "https:/itwins/"),
    *("https://gateway.example//PREFIX//iTwins//", "localhost:8080/itwins/", "https,http://backend/itwins/"),
    *("https://gateway.example, backend/itwins/", "/prefix/%69twins/", "/other/../itwins/", "/other/%2e%2e/itwins/."),
]


@pytest.mark.parametrize("place", PLACES)
async def test_the_address_of_a_link_does_not_matter(place: str) -> None:
    """A link is followed with any scheme, host, port and prefix, if its path is that of the operation."""
    for link in (f"{place}?$skip=100&$top=100", f" \n{place}?&%24skip=100&&%24top=100#y?x \t"):
        assert await query_after(link) == "parentId=p&$skip=100&$top=100"


NO_LINKS = [None, {}, {"href": None}, {"href": ""}, {"href": "  "}]


@pytest.mark.parametrize("links", [{}, None, *({"next": link} for link in NO_LINKS)])
async def test_absent_null_and_empty_links_end_the_listing(links: object) -> None:
    """A next link that is missing, null or empty ends the listing; an empty page with a link does not."""
    service = LinkedPages([itwin_page(link="?$skip=2"), itwin_page("a") | {"_links": links}])
    assert len(await service.platform.itwins.list().collect()) == 1


@pytest.mark.parametrize("links", [[], 5, "text", {"next": 5}, {"next": []}, {"next": {"href": 5}}])
async def test_links_of_an_unknown_form_are_an_error(links: object) -> None:
    """A link of an unknown form is a PagingError, not the end of the listing."""
    await rejected(LinkedPages([itwin_page("a") | {"_links": links}]))


#: Addresses that a link must not have, and the path in the error.
ELSEWHERE = [
    *(("/prefix/scenes/", "/prefix/scenes/"), ("https://service.example/itwins/x", "/itwins/x"), ("deeper", "deeper")),
    *(("/my-itwins/", "/my-itwins/"), ("https://itwins/", "/")),
    *(("https://service.example", ""), ("x" * 300, "x" * 200)),
    *(("/itwins/%2e%2e/", "/itwins/%2e%2e/"), ("/itwins/../scenes", "/itwins/../scenes")),
    *(("\\\\backend\\itwins\\", "\\\\backend\\itwins\\"), ("javascript:alert(1)", "alert(1)")),
]
USERS = ["https://user@service.example", "https://user:password@service.example", "https://service.example\\@backend"]
#: Links that are not followed, and the text of the error.
REJECTED: list[tuple[object, str]] = [
    *((f"{place}?$skip=9", f"has the path {path!r}, which does not end with '/itwins/'") for place, path in ELSEWHERE),
    *((f"{address}/itwins/?$skip=100", "holds user information") for address in USERS),
    *((f"?$skip=1{text}", "control character") for text in ("\x0000", "\r\nHost: elsewhere.example")),
    *((f"https://{host}/itwins/?$skip=100", "not a URL") for host in ("[::1", "a.example:99999", "\u2100.example")),
    *(("?%ff=1", "not a URL"), ("?cursor=\ud800", "not a URL"), ("\ud800?$skip=100", "not a URL")),
    *((f"?$skip=100&{again}", "twice") for again in ("$skip=200", "%24skip=many", "$top=5&$top=6")),
    *((f"?$skip={value}", "not as a number") for value in ("", "-1", "1.0", "\u0663", "9" * 19)),
    *((link, "not a string") for link in (5, ["?$skip=100"], {"uri": "?$skip=100"})),
    *((link, "does not advance") for link in ("?$skip=0&$top=100", ADDRESS, "?subClass=Asset", "?$top=5")),
]


@pytest.mark.parametrize(("href", "says"), REJECTED)
async def test_links_that_are_not_followed(href: object, says: str) -> None:
    """A link to another operation, and an invalid URL, is a PagingError that states the rule."""
    assert says in await rejected(linked(href))


@pytest.mark.parametrize(
    ("links", "says"),
    [
        # A smaller or equal `$skip`, the cursor of the page itself, or the first page.
        *((["?$skip=20", link], "does not advance") for link in ("?$skip=20&other=1", "?$skip=10")),
        *((["?cursor=abc&$top=5", link], "does not advance") for link in ("?$top=5&cursor=abc", "?$top=5")),
        (["?cursor=a", "?cursor=b", "?cursor=c", "?cursor=b"], "was read before"),
    ],
)
async def test_links_in_a_loop_are_an_error(links: list[str], says: str) -> None:
    """A link to this page or to one before it ends the listing with an error."""
    assert says in await rejected(service := linked(*links))
    assert len(service.queries) == len(links)


async def test_empty_pages_without_end_are_an_error() -> None:
    """Ten empty pages in a row are followed as long as each advances; a page with items starts the count again."""
    service = LinkedPages([itwin_page(*"a" * (step == 11), link=f"?$skip={step}") for step in range(1, 30)])
    with pytest.raises(PagingError, match="more than 10 pages in a row were empty, and each links to another one"):
        await service.platform.itwins.list().collect()
    assert len(service.queries) == 22


@pytest.mark.parametrize("concurrency", [1, 4])
async def test_a_limit_that_is_reached_needs_no_link(concurrency: int) -> None:
    """A link after the last item of the limit is not checked."""
    pager = linked("/elsewhere/").platform.itwins.list(limit=1, concurrency=concurrency)
    assert len(await pager.collect()) == 1


ADDRESS_LIKE = st.builds(
    "{}{}{}".format,
    st.sampled_from(["", "https:", "HTTPS://", "//", "\\\\", "https:///", "https://user@service.example"]),
    st.sampled_from(["", "/", "/prefix/itwins/", "/prefix/itwins/../x", "/prefix/itwins/%2e%2e/x"]),
    st.text(alphabet="/\\?#@:%.$[]=& \t" + string.ascii_letters),
)


@given(strings() | ADDRESS_LIKE)
@example("http://[")
async def test_no_text_breaks_the_reading(href: str) -> None:
    """Any link ends the listing, raises a PagingError, or sends its query to the service."""
    service = linked(href, None)
    try:
        await service.platform.itwins.list().collect()
    except PagingError:
        assert len(service.queries) == 1
    assert {str(request.url).partition("?")[0] for request in service.requests} == {ADDRESS}


@pytest.mark.parametrize("value", ["ab+/c==", "a%2Bb", "a%26b", "%FF%00", "a%20b+c", ""])
async def test_values_of_a_link_are_sent_as_they_came(value: str) -> None:
    """A cursor is sent as the service wrote it, without decoding and encoding."""
    service = linked(f"?cursor={value}&$top=100", None)
    await service.platform.itwins.list(page_size=100, skip=5, display_name="zür +1%").collect()
    assert service.queries[1] == f"displayName=z%C3%BCr%20%2B1%25&$top=100&cursor={value}"


ODATA = ["$apply", "$compute", "$count", "$expand", "$filter", "$format", "$orderby", "$search", "$select"]


@pytest.mark.parametrize("name", ["parentId", "PARENTID", "$parentId", " parentid", "%70arentId", "FILTER", *ODATA])
async def test_no_link_changes_a_keyword(name: str) -> None:
    """A parameter of the operation or of OData is dropped from a link, however it is written; cursors are not."""
    link = f"?{name}=x&$skip=100&skip=1&cursor=y"
    assert await query_after(link) == "parentId=p&$skip=100&$top=100&skip=1&cursor=y"
    service = LinkedPages([object_page("a", link=link), object_page("b")])
    assert len(await service.platform.scenes.list_objects(SCENE, ITWIN).collect()) == 2
    assert ("=x" in service.queries[1]) is (name not in (*ODATA, "FILTER"))


async def test_the_page_size_of_the_service_is_kept() -> None:
    """A page size in a link is kept when it is not the one that was requested, for as long as the links have it."""
    links = ["?$skip=10&$top=7", "?$skip=17&$top=7", "?$skip=24&$top=100", "?$skip=124&$top=100"]
    service = linked(*links, None)
    await service.platform.itwins.list(page_size=100).collect()
    assert [f"?{unquote(query)}" for query in service.queries[1:]] == links
