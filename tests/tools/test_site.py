"""The Markdown pages that the build of the documentation makes for assistants."""

import pytest

from tools.site.markdown_pages import markdown

PAGE = """<html><nav><a href="..">Home</a></nav><article class="md-content__inner">
<h1 id="a">Tokens<a class="headerlink" href="#a">&para;</a></h1>
<p>See <a href="../../retries/#limits">Retries</a>, <a href="../">all</a>, <a href="#a">above</a> and
<a href="https://a.example/b/">there</a>.</p>
<p><img alt="A picture" src="../../images/a.png"></p>
<div class="language-python highlight"><pre><code><span>a_b</span> = 1 * 2
c = 3</code></pre></div>
<ul><li class="doc-section-item"><code>x</code>
   (<code>int</code>)
   <div class="doc-md-description"><p>a
   number</p></div></li></ul>
</article></html>"""
WRITTEN = """# Tokens

See [Retries](../retries.md#limits), [all](../reference.md), [above](#a) and
[there](https://a.example/b/).

![A picture](../images/a.png)

```python
a_b = 1 * 2
c = 3
```

- `x` (`int`) a number
"""


def test_a_page_becomes_markdown() -> None:
    """The article alone is written, its links lead to Markdown, code keeps its language, a parameter has one line."""
    assert markdown(PAGE, "reference/tokens.md") == WRITTEN


def test_a_page_without_an_article_is_reported() -> None:
    """A changed theme ends the build, instead of publishing empty pages."""
    with pytest.raises(ValueError, match=r"a\.md has no <article>"):
        markdown("<html></html>", "a.md")
