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
    """Run the client by the specification and as observed, print a line for each call, and return whether all pass."""
    if shutil.which("npm") is None:
        print("@itwin/itwins-client: not run, npm is not installed")
        return True
    NODE.mkdir(parents=True, exist_ok=True)
    for name in ("package.json", "itwins_client.js"):
        shutil.copy(HERE / name, NODE / name)
    command = ["npm", "install", "--no-audit", "--no-fund", "--no-package-lock", "--loglevel", "error"]
    subprocess.run(command, cwd=NODE, check=True)  # noqa: ASYNC221  # nothing else runs in this event loop
    return all([await _passes(as_seen=as_seen) for as_seen in (False, True)])  # runs both


async def _passes(*, as_seen: bool) -> bool:
    print(f"@itwin/itwins-client, sandbox {'as seen' if as_seen else 'by the specification'}:")
    async with Sandbox(itwins=200, as_seen=as_seen) as sandbox:
        ids = {name: getattr(sandbox, name) for name in ("account_id", "itwin_id", "repository_id")}
        command = ["node", "itwins_client.js", sandbox.base_url, json.dumps(ids)]
        process = await asyncio.create_subprocess_exec(*command, cwd=NODE, stdout=asyncio.subprocess.PIPE)
        output, _ = await process.communicate()
    results = json.loads(output or b"[]")
    for result in results:
        passes = _is_right(result, as_seen=as_seen)
        print(f"  {'ok' if passes else 'WRONG':<6}{result['name']:<42}{result['status']}, {result['count']} items")
    return bool(results) and all(_is_right(result, as_seen=as_seen) for result in results)


def _is_right(result: dict[str, Any], *, as_seen: bool) -> bool:
    """Return whether a call has a result; by the specification, the query scope `all` does not exist."""
    if "queryScope all" in result["name"] and not as_seen:
        return bool(result["status"] == 422)
    return result["status"] in (200, 201) and result["count"] > 0
