"""The page in the browser, whose content comes from strangers."""

import base64
import hashlib
import re
from typing import get_args

import httpx
import pytest
from itwin_platform_sandbox._sandbox import StoredKind
from itwin_platform_sandbox._server.control import ROUTES

pytestmark = pytest.mark.itwin_sandbox(itwins=3, objects=3)


async def test_the_page_runs_only_its_own_script(http: httpx.AsyncClient) -> None:
    """The policy names the hash of the one script and the one style, text is never set as HTML, nobody can frame it."""
    response = await http.get("/")
    policy = dict(part.split(" ", 1) for part in response.headers["content-security-policy"].split("; "))
    for element in ("script", "style"):
        (content,) = re.findall(rf"<{element}>(.*?)</{element}>", response.text, re.DOTALL)
        digest = base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()
        assert policy[f"{element}-src"] == f"'sha256-{digest}'"
    assert (policy["default-src"], policy["frame-ancestors"], policy["form-action"]) == ("'none'",) * 3
    assert policy["require-trusted-types-for"] == "'script'"
    assert response.headers["x-frame-options"] == "DENY"
    assert not re.search(r"innerHTML|insertAdjacentHTML|document\.write|eval\(| on\w+=", response.text)


async def test_the_page_knows_every_kind_and_calls_what_there_is(http: httpx.AsyncClient) -> None:
    """Each kind of stored data can be chosen, and each path that the page calls belongs to the control interface."""
    page = (await http.get("/")).text
    kinds = re.findall(r"<option>(\w+)</option>", page.partition('id="kind"')[2].partition("</form>")[0])
    assert kinds == [*get_args(StoredKind)]
    for kind in kinds:
        shown = (await http.get(f"/sandbox/stored/{kind}?limit=1")).json()
        assert len(shown["items"]) == min(1, shown["total"])
        assert "seeded-" not in str(shown)
    paths = {path for _, path, _ in ROUTES}
    assert {f"/sandbox/{path}" for path in re.findall(r'data-path="(\w+)"', page)} <= paths
