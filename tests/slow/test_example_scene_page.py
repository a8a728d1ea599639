"""A page of hostile scene data, parsed as a browser would: strings stay strings."""

import json
from html.parser import HTMLParser

import pytest

from examples.scene_page import HARM, HOSTILE_OBJECTS, is_web_address
from tests.support.programs import run

#: All that the template itself holds: elements, and the attributes that each may have.
OWN = {
    "html": {"lang"},
    "meta": {"charset", "http-equiv", "content"},
    "title": set[str](),
    "h1": set[str](),
    "ul": set[str](),
    "li": {"title"},
    "a": {"href", "rel"},
    "script": {"type", "id"},
}


class Parsed(HTMLParser):
    """What a page consists of: elements with their attributes, and the strings within each."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.texts: dict[str, list[str]] = {}
        self._open: list[str] = []
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Keep an element."""
        self.elements.append((tag, dict(attrs)))
        if tag != "meta":
            self._open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        """Make sure that elements end as they were begun."""
        assert self._open.pop() == tag

    def handle_data(self, data: str) -> None:
        """Keep a string."""
        if self._open and data.strip():
            self.texts.setdefault(self._open[-1], []).append(data.strip())

    def handle_comment(self, data: str) -> None:
        """There is none."""
        raise AssertionError(f"a comment was injected: {data}")


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Parsed:
    """The page of the example."""
    return Parsed(run("scene_page", folder=tmp_path_factory.mktemp("page")).stdout)


def test_no_element_and_no_attribute_is_injected(page: Parsed) -> None:
    """The page has the template's own elements and attributes, as often as there are objects, and no others."""
    assert {tag for tag, _ in page.elements} == set(OWN)
    assert all(set(attributes) <= OWN[tag] for tag, attributes in page.elements)
    tags = [tag for tag, _ in page.elements]
    assert tags.count("li") == len(HOSTILE_OBJECTS)
    assert tags.count("script") == 1


def test_what_was_written_is_shown_as_it_is(page: Parsed) -> None:
    """Names and kinds come through unchanged, as strings."""
    names = [str(item.get("displayName", "(no name)")) for item in HOSTILE_OBJECTS]
    assert page.texts["li"] == names
    assert page.texts["h1"] == page.texts["title"] == [f"Harbour {HARM}"]
    assert [attributes["title"] for tag, attributes in page.elements if tag == "li"] == [
        item["kind"] for item in HOSTILE_OBJECTS
    ]


def test_the_script_is_data_and_complete(page: Parsed) -> None:
    """The script is of a type that does not run, and holds each object's data as it is stored."""
    (attributes,) = [attributes for tag, attributes in page.elements if tag == "script"]
    assert attributes["type"] == "application/json"
    (text,) = page.texts["script"]
    assert [item["data"] for item in json.loads(text)] == [item["data"] for item in HOSTILE_OBJECTS]


def test_only_web_addresses_become_links(page: Parsed) -> None:
    """No link of the page has a scheme that runs."""
    links = [str(attributes["href"]) for tag, attributes in page.elements if tag == "a"]
    assert links == ['https://example.com/"><script>alert(7)//', "https://example.com/?a=1&b=2"]


@pytest.mark.parametrize(
    "address",
    [
        *("javascript:alert(1)", "JaVaScRiPt:alert(1)", " javascript:alert(1)", "java\tscript:alert(1)"),
        *("\x01javascript:alert(1)", "data:text/html,<script>", "vbscript:x", "//example.com", "/path", "", "https:"),
        *("https:///path", "http://[", "javascript://example.com/%0aalert(1)", "\nhttps://example.com", 7, None, ["x"]),
    ],
)
def test_an_address_that_is_no_web_address(address: object) -> None:
    """What is not plainly http or https, with a host, is no link."""
    assert not is_web_address(address)
