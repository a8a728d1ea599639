"""Responses that nobody here wrote: those in the tests of h11, httpcore, aiohttp and urllib3, read by both parsers.

The source distributions are fetched when it runs, and kept in `.cache/`. A library that cannot be fetched is a line of
the table that says so.
"""

import ast
import subprocess
import sys
import tarfile
from collections.abc import Iterable, Iterator
from pathlib import Path

from .figure import Figure, not_measured
from .parsing import Message, compared, figures_of

CACHE = Path(__file__).resolve().parents[2] / ".cache" / "foreign_responses"
LIBRARIES = ("h11==0.16.0", "httpcore==1.0.9", "aiohttp==3.14.5", "urllib3==2.5.0")
#: What a response begins with.
BEGINNING = b"HTTP/"


async def foreign_responses() -> list[Figure]:
    """Compare what the engine and httpx make of the responses in the tests of other libraries."""
    figures: list[Figure] = []
    for library in LIBRARIES:
        try:
            texts = [text for source in _sources(library) for text in responses_in(source)]
        except (OSError, subprocess.SubprocessError, tarfile.TarError) as error:
            figures.append(not_measured(f"responses of {library}", f"it cannot be fetched: {type(error).__name__}"))
            continue
        messages = [message for text in dict.fromkeys(texts) for message in arriving(text)]
        figures += figures_of(f"of {len(messages):,} responses in the tests of {library}", *await compared(messages))
    return figures


def _sources(library: str) -> Iterator[str]:
    """Return the modules of a library's tests."""
    name = library.partition("==")[0]
    if not (archives := sorted(CACHE.glob(f"{name}-*.tar.gz"))):
        command = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps"]
        options = ["--no-binary", name, "--dest", str(CACHE)]
        subprocess.run([*command, *options, library], check=True, capture_output=True, timeout=120)  # noqa: S603  # pip
        archives = sorted(CACHE.glob(f"{name}-*.tar.gz"))
    with tarfile.open(archives[0]) as archive:
        for member in archive:
            is_test = {"test", "tests"} & {*Path(member.name).parts} and member.name.endswith(".py")
            if is_test and (file := archive.extractfile(member)) is not None:
                yield file.read().decode(errors="replace")


def responses_in(source: str) -> Iterator[bytes]:
    """Return the raw responses in a module: bytes and strings, and lists of them, that begin as responses do."""
    for node in ast.walk(ast.parse(source)):
        parts = node.elts if isinstance(node, ast.List | ast.Tuple) else [node]
        text = b"".join(_constants(parts))
        if text.startswith(BEGINNING) and b"\n" in text:
            yield text


def _constants(nodes: Iterable[ast.AST]) -> Iterator[bytes]:
    for node in nodes:
        if isinstance(node, ast.Constant) and isinstance(node.value, bytes | str):
            yield node.value if isinstance(node.value, bytes) else node.value.encode("utf-8", "replace")


def arriving(text: bytes) -> Iterator[Message]:
    """Return a response to a GET and to a HEAD request: at once, byte by byte, and cut in two at twenty places."""
    for method in ("GET", "HEAD"):
        yield method, [text]
        yield method, [text[start : start + 1] for start in range(min(len(text), 2_000))] + [text[2_000:]]
        for cut in range(1, len(text), max(1, len(text) // 20)):
            yield method, [text[:cut], text[cut:]]
