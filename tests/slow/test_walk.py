"""The steps of docs/regenerating.md work as they are written."""

import pytest
import yaml

from tests.support.code_blocks import PROJECT, blocks_of
from tests.support.specification import Document, Regenerated
from tools.generation.document import PACKAGE
from tools.generation.generate import differences

HARNESS = """
import asyncio, json, httpx

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
    print(created[0].id, len(SEEN), *SEEN[1])

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
    """Add the two blocks of YAML of the page."""
    document["paths"]["/scenes/{sceneId}/objects"].update(yaml.safe_load(block("yaml", "operationId")))
    document["components"]["schemas"].update(yaml.safe_load(block("yaml", "SceneObjectsCreated:")))


@pytest.fixture(scope="module")
def walked(tmp_path_factory: pytest.TempPathFactory) -> Regenerated:
    """The package generated as the page says."""
    return Regenerated(add_operation, tmp_path_factory.mktemp("walked"))


def test_the_page_shows_the_output_of_generation(walked: Regenerated) -> None:
    """The page shows the output of `make generate`, and the changes to the committed package and to the sandbox."""
    shown, _, rest = block("text", "modules changed").partition("\nWithout a method")
    assert walked.output.partition("\nWithout a method")[2] == rest
    changed = differences(committed=PROJECT / "generated" / PACKAGE, made=walked.folder / PACKAGE)
    assert shown.splitlines()[:-1] == [f"{len(changed) + 1} modules changed", *(f"  {line}" for line in changed)]


def test_the_page_shows_the_difference(walked: Regenerated) -> None:
    """The page shows the output of `make spec-diff`."""
    command = ["-m", "tools.spec.diff", str(PROJECT / "openapi.yaml"), str(walked.file)]
    assert walked.run(*command).stdout == block("text", "Not breaking: 3")


def test_the_program_of_the_page_calls_the_operation(walked: Regenerated) -> None:
    """The program of the page sends the request, retries it, and decodes the response."""
    script = HARNESS.format(program=block("python", "create_scene_objects"))
    assert walked.run("-W", "error", "-c", script).stdout == f"object 0 2 {SENT}\n"
