"""The Markdown pages that the build of the documentation makes for assistants."""

import pytest

from tools.site.markdown_pages import index, markdown

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


def test_the_index_has_a_line_for_each_page() -> None:
    """Pages are listed under the sections of the navigation."""
    navigation = "* [Home](index.md)\n* Start\n    * [One](one.md)\n    * More\n        * [Two](two.md)\n"
    lines = "# a\n\n> About it.\n\n- [Home](index.md)\n\n## Start\n\n- [One](one.md)\n- [Two](two.md)"
    assert index(navigation, name="a", about="About it").rstrip() == lines
