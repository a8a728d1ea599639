"""What a `next` link is taken for: a query to go on with, an end, or something that must not be followed."""

import string
from urllib.parse import parse_qsl

import pytest
from hypothesis import example, given, strategies as st
from itwin_platform import UNSET, PagingError
from itwin_platform._listings.links import (
    LoopDetector,
    Query,
    count_of,
    is_as_asked,
    link_of,
    next_query,
    page_of,
    page_request,
    shifted,
    skip_of,
)
from itwin_platform_api.models import PagingLinks
from itwin_platform_api.request import RequestValues

ADDRESS = "https://service.example/prefix/itwins/"
FIRST = page_of(skip=0, page_size=100)


def written(first: list[tuple[str, str]], query: Query) -> str:
    """The query of a page as it is sent."""
    values = RequestValues(method="GET", route="/itwins/", path="/itwins/", query=dict(first), headers={})
    return str(page_request(values, query).query)


def followed(href: object, *, current: Query = FIRST, address: str = ADDRESS) -> Query | None:
    """Reads a link of the listing at ADDRESS."""
    return next_query(href, address=address, current=current)


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
    assert followed(href) == (("$skip", "100"), ("$top", "100"))


@pytest.mark.parametrize("href", [None, UNSET, "", "  "])
def test_absent_null_and_empty_links_end_the_listing(href: object) -> None:
    """Nothing to follow is the end, whatever form it takes."""
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
        ("https://[::1/prefix/itwins/?$skip=100", "not an address"),
        ("https://service.example:99999/prefix/itwins/", "not an address"),
        ("https://service.example:port/prefix/itwins/", "not an address"),
        ("https://service\u2100.example/prefix/itwins/", "not an address"),
        ("?%ff=1", "not an address"),
        (5, "not a text"),
        (["?$skip=100"], "not a text"),
        ({"uri": "?$skip=100"}, "not a text"),
    ],
)
def test_links_that_are_not_followed(href: object, says: str) -> None:
    """Another origin, scheme, port, user or path, and what is no address, is refused with the rule in words."""
    with pytest.raises(PagingError, match=says):
        followed(href)


@pytest.mark.parametrize(
    ("current", "href"),
    [
        (FIRST, "?$skip=0&$top=100"),
        (FIRST, "?$skip=-100&$top=100&$skip=0"),
        ((("$skip", "200"),), "?$skip=200&other=1"),
        ((("$skip", "200"),), "?$skip=100"),
        ((("cursor", "abc"),), "?cursor=abc"),
    ],
)
def test_links_that_do_not_advance(current: Query, href: str) -> None:
    """A smaller or equal `$skip`, or the query of the page itself, is refused."""
    with pytest.raises(PagingError, match="does not advance"):
        followed(href, current=current)


@given(st.text() | st.text(alphabet="/\\?#@:%.$[]=& \t" + string.ascii_letters).map(lambda text: f"https:{text}"))
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
    assert written([("$top", "100")], query) == f"cursor={value}&$top=100"


@given(
    st.lists(
        st.tuples(st.sampled_from(["subClass", "$filter", "$top", "$skip", "a b"]), st.text(max_size=8)), max_size=6
    ),
    st.lists(
        st.tuples(st.sampled_from(["$filter", "$top", "$skip", "cursor"]), st.sampled_from(["1", "x%20y"])), min_size=1
    ),
)
@example([("$skip", "5")], [("cursor", "1")])
def test_the_first_keywords_go_on_below_what_the_link_says(
    first: list[tuple[str, str]], linked: list[tuple[str, str]]
) -> None:
    """What a link does not name is carried on from the first request, but never its `$skip`."""
    first = [pair for pair in first if not any("\ud800" <= letter <= "\udfff" for letter in pair[1])]
    said = {name for name, _ in linked}
    expected = [pair for pair in dict(first).items() if pair[0] not in said and pair[0] != "$skip"]
    expected += [(name, value.replace("%20", " ")) for name, value in linked]
    assert parse_qsl(written(first, tuple(linked)), keep_blank_values=True) == expected


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
    """Only absent and null are nothing; anything else is handed on, to be followed or refused."""
    assert link_of(links, "next_") == link


@pytest.mark.parametrize(
    ("following", "as_asked"),
    [
        ((("$skip", "100"), ("$top", "100")), True),
        ((("$skip", "100"),), True),
        ((("$skip", "67"), ("$top", "100")), False),
        ((("$skip", "100"), ("$top", "67")), False),
        ((("cursor", "x"), ("$top", "100")), False),
    ],
)
def test_which_pages_can_be_asked_for_ahead(following: Query, *, as_asked: bool) -> None:
    """Only where the service pages by the size that was asked for is the place of later pages known."""
    assert is_as_asked(FIRST, following, page_size=100) is as_asked


def test_a_page_further_on_differs_in_its_place_only() -> None:
    """Everything else that the link says stays."""
    assert shifted((("a", "1"), ("$skip", "100"), ("$top", "5")), 200) == (("a", "1"), ("$skip", "300"), ("$top", "5"))


@given(st.integers(0, 300), st.integers(1, 2500))
def test_every_loop_is_noticed(before: int, length: int) -> None:
    """A loop of up to a thousand pages is noticed at its first repeat, a longer one soon after."""
    trail = LoopDetector()
    place = next(step for step in range(20_000) if trail.repeats((("cursor", str(_on_loop(step, before, length))),)))
    assert place == before + length if length <= 1000 else before + length <= place <= 4 * (before + length)


def _on_loop(step: int, before: int, length: int) -> int:
    return step if step < before else before + (step - before) % length


def test_a_trail_stays_small() -> None:
    """However many pages were read, no more than a thousand are remembered."""
    trail = LoopDetector()
    assert not any(trail.repeats((("cursor", str(step)),)) for step in range(100_000))
    assert len(trail._recent) == len(trail._known) == 1000
