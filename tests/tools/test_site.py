"""What the build of the documentation makes of its pages for assistants."""

import pytest

from tools.site.markdown_pages import description, index, markdown

PAGE = """<html><nav><a href="..">Home</a></nav><article class="md-content__inner">
<h1 id="a">Tokens<a class="headerlink" href="#a">&para;</a></h1>
<p>See <a href="../../retries/#limits">Retries</a>, <a href="../">all</a>, <a href="#a">above</a> and
<a href="https://a.example/b/">there</a>.</p>
<p><img alt="A picture" src="../../images/a.png"></p>
<div class="language-python highlight"><pre><code><span>a_b</span> = 1 * 2
c = 3</code></pre></div>
<div class="doc-signature highlight"><pre><code>f(x: int)</code></pre></div>
<ul><li class="doc-section-item"><code>x</code>
   (<code>int</code>)
   <div class="doc-md-description"><p>a
   number</p></div></li></ul>
<table><thead><tr><th>Name</th><th>Does</th></tr></thead><tbody><tr><td><code>a_b</code></td><td>1</td></tr></tbody></table>
</article></html>"""
WRITTEN = """# Tokens

See [Retries](../retries.md#limits), [all](../reference.md), [above](#a) and
[there](https://a.example/b/).

![A picture](../images/a.png)

```python
a_b = 1 * 2
c = 3
```

```python
f(x: int)
```

- `x` (`int`) a number

| Name | Does |
| --- | --- |
| `a_b` | 1 |
"""


def test_a_page_becomes_markdown() -> None:
    """The article alone is written, its links lead to Markdown, code keeps its language, a parameter has one line."""
    assert markdown(PAGE, "reference/tokens.md") == WRITTEN


def test_a_page_without_an_article_is_reported() -> None:
    """A changed theme ends the build, instead of publishing empty pages."""
    with pytest.raises(ValueError, match=r"a\.md has no <article>"):
        markdown("<html></html>", "a.md")


def test_the_top_page_links_from_the_top() -> None:
    """The links of the first page begin at the top of the site."""
    page = '<article><a href="retries/">R</a> <a href=".">H</a> <a href="reference/client/#b">C</a></article>'
    assert markdown(page, "index.md") == "[R](retries.md) [H](index.md) [C](reference/client.md#b)\n"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("# A\n\nDo [this](b.md)\nnow. Then that.", "Do this now."),
        ("# A\n\nLook at these:\n\n- a", "Look at these."),
        ("# A\n\nDecided on 2026-11-22. By all.\n\n## Why\n\nIt `a.b` works.", "It `a.b` works."),
        ("# A\n\n```python\na\n```\n\nUse version 3.11 of it.  ", "Use version 3.11 of it."),
    ],
)
def test_a_page_is_described_by_its_first_sentence(text: str, said: str) -> None:
    """One line without links, whatever comes before or after it."""
    assert description(text) == said


def test_the_index_has_a_line_for_each_page() -> None:
    """Pages are listed under the sections of the navigation, each with its line."""
    navigation = "* [Home](index.md)\n* Start\n    * [One](one.md)\n    * More\n        * [Two](two.md)\n"
    lines = {"index.md": "A client.", "one.md": "First.", "two.md": "Second."}
    assert index(navigation, lines, name="a", about="About it").splitlines() == [
        *("# a", "", "> About it.", "", "- [Home](index.md): A client.", "", "## Start", ""),
        *("- [One](one.md): First.", "- [Two](two.md): Second."),
    ]
