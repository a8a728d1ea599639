"""A listing that stops after any item continues with the next one, in the same process or in another."""

import asyncio
import json
import sys

import pytest
from itwin_platform import PlatformClient
from itwin_platform_sandbox import Sandbox

from tests.support.numbered_items import NumberedItems

OTHER_PROCESS = """
import asyncio, json, sys
from itwin_platform import PlatformClient

async def main():
    base_url, resumes = json.load(sys.stdin)
    async with PlatformClient(base_url, vendor="another", token="another") as platform:
        for resume in resumes:
            pager = platform.itwins.list(sub_class="Project", page_size=7, resume=resume)
            print(json.dumps([itwin.id async for itwin in pager]))

asyncio.run(main())
"""


def cursors(skip: int) -> str:
    """A link that names its page by something else than a number of items."""
    return f"?$skip={skip}&cursor=after%2B{skip}"


@pytest.mark.parametrize(("concurrency", "link"), [(1, cursors), (4, None)])
async def test_after_every_item(concurrency: int, link: object) -> None:
    """For each of 300 items: what came until then and what a new pager gives from there is everything, once."""
    items = NumberedItems(total=300, page_size=37)
    items.link = cursors if link else lambda skip: f"?$skip={skip}&$top=37"
    everything, resumes = items.everything, list[str]()
    pager = items.pager(concurrency=concurrency)
    async for _ in pager:
        resumes.append(pager.resume)  # it changes with every item
    assert len(set(resumes)) == 300
    for place, resume in enumerate(resumes, 1):
        rest = items.pager(concurrency=concurrency, resume=resume)
        assert await rest.collect() == everything[place:]
        assert rest.items_read == 300 - place


async def test_after_every_page() -> None:
    """The resume of each page gives what follows it, and that of the last is None."""
    items = NumberedItems(total=95)
    pages = [page async for page in items.pager().pages()]
    for number, page in enumerate(pages[:-1], 1):
        assert page.resume is not None
        assert await items.pager(resume=page.resume).collect() == items.everything[number * 10 :]
    assert pages[-1].resume is None


async def test_resuming_again_and_again() -> None:
    """A reader that stops after every single item still reads everything once."""
    items = NumberedItems(total=45)
    read: list[str] = []
    resume: str | None = None
    while len(read) < 45:
        pager = items.pager(resume=resume)
        read.append(await anext(aiter(pager)))
        resume = pager.resume
    assert read == items.everything
    assert await items.pager(resume=resume).collect() == []


async def test_in_another_process() -> None:
    """Another process, with another token, continues at the item after the last."""
    async with Sandbox(itwins=60) as sandbox:
        resumes: list[str] = []
        async with PlatformClient(sandbox.base_url, vendor="vendor", token=sandbox.token) as platform:
            pager = platform.itwins.list(sub_class="Project", page_size=7)
            ids = []
            async for itwin in pager:
                ids.append(itwin.id)
                resumes.append(pager.resume)
        assert len(ids) > 14
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-c", OTHER_PROCESS), stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE
        )
        output, _ = await process.communicate(json.dumps([sandbox.base_url, resumes]).encode())
    assert [json.loads(line) for line in output.splitlines()] == [ids[place:] for place in range(1, len(ids) + 1)]
