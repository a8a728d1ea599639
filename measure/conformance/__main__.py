"""Runs the checks and prints what they find. Run as `python -m measure.conformance [--quick]`.

Without npm, what needs it is skipped, and the output says so.
"""

import argparse
import asyncio
import shutil
import subprocess
import sys
import time
from pathlib import Path

from itwin_platform_sandbox import Sandbox

from . import foreign_clients, proxy, readers, specification

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
        print("skipped: the Prism proxy and @itwin/itwins-client, because this machine has no npm")
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


def parsed() -> argparse.Namespace:
    """Returns the options."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="a few hundred cases, without npm")
    parser.add_argument("--examples", type=int, help="cases that schemathesis makes up for each operation and run")
    parser.add_argument("--uvloop", action="store_true", help="run the sandbox under uvloop")
    parser.add_argument(
        "--only", choices=("specification", "proxy", "readers", "clients"), help="run one of the checks"
    )
    return parser.parse_args()


async def main(arguments: argparse.Namespace) -> bool:
    """Runs what can be run; returns whether there is no finding."""
    quick, only = arguments.quick, arguments.only
    print(f"event loop: {type(asyncio.get_running_loop()).__module__.partition('.')[0]}")
    clean = True
    if only in (None, "specification"):
        clean = await check_specification(examples=arguments.examples or (10 if quick else 650))
    node = NODE if not quick and only != "specification" and installed() else None
    if only == "readers" or (only is None and not quick):
        clean = await asyncio.to_thread(readers.check, node) and clean
    if node is not None and only in (None, "proxy"):
        clean = await check_proxy() and clean
    if only in (None, "clients"):
        clean = await foreign_clients.check(node) and clean
    return clean


def run() -> None:
    """Runs in the chosen event loop; a finding ends with status 1."""
    arguments = parsed()
    if arguments.uvloop:
        import uvloop

        clean = uvloop.run(main(arguments))
    else:
        clean = asyncio.run(main(arguments))
    sys.exit(0 if clean else 1)


if __name__ == "__main__":
    run()
