"""Make clients with the generators of others, compile them, and make all eight calls and a rejected one with each.

openapi-generator makes clients for TypeScript and for Python; openapi-typescript makes types for openapi-fetch. What
this machine lacks is not run, and the output says so.
"""

import asyncio
import importlib.util
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from itwin_platform_sandbox import Sandbox

PROJECT = Path(__file__).resolve().parents[2]
PROGRAMS = Path(__file__).resolve().parent / "generated_clients"
DOCUMENT = PROJECT / "openapi.yaml"
TSC = (
    "--strict",
    "--skipLibCheck",
    "--target",
    "es2022",
    "--module",
    "nodenext",
    "--types",
    "node",
    "--outDir",
    "build",
)
#: The calls of each program, of which the last one must be rejected.
CALLS, REJECTED = 8, "InvalidiTwinsRequest"


@dataclass(frozen=True, slots=True, kw_only=True)
class Client:
    """A client that a generator makes: its program, the commands that make and run it, and what is missing."""

    name: str
    program: str
    commands: tuple[tuple[str, ...], ...]
    run: tuple[str, ...]
    missing: str


def clients(node: Path | None) -> Iterator[Client]:
    """Yield each client; `node` is the folder of the packages of npm."""
    jar = _jar()
    no_java = "java is not installed" if shutil.which("java") is None else "" if jar else "its jar is not installed"
    no_node = "npm is not installed" if node is None else ""
    generate = ("java", "-jar", str(jar), "generate", "-i", str(DOCUMENT), "-o")
    binaries = Path() if node is None else node / "node_modules" / ".bin"
    compiler = (str(binaries / "tsc"), *TSC)
    yield Client(
        name="openapi-generator, TypeScript (fetch)",
        program="fetch_client.ts",
        commands=((*generate, "client", "-g", "typescript-fetch"), (*compiler, "fetch_client.ts")),
        run=("node", "build/fetch_client.js"),
        missing=no_node or no_java,
    )
    yield Client(
        name="openapi-generator, Python",
        program="python_client.py",
        commands=(
            (*generate, ".", "-g", "python", "--package-name", "client"),
            (sys.executable, "-m", "compileall", "-q", "client"),
        ),
        run=(sys.executable, "python_client.py"),
        missing=no_java,
    )
    yield Client(
        name="openapi-typescript and openapi-fetch",
        program="typed_fetch.ts",
        commands=(
            (str(binaries / "openapi-typescript"), str(DOCUMENT), "-o", "types.ts"),
            (*compiler, "typed_fetch.ts"),
        ),
        run=("node", "build/typed_fetch.js"),
        missing=no_node,
    )


def _jar() -> Path | None:
    """Return the jar of openapi-generator, which its distribution for Python contains."""
    found = importlib.util.find_spec("openapi_generator_cli")
    folders = found.submodule_search_locations if found else None
    return Path(folders[0]) / "openapi-generator.jar" if folders else None


async def check(node: Path | None) -> bool:
    """Make and run each client, print a line for each, and return whether all made every call."""
    clean = True
    for client in clients(node):
        if client.missing:
            print(f"{client.name}: not run, {client.missing}")
            continue
        problem = await _problem(client, node)
        print(f"{client.name}: {problem or f'compiled; {CALLS} of {CALLS} calls, and one rejected with 422'}")
        clean = clean and not problem
    return clean


async def _problem(client: Client, node: Path | None) -> str:
    """Return what went wrong, if anything."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        shutil.copy(PROGRAMS / client.program, folder)
        if node is not None:
            (folder / "node_modules").symlink_to(node / "node_modules")
        for command in client.commands:
            if failed := await asyncio.to_thread(_failed, command, folder):
                return f"{Path(command[0]).name} failed\n{failed}"
        async with Sandbox(itwins=20, objects=3, vendor="vendor") as sandbox:
            ids = {name: getattr(sandbox, f"{name}_id") for name in ("itwin", "repository", "scene", "webhook")}
            command = (*client.run, sandbox.base_url, json.dumps(ids))
            completed = await asyncio.to_thread(
                subprocess.run, command, cwd=folder, capture_output=True, text=True, check=False
            )
    if completed.returncode:
        return f"the program failed\n{completed.stderr}"
    return _problem_of(json.loads(completed.stdout))


def _problem_of(rows: list[dict[str, Any]]) -> str:
    *calls, rejected = rows
    wrong = [row for row in calls if row["status"] not in (200, 201) or row["value"] in ("", "undefined", "None")]
    wrong += [rejected] if (rejected["status"], rejected["value"]) != (422, REJECTED) else []
    return f"wrong: {wrong}" if wrong or len(calls) != CALLS else ""


def _failed(command: tuple[str, ...], folder: Path) -> str:
    environment = os.environ | {"JAVA_TOOL_OPTIONS": "-Xshare:auto"}
    completed = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    return (completed.stdout + completed.stderr)[-3000:] if completed.returncode else ""
