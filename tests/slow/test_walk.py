"""The walk in docs/regenerating.md is carried out as it is written."""

import pytest
import yaml

from tests.support.code_blocks import PROJECT, blocks_of
from tests.support.specification import Document, Regenerated

HARNESS = """
import asyncio
import json

import httpx

{program}

SEEN = []


def answer(request: httpx.Request) -> httpx.Response:
    SEEN.append((request.method, request.url.path, request.url.query, request.headers["accept"]))
    if len(SEEN) == 1:
        return httpx.Response(429, headers={{"retry-after": "0"}}, json={{"error": {{"code": "RateLimitExceeded"}}}})
    objects = json.loads(request.content)["objects"]
    return httpx.Response(201, json={{"objects": [item | {{"id": f"object {{n}}"}} for n, item in enumerate(objects)]}})


async def main() -> None:
    transport = httpx.MockTransport(answer)
    async with PlatformClient("http://127.0.0.1", vendor="word", token="secret", transport=transport) as platform:
        created = await add(platform, "6a2d2381-6c57-4332-b87a-5b7c00000001", "i", {{}})
    print(created.id, len(SEEN), *SEEN[1])


asyncio.run(main())
"""
SENT = (
    "POST /scenes/6a2d2381-6c57-4332-b87a-5b7c00000001/objects b'iTwinId=i' application/vnd.word.itwin-platform.v1+json"
)


def block(language: str, containing: str) -> str:
    """The one block of a language in the page that contains a string."""
    texts = [block.text for block in blocks_of(PROJECT / "docs" / "regenerating.md", language)]
    (found,) = [text for text in texts if containing in text]
    return found


def add_operation(document: Document) -> None:
    """Add what the page says in its two blocks of YAML."""
    document["paths"]["/scenes/{sceneId}/objects"].update(yaml.safe_load(block("yaml", "operationId")))
    document["components"]["schemas"].update(yaml.safe_load(block("yaml", "SceneObjectsCreated:")))


@pytest.fixture(scope="module")
def walked(tmp_path_factory: pytest.TempPathFactory) -> Regenerated:
    """The package generated as the page says."""
    return Regenerated(add_operation, tmp_path_factory.mktemp("walked"))


def test_generating_tells_what_the_page_shows(walked: Regenerated) -> None:
    """What `make generate` prints is what the page shows, but for the list of modules: here all of them are new."""
    shown = block("text", "4 modules").partition("\nWithout a method")[2]
    assert walked.output.partition("\nWithout a method")[2] == shown
    assert "new: api/scenes/create_scene_objects.py" in walked.output


def test_difference_is_what_the_page_shows(walked: Regenerated) -> None:
    """What `make spec-diff` prints of the change is what the page shows."""
    command = ["-m", "tools.spec.diff", str(PROJECT / "openapi.yaml"), str(walked.file)]
    assert walked.run(*command).stdout == block("text", "Not breaking: 3")


def test_new_operation_is_called_as_it_is_said(walked: Regenerated) -> None:
    """The program on the page sends, waits, and decodes."""
    script = HARNESS.format(program=block("python", "create_scene_objects"))
    assert walked.run("-W", "error", "-c", script).stdout == f"object 0 2 {SENT}\n"
