"""Runs the checks and prints what they found. Run as `python -m measure.conformance [--quick]`.

Without npm the checks that need it are skipped with a word.
"""

import argparse
import asyncio
import json
import shutil
import subprocess
import sys
import time
from pathlib import Path

from itwin_platform_sandbox import Sandbox

from . import proxy, readers, specification

HERE = Path(__file__).resolve().parent
NODE = HERE.parents[1] / ".cache" / "conformance"


async def check_specification(examples: int) -> bool:
    """Runs schemathesis twice and prints cases, seconds and findings."""
    clean = True
    for named in (True, False):
        async with Sandbox(itwins=200, objects=50, any_token=False) as sandbox:
            began = time.perf_counter()
            cases, failures, printed = await asyncio.to_thread(
                specification.run, sandbox, named=named, examples=examples, seed=1
            )
        what = "with the parameters of what exists" if named else "all generated"
        print(f"schemathesis, {what}: {cases} cases, {time.perf_counter() - began:.0f} s, {failures} findings")
        if failures or not cases:
            print(printed)
            clean = False
    return clean


def installed() -> bool:
    """Installs what npm has to give, once; False where there is no npm."""
    if shutil.which("npm") is None:
        print("skipped: the Prism proxy and @itwin/itwins-client need npm, which this machine does not have")
        return False
    NODE.mkdir(parents=True, exist_ok=True)
    for name in ("package.json", "itwins_client.js"):
        shutil.copy(HERE / name, NODE / name)
    command = ["npm", "install", "--no-audit", "--no-fund", "--no-package-lock", "--loglevel", "error"]
    subprocess.run(command, cwd=NODE, check=True)
    return True


async def check_proxy() -> bool:
    """Runs the operations through Prism and prints what it complained of."""
    exchanges, violations = await proxy.run(NODE / "node_modules" / ".bin" / "prism")
    print(f"Prism proxy: {exchanges} exchanges, {len(violations)} violations")
    print(*violations, sep="\n", end="")
    return not violations and exchanges > 0


async def check_foreign_client() -> bool:
    """Lets another team's client list iTwins and read the primary account."""
    async with Sandbox(itwins=200) as sandbox:
        ended = await asyncio.to_thread(
            subprocess.run,
            ["node", "itwins_client.js", sandbox.base_url],
            cwd=NODE,
            capture_output=True,
            text=True,
            check=False,
        )
        if ended.returncode:
            print(ended.stderr)
            return False
        said = json.loads(ended.stdout)
        listed, account = said["listed"].get("data") or [], said["account"].get("data") or {}
        print(f"@itwin/itwins-client: listed {len(listed)} iTwins, primary account {account.get('displayName')!r}")
        for request in sandbox.requests:
            print(f"  {request.method} {request.path} {dict(request.query)} -> {request.status}")
        return len(listed) == 10 and account.get("id") == sandbox.account_id


async def main() -> None:
    """Runs what can be run; a finding ends with status 1."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="a few hundred cases, without npm")
    quick = parser.parse_args().quick
    clean = await check_specification(examples=10 if quick else 650)
    node = NODE if not quick and installed() else None
    if not quick:
        clean = await asyncio.to_thread(readers.check, node) and clean
    if node is not None:
        clean = await check_proxy() and clean
        clean = await check_foreign_client() and clean
    sys.exit(0 if clean else 1)


if __name__ == "__main__":
    asyncio.run(main())
