"""How a `next` link is read: as a query to continue with, as an end, or as something that must not be followed."""

import string
from urllib.parse import parse_qsl

import pytest
from hypothesis import example, given, strategies as st
from itwin_platform import UNSET, PagingError
from itwin_platform._listings.links import (
    Query,
    count_of,
    is_keyword,
    keyword_names,
    next_href,
    next_query,
    page_values,
    skip_of,
)
from itwin_platform_api.models import PagingLinks
from itwin_platform_api.request import RequestValues

from tests.support.examples import strings

ADDRESS = "https://service.example/prefix/itwins/"
FIRST = (("$skip", "0"), ("$top", "100"))
KEYWORDS = keyword_names("subClass", "parentId", "$filter")


def followed(href: object, *, current: Query = FIRST, address: str = ADDRESS) -> Query | None:
    """Read a link of the listing at ADDRESS."""
    return next_query(href, address=address, current=current, keywords=KEYWORDS)


def request_with(query: dict[str, str]) -> RequestValues:
    """The first request of a listing."""
    return RequestValues(method="GET", route="/itwins/", path="/itwins/", query=query, headers={})


@pytest.mark.parametrize(
    "href",
    [
        "https://service.example/prefix/itwins/?$skip=100&$top=100",
        "  https://service.example/prefix/itwins/?$skip=100&$top=100 ",
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
def test_ways_to_write_the_next_page(href: str) -> None:
    """Absolute, relative, blank-led, escaped: a link to the listing's own address is read for its query."""
    assert followed(href) == (("$skip", "100"),)


@pytest.mark.parametrize("href", [None, UNSET, "", "  "])
def test_absent_null_and_empty_links_end_the_listing(href: object) -> None:
    """A next link that is missing, null or empty ends the listing."""
    assert followed(href) is None


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
        ("?$skip=1\r\n00", "control character"),
        ("https://serv\tice.example/prefix/itwins/?$skip=100", "control character"),
        ("https://[::1/prefix/itwins/?$skip=100", "not a URL"),
        ("https://service.example:99999/prefix/itwins/", "not a URL"),
        ("https://service.example:port/prefix/itwins/", "not a URL"),
        ("https://service\u2100.example/prefix/itwins/", "not a URL"),
        ("?%ff=1", "not a URL"),
        ("?cursor=\ud800", "not a URL"),
        ("?$skip=100&$skip=200", "holds .skip or .top twice"),
        ("?$skip=100&%24skip=many", "holds .skip or .top twice"),
        ("?$skip=100&$top=5&$top=6", "holds .skip or .top twice"),
        (5, "not a string"),
        (["?$skip=100"], "not a string"),
        ({"uri": "?$skip=100"}, "not a string"),
    ],
)
def test_links_that_are_not_followed(href: object, says: str) -> None:
    """Another origin, scheme, port, user or path, and what is no address, is rejected with the rule in words."""
    with pytest.raises(PagingError, match=says):
        followed(href)


@pytest.mark.parametrize(
    ("current", "href"),
    [
        (FIRST, "?$skip=0&$top=100"),
        (FIRST, ADDRESS),
        (FIRST, "?subClass=Asset"),
        (FIRST, "?$top=100"),
        ((("$skip", "200"),), "?$skip=200&other=1"),
        ((("$skip", "200"),), "?$skip=100"),
        ((("cursor", "abc"),), "?cursor=abc"),
        ((("cursor", "abc"), ("$top", "5")), "?cursor=abc&$top=5"),
    ],
)
def test_links_that_do_not_advance(current: Query, href: str) -> None:
    """A smaller or equal `$skip`, or the query of the page itself, is rejected."""
    with pytest.raises(PagingError, match="does not advance"):
        followed(href, current=current)


@given(strings() | st.text(alphabet="/\\?#@:%.$[]=& \t" + string.ascii_letters).map(lambda text: f"https:{text}"))
@example("http://[")
def test_no_text_breaks_the_reading(href: str) -> None:
    """Whatever a link holds, it is followed, ends the listing, or raises a PagingError."""
    try:
        query = followed(href)
    except PagingError:
        return
    assert query is None or all(len(pair) == 2 for pair in query)


