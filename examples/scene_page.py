"""Render untrusted names, data and links of a scene with Jinja, so that a browser runs none of them.

Run it with `python examples/scene_page.py > scene.html` and open the file: it shows a scene with hostile data.

1. `autoescape` escapes each string between tags and in quoted attributes. Never use `|safe`.
2. `tojson` writes data into a script element whose type is JSON: the browser does not run it, and no string can end it.
3. Escaping does not change an address such as `javascript:...`, so only http and https addresses become links.
4. Content-Security-Policy is a second line of defense. A service sends it as a header; here it is a meta element.

`itwin_platform.escape` is for pages built without a template engine; with one, it would escape twice.
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
    """Return whether a value is an absolute http or https address without characters that browsers strip."""
    if not isinstance(value, str) or not value.isprintable():
        return False
    try:
        parts = urlsplit(value)
    except ValueError:
        return False
    return parts.scheme in ("http", "https") and bool(parts.netloc)


def template_environment() -> Environment:
    """Return the Jinja environment, which escapes every string."""
    environment = Environment(loader=DictLoader({"scene.html": PAGE}), autoescape=True)
    environment.tests["web_address"] = is_web_address
    return environment


async def scene_page(platform: PlatformClient, scene_id: str, itwin_id: str) -> str:
    """Render a scene and its objects as HTML."""
    name, objects = "", []
    async for page in platform.scenes.list_objects(scene_id, itwin_id).pages():
        name = (page.scene.display_name if page.scene else None) or "(no name)"
        objects += [item.to_dict() for item in page.items]
    return template_environment().get_template("scene.html").render(name=name, objects=objects)


async def main() -> None:
    """Store a hostile scene in the sandbox and print its page."""
    async with (
        Sandbox() as sandbox,
        PlatformClient(sandbox.base_url, vendor="sandbox", token=sandbox.token) as platform,
    ):
        objects = [{"version": "1.0.0", **item} for item in HOSTILE_OBJECTS]
        scene = await platform.scenes.create(sandbox.itwin_id, display_name=f"Harbour {HARM}", objects=objects)
        sys.stdout.write(await scene_page(platform, scene.id, sandbox.itwin_id))


if __name__ == "__main__":
    asyncio.run(main())
