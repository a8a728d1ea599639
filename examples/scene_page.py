"""Scene data in a web page: names, data and links that somebody else wrote, rendered with Jinja so that none runs.

Run it with `python examples/scene_page.py > scene.html` and open that: it shows a scene whose author means harm.

1. `autoescape` escapes each text that is put between tags, or into an attribute in quotes. No `|safe` anywhere.
2. `tojson` writes data into a script so that no text in it can end the script; the script is data, which never runs.
3. Escaping leaves an address like `javascript:...` as it is: only http and https become links.
4. The header Content-Security-Policy forbids what slips through. A service sends it; the page brings it along.

`itwin_platform.escape` is for pages that are put together without such an engine; with one, it would escape twice.
"""

import asyncio
import sys
from urllib.parse import urlsplit

from itwin_platform import PlatformClient
from itwin_platform_sandbox import Sandbox
from jinja2 import DictLoader, Environment

PAGE = """\
<!DOCTYPE html>
<html lang="en">
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'">
<title>{{ name }}</title>
<h1>{{ name }}</h1>
<ul>
{%- for object in objects %}
  {%- set url = (object["data"] or {})["url"] %}
  <li title="{{ object["kind"] }}">{{ object["displayName"] or "(no name)" }}
    {%- if url is web_address %} <a href="{{ url }}" rel="noopener">more</a>{% endif %}</li>
{%- endfor %}
</ul>
<script type="application/json" id="objects">{{ objects | tojson }}</script>
</html>
"""

HARM = "</script><script>alert(1)</script>"
HOSTILE_OBJECTS = [
    {"kind": '" onmouseover="alert(2)', "displayName": "<img src=x onerror=alert(3)>", "data": {"note": HARM}},
    {"kind": "Link", "displayName": "{{ 7 * 7 }}", "data": {"url": "javascript:alert(4)"}},
    {"kind": "Link", "displayName": "' autofocus onfocus=alert(5)", "data": {"url": "\tjava\nscript:alert(6)"}},
    {"kind": "Link", "displayName": "--><!--<script>", "data": {"url": 'https://example.com/"><script>alert(7)//'}},
    {"kind": "Link", "data": {"url": "https://example.com/?a=1&b=2"}},
]


def is_web_address(value: object) -> bool:
    """Whether a value may become a link: an absolute address of http or https, without what browsers strip."""
    if not isinstance(value, str) or not value.isprintable():
        return False
    try:
        parts = urlsplit(value)
    except ValueError:
        return False
    return parts.scheme in ("http", "https") and bool(parts.netloc)


def environment() -> Environment:
    """What renders the page."""
    found = Environment(loader=DictLoader({"scene.html": PAGE}), autoescape=True)
    found.tests["web_address"] = is_web_address
    return found


async def scene_page(platform: PlatformClient, scene_id: str, itwin_id: str) -> str:
    """Renders a scene and its objects as HTML."""
    name, objects = "", []
    async for page in platform.scenes.list_objects(scene_id, itwin_id).pages():
        name = (page.scene.display_name if page.scene else None) or "(no name)"
        objects += [item.to_dict() for item in page.items]
    return environment().get_template("scene.html").render(name=name, objects=objects)


async def main() -> None:
    """Stores a hostile scene in the sandbox and writes its page."""
    async with (
        Sandbox() as sandbox,
        PlatformClient(sandbox.base_url, vendor="sandbox", token=sandbox.token) as platform,
    ):
        objects = [{"version": "1.0.0", **item} for item in HOSTILE_OBJECTS]
        scene = await platform.scenes.create(sandbox.itwin_id, display_name=f"Harbour {HARM}", objects=objects)
        sys.stdout.write(await scene_page(platform, scene.id, sandbox.itwin_id))


if __name__ == "__main__":
    asyncio.run(main())
