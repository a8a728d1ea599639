"""Run the package `@itwin/itwins-client` against the sandbox, in Node.js."""

import asyncio
import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

from itwin_platform_sandbox import Sandbox

HERE = Path(__file__).resolve().parent
#: The folder into which npm installs.
NODE = HERE.parents[1] / ".cache" / "conformance"


async def check() -> bool:
    """Run the client, print a line for each call, and return whether all pass."""
    if shutil.which("npm") is None:
        print("@itwin/itwins-client: not run, npm is not installed")
        return True
    NODE.mkdir(parents=True, exist_ok=True)
    for name in ("package.json", "itwins_client.js"):
        shutil.copy(HERE / name, NODE / name)
    command = ["npm", "install", "--no-audit", "--no-fund", "--no-package-lock", "--loglevel", "error"]
    subprocess.run(command, cwd=NODE, check=True)  # noqa: ASYNC221  # nothing else runs in this event loop
    print("@itwin/itwins-client:")
    async with Sandbox(itwins=200) as sandbox:
        ids = {name: getattr(sandbox, name) for name in ("account_id", "itwin_id", "repository_id")}
        command = ["node", "itwins_client.js", sandbox.base_url, json.dumps(ids)]
        process = await asyncio.create_subprocess_exec(*command, cwd=NODE, stdout=asyncio.subprocess.PIPE)
        output, _ = await process.communicate()
    results = json.loads(output or b"[]")
    for result in results:
        passes = _is_right(result)
        print(f"  {'ok' if passes else 'WRONG':<6}{result['name']:<42}{result['status']}, {result['count']} items")
    return bool(results) and all(_is_right(result) for result in results)


def _is_right(result: dict[str, Any]) -> bool:
    """Return whether a call has a result; the specification does not have the query scope `all`."""
    if "queryScope all" in result["name"]:
        return bool(result["status"] == 422)
    return result["status"] in (200, 201) and result["count"] > 0