@pytest.mark.parametrize("value", ["ab+/c==", "a%2Bb", "%FF%00", "a%20b+c", "zür%C3%BC", "", "a=b", "x;y"])
def test_values_of_a_link_are_sent_as_they_came(value: str) -> None:
    """A cursor is not decoded and encoded anew: the service reads exactly what it wrote."""
    query = followed(f"?cursor={value}&$top=100")
    assert query is not None
    assert page_values(request_with({"$top": "100"}), query).query == f"$top=100&cursor={value}"


@given(
    st.dictionaries(st.sampled_from(["subClass", "$filter", "$top", "$skip", "a b"]), strings(max_size=8)),
    st.dictionaries(st.sampled_from(["$top", "$skip", "cursor"]), st.sampled_from(["1", "x%20y"]), min_size=1),
)
@example({"$skip": "5"}, {"cursor": "1"})
def test_the_keywords_go_on_beside_the_place_of_a_page(first: dict[str, str], placed: dict[str, str]) -> None:
    """What the place does not name is carried on from the first page, but never its `$skip`."""
    first = {name: text for name, text in first.items() if not any("\ud800" <= letter <= "\udfff" for letter in text)}
    expected = [pair for pair in first.items() if pair[0] not in placed and pair[0] != "$skip"]
    expected += [(name, value.replace("%20", " ")) for name, value in placed.items()]
    query = str(page_values(request_with(first), tuple(placed.items())).query)
    assert parse_qsl(query, keep_blank_values=True) == expected


@pytest.mark.parametrize(
    "name", ["parentId", "PARENTID", "$parentId", " parentid", "%70arentId", "$filter", "FILTER", "$expand", "select"]
)
def test_no_link_changes_a_keyword(name: str) -> None:
    """A parameter of the operation is dropped from a link, however it is written; cursors are not."""
    assert followed(f"?{name}=x&$skip=100&cursor=y") == (("$skip", "100"), ("cursor", "y"))


def test_offset_and_page_size_are_no_keywords() -> None:
    """Links place a page by these two."""
    assert not any(is_keyword(name, KEYWORDS) for name in ("$skip", "$top", "skip", "cursor", "$skiptoken"))


def test_the_page_size_of_the_service_is_kept() -> None:
    """`$top` of a link is dropped if it equals the requested page size, and kept otherwise."""
    assert followed("?$skip=100&$top=100") == (("$skip", "100"),)
    assert followed("?$skip=100&$top=67") == (("$skip", "100"), ("$top", "67"))


@pytest.mark.parametrize(
    ("text", "count"),
    [("0", 0), ("100", 100), ("007", 7), ("", None), ("-1", None), ("1.0", None), ("٣", None), ("9" * 19, None)],
)
def test_counts(text: str, count: int | None) -> None:
    """Only decimal digits of a bearable length are a count."""
    assert count_of(text) == count
    assert skip_of((("$skip", text),)) == count


@pytest.mark.parametrize(
    ("links", "link"),
    [
        (PagingLinks.from_dict({"next": {"href": "?$skip=1"}}), "?$skip=1"),
        (PagingLinks.from_dict({"next": {"href": None}}), None),
        (PagingLinks.from_dict({"next": None}), None),
        (PagingLinks.from_dict({"next": {}}), UNSET),
        (PagingLinks.from_dict({}), UNSET),
        (PagingLinks.from_dict({"next": "?$skip=1"}), "?$skip=1"),
        (PagingLinks.from_dict({"next": 5}), 5),
        (UNSET, UNSET),
        (None, None),
        (7, 7),
    ],
)
def test_what_stands_in_place_of_a_link_is_not_taken_for_the_end(links: object, link: object) -> None:
    """Only absent and null are nothing; anything else is handed on, to be followed or rejected."""
    assert next_href(links) == link
