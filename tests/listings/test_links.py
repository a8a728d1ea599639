"""How a `next` link is read: as a query to continue with, as an end, or as something that must not be followed."""

import string
from urllib.parse import unquote

import pytest
from hypothesis import example, given, strategies as st
from itwin_platform import PagingError

from tests.support.examples import strings
from tests.support.prepared_pages import BASE_URL, LinkedPages, linked
from tests.support.virtual_time import in_virtual_time

ADDRESS = f"{BASE_URL}/itwins/"


async def query_after(link: object) -> str:
    """Follow a link from a page of 100, and return the decoded query of the request that it led to."""
    service = linked(link, None)
    await service.platform.itwins.list(page_size=100, parent_id="p").collect()
    return unquote(service.queries[1])


async def rejected(service: LinkedPages) -> PagingError:
    """Read until a link is rejected, and return the error, which comes behind the items of its page."""
    with pytest.raises(PagingError) as caught:
        await service.platform.itwins.list(page_size=100).collect()
    assert len(caught.value.collected) == len(service.queries), "items come before the error, and nothing is sent after"
    assert caught.value.resume is not None
    return caught.value


@pytest.mark.parametrize(
    "href",
    [
        f"{ADDRESS}?$skip=100&$top=100",
        f"  {ADDRESS}?$skip=100&$top=100 ",
        "\n?$skip=100&$top=100\t",
        "HTTPS://SERVICE.example/prefix/itwins/?$skip=100&$top=100",
        "https://service.example:443/prefix/itwins/?$skip=100&$top=100",
        "https://service.example/prefix/itwins?$skip=100&$top=100",
        "https://service.example/prefix/%69twins/?$skip=100&$top=100",
        "//service.example/prefix/itwins/?$skip=100&$top=100",
        "/prefix/itwins/?%24skip=100&%24top=100",
        "?$skip=100&$top=100",
        "?&$skip=100&&$top=100#fragment",
        "../itwins/?$skip=100&$top=100",
    ],
)
async def test_ways_to_write_the_next_page(href: str) -> None:
    """Absolute, relative, blank-led, escaped: a link to the listing's own address is read for its query."""
    assert await query_after(href) == "parentId=p&$skip=100&$top=100"


@pytest.mark.parametrize(
    "links",
    [
        *({}, None, {"next": None}, {"next": {}}, {"next": {"href": None}}),
        *({"next": {"href": ""}}, {"next": {"href": "  "}}),
    ],
)
async def test_absent_null_and_empty_links_end_the_listing(links: object) -> None:
    """A next link that is missing, null or empty ends the listing; an empty page with a link does not."""
    last: dict[str, object] = {"iTwins": [{"id": "a"}], "_links": links}
    service = LinkedPages(pages=[{"iTwins": [], "_links": {"next": {"href": "?$skip=2"}}}, last])
    assert len(await service.platform.itwins.list().collect()) == 1
    service = LinkedPages(pages=[{"iTwins": [{"id": "a"}]}])
    assert len(await service.platform.itwins.list().collect()) == 1


@pytest.mark.parametrize("links", [[], 5, "text", {"next": 5}, {"next": []}, {"next": {"href": 5}}])
async def test_links_of_no_known_form_are_no_end(links: object) -> None:
    """What cannot be a link is reported: there may be more behind it."""
    await rejected(LinkedPages(pages=[{"iTwins": [{"id": "a"}], "_links": links}]))


@pytest.mark.parametrize(
    ("href", "says"),
    [
        ("https://elsewhere.example/prefix/itwins/?$skip=100", "another origin"),
        ("https://service.example.elsewhere.example/prefix/itwins/?$skip=100", "another origin"),
        ("http://service.example/prefix/itwins/?$skip=100", "another origin"),
        ("https://service.example:8443/prefix/itwins/?$skip=100", "another origin"),
        ("https://service.example:0/prefix/itwins/?$skip=100", "another origin"),
        ("//elsewhere.example/prefix/itwins/?$skip=100", "another origin"),
        ("https://user@service.example/prefix/itwins/?$skip=100", "another origin"),
        ("https://service.example@elsewhere.example/prefix/itwins/?$skip=100", "another origin"),
        ("https://service.example\\@elsewhere.example/prefix/itwins/?$skip=100", "another origin"),
        ("javascript:alert(1)", "another origin"),
        ("/itwins/?$skip=100", "another path"),
        ("/prefix/scenes/?$skip=100", "another path"),
        ("/prefix/itwins/deeper/?$skip=100", "another path"),
        ("/prefix/../itwins/?$skip=100", "another path"),
        ("/prefix/%2e%2e/prefix/itwins/?$skip=100", "another path"),
        ("/prefix/%252e%252e/itwins/?$skip=100", "another path"),
        ("\\\\elsewhere.example\\prefix\\itwins\\?$skip=100", "another path"),
        ("?$skip=1\x0000", "control character"),
        ("?$skip=1\r\nHost: elsewhere.example", "control character"),
        ("https://serv\tice.example/prefix/itwins/?$skip=100", "control character"),
        ("https://[::1/prefix/itwins/?$skip=100", "not a URL"),
        ("https://service.example:99999/prefix/itwins/", "not a URL"),
        ("https://service.example:port/prefix/itwins/", "not a URL"),
        ("https://service\u2100.example/prefix/itwins/", "not a URL"),
        ("?%ff=1", "not a URL"),
        ("?cursor=\ud800", "not a URL"),
        ("?$skip=100&$skip=200", "twice"),
        ("?$skip=100&%24skip=many", "twice"),
        ("?$skip=100&$top=5&$top=6", "twice"),
        *((f"?$skip={value}", "not as a number") for value in ("", "-1", "1.0", "\u0663", "9" * 19)),
        (5, "not a string"),
        (["?$skip=100"], "not a string"),
        ({"uri": "?$skip=100"}, "not a string"),
        *((link, "does not advance") for link in ("?$skip=0&$top=100", ADDRESS, "?subClass=Asset", "?$top=5")),
    ],
)
async def test_links_that_are_not_followed(href: object, says: str) -> None:
    """Another origin, scheme, port, user or path, and what is no address, is rejected with the rule in words."""
    assert says in str(await rejected(linked(href)))


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("?$skip=200", "?$skip=200&other=1"),
        ("?$skip=200", "?$skip=100"),
        ("?cursor=abc", "?cursor=abc"),
        ("?cursor=abc&$top=5", "?$top=5&cursor=abc"),
    ],
)
async def test_links_that_do_not_advance(first: str, second: str) -> None:
    """A smaller or equal `$skip`, or the cursor of the page itself, is rejected."""
    assert "does not advance" in str(await rejected(linked(first, second)))


async def test_a_loop_of_cursors_is_not_followed() -> None:
    """A cursor that came before ends the listing with an error, before a page is requested twice."""
    assert "was read before" in str(await rejected(linked(*(f"?cursor={text}" for text in "abcb"))))


async def test_empty_pages_without_end_are_an_error() -> None:
    """Ten empty pages in a row are followed as long as each advances; a page with items starts the count again."""
    pages: list[dict[str, object]] = [
        {"iTwins": [], "_links": {"next": {"href": f"?$skip={step}"}}} for step in range(1, 30)
    ]
    pages[10]["iTwins"] = [{"id": "a"}]
    service = LinkedPages(pages=pages)
    with pytest.raises(PagingError, match="11 pages in a row were empty, and each links to another one"):
        await service.platform.itwins.list().collect()
    assert len(service.queries) == 22


async def test_an_offset_past_the_cap_is_an_error() -> None:
    """A service that links past X-Max-Return without returning as many items does not come to an end."""
    links = ("?$skip=10", "?$skip=25", "?$skip=35")
    assert "leads past max_return=25" in str(await rejected(linked(*links, cap=25)))


@pytest.mark.parametrize("keywords", [{"limit": 1}, {"limit": 1, "concurrency": 4}])
async def test_a_limit_that_is_reached_needs_no_link(keywords: dict[str, int]) -> None:
    """A link behind the last item wanted is not judged: it is not needed."""
    assert len(await linked("//elsewhere.example/").platform.itwins.list(**keywords).collect()) == 1  # type: ignore[arg-type]  # numbers only


@given(strings() | st.text(alphabet="/\\?#@:%.$[]=& \t" + string.ascii_letters).map(lambda text: f"https:{text}"))
@example("http://[")
def test_no_text_breaks_the_reading(href: str) -> None:
    """Whatever a link holds, it is followed, ends the listing, or raises a PagingError."""

    async def read() -> None:
        service = linked(href, None)
        try:
            await service.platform.itwins.list().collect()
        except PagingError:
            assert len(service.queries) == 1

    in_virtual_time(read())


@pytest.mark.parametrize("value", ["ab+/c==", "a%2Bb", "a%26b", "%FF%00", "a%20b+c", "z%C3%BC", "", "a=b", "x;y"])
async def test_values_of_a_link_are_sent_as_they_came(value: str) -> None:
    """A cursor is not decoded and encoded anew: the service reads exactly what it wrote."""
    service = linked(f"?cursor={value}&$top=100", None)
    await service.platform.itwins.list(page_size=100, skip=5, display_name="zür +1%").collect()
    assert service.queries[1] == f"displayName=z%C3%BCr%20%2B1%25&$top=100&cursor={value}"


@pytest.mark.parametrize(
    "name",
    [
        *("parentId", "PARENTID", "$parentId", " parentid", "%70arentId", "FILTER", "select"),
        *("$apply", "$compute", "$count", "$expand", "$filter", "$format", "$orderby", "$search", "$select"),
    ],
)
async def test_no_link_changes_a_keyword(name: str) -> None:
    """A parameter of the operation is dropped from a link, however it is written; cursors are not."""
    assert await query_after(f"?{name}=x&$skip=100&skip=1&cursor=y") == "parentId=p&$skip=100&$top=100&skip=1&cursor=y"


async def test_the_page_size_of_the_service_is_kept() -> None:
    """A page size in a link is kept when it is not the one that was requested, for as long as the links have it."""
    service = linked("?$skip=10&$top=7", "?$skip=17&$top=7", "?$skip=24&$top=100", "?$skip=124&$top=100", None)
    await service.platform.itwins.list(page_size=100).collect()
    assert [unquote(query) for query in service.queries[1:]] == [
        *("$skip=10&$top=7", "$skip=17&$top=7", "$skip=24&$top=100", "$skip=124&$top=100")
    ]
