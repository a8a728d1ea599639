"""Tries the limits that the wrapper checks before sending against a specification.

It calls each public method with a value at the documented limit, which the client must send, and with a value beyond
the limit, which the client must reject. Nothing leaves the process.
"""

import ast
import asyncio
import importlib
import inspect
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from traceback import FrameSummary, extract_tb
from types import TracebackType
from typing import Any
from unittest.mock import patch

import httpx

from tools.generation import generated_names
from tools.generation.source import tree_of
from tools.generation.wrapper_calls import WRAPPER
from tools.generation.wrapper_coverage import OperationUse, argument, keywords, operation_uses
from tools.spec.specification import Field, Specification

UUID = "6a2d2381-6c57-4332-b87a-5b7c00000000"
#: The values of required arguments that are not tried.
REQUIRED = {"type": "PhotoObjectDetector", "scene_id": UUID}
#: A size beyond any expected limit, for each kind of value.
FAR = {"integer": 10**9, "string": 5000}


@dataclass(frozen=True, slots=True, kw_only=True)
class Probe:
    """One documented limit; `value` returns an argument of a size. Without `most`, the size `far` must be sent."""

    method: str
    keyword: str
    part: str
    least: int | None
    most: int | None
    far: int
    value: Callable[[int], object]


def wrong_limits(specification: Specification) -> list[str]:
    """Return a message for each limit that the wrapper checks differently, with the lines to change."""
    return asyncio.run(_wrong_limits(specification))


async def _wrong_limits(specification: Specification) -> list[str]:
    public: Any = importlib.import_module("itwin_platform")
    transport = httpx.MockTransport(lambda _: httpx.Response(404, json={}))
    found: list[str] = []
    async with public.PlatformClient("http://127.0.0.1", vendor="v", token="t", transport=transport) as platform:  # noqa: S106 - nothing is sent
        for probe in _probes(specification):
            found += await _Trial(platform, probe, public.PlatformError, public.UsageError).messages()
    return found


class _Trial:
    """The calls of a method with sizes around a limit."""

    def __init__(self, platform: Any, probe: Probe, failed: type[Exception], rejected: type[Exception]) -> None:
        self._probe, self._failed, self._rejected = probe, failed, rejected
        group, _, name = probe.method.removeprefix("platform.").partition(".")
        self._method: Callable[..., Any] = getattr(getattr(platform, group), name)

    async def messages(self) -> list[str]:
        """Return the messages about the limit."""
        probe, what = self._probe, f"{self._probe.keyword}= of {self._probe.method}()"
        found: list[str] = []
        if probe.most is None:
            if frames := await self._rejection(probe.far):
                found.append(_message(f"{probe.part} has no upper limit, {what} has one", frames))
        elif frames := await self._rejection(probe.most):
            found.append(_message(f"{probe.part} allows {probe.most}, which {what} rejects", frames))
        elif not await self._rejection(probe.most + 1):
            frames = await self._rejection(max(probe.far, 2 * probe.most))
            found.append(_message(f"{probe.part} allows at most {probe.most}, {what} sends more", frames))
        if probe.least is not None:
            if frames := await self._rejection(probe.least):
                found.append(_message(f"{probe.part} allows {probe.least}, which {what} rejects", frames))
            elif not await self._rejection(probe.least - 1):
                frames = await self._rejection(-probe.far)
                found.append(_message(f"{probe.part} allows at least {probe.least}, {what} sends less", frames))
        return found

    async def _rejection(self, size: int) -> list[FrameSummary]:
        """Return the frames that rejected a size, or nothing if it was sent."""
        parameters = inspect.signature(self._method).parameters.values()
        required = [each.name for each in parameters if each.default is each.empty]
        arguments = {name: REQUIRED.get(name, "A") for name in required} | {
            self._probe.keyword: self._probe.value(size)
        }
        with _recorded(self._rejected) as frames:
            try:
                result = self._method(**arguments)
                await (result if inspect.isawaitable(result) else result.collect())
            except self._failed:
                pass
        return frames


@contextmanager
def _recorded(error: type[Exception]) -> Iterator[list[FrameSummary]]:
    """Record the frames of the wrapper that create an error, because it drops those that could hold a secret."""
    frames: list[FrameSummary] = []
    original = error.__init__

    def record(self: Exception, *arguments: object, **options: object) -> None:
        traceback, frame = None, inspect.currentframe()
        while frame is not None:
            if Path(frame.f_code.co_filename).is_relative_to(WRAPPER):
                traceback = TracebackType(traceback, frame, frame.f_lasti, frame.f_lineno)
            frame = frame.f_back
        frames[:] = extract_tb(traceback)
        original(self, *arguments, **options)

    with patch.object(error, "__init__", record):
        yield frames


def _message(what: str, frames: list[FrameSummary]) -> str:
    if not frames:
        return f"openapi.yaml: {what}. The method has no check for it: add one."
    # A check of one kind of value raises; its caller passes the limit.
    frame = frames[-2] if len(frames) > 1 and re.match("_?check_", frames[-1].name) else frames[-1]
    source = Path(frame.filename).read_text(encoding="utf-8").splitlines()
    line = frame.lineno or 1
    names = re.findall(r"\b_?[A-Z][A-Z_]{3,}\b", "\n".join(source[line - 1 : frame.end_lineno or line]))
    constants = [place for name in dict.fromkeys(names) for place in _defined(name)]
    first = f"{Path(frame.filename).relative_to(WRAPPER).as_posix()}:{line}"
    return f"openapi.yaml: {what}. Change {', '.join([first, *constants])}."


def _defined(name: str) -> Iterator[str]:
    """Return where the wrapper assigns a constant."""
    for path in sorted(WRAPPER.rglob("*.py")):
        for node in tree_of(path).body:
            if isinstance(node, ast.Assign | ast.AnnAssign):
                targets = node.targets if isinstance(node, ast.Assign) else [node.target]
                if name in {inner.id for each in targets for inner in ast.walk(each) if isinstance(inner, ast.Name)}:
                    yield f"{path.relative_to(WRAPPER).as_posix()}:{node.lineno} ({name})"


def _probes(specification: Specification) -> Iterator[Probe]:
    for use in operation_uses(specification).values():
        if use.call is None:
            continue
        for part, field in use.operation.parameters.items():
            yield from _probe(use, part, field, keywords(use, argument(use, part) or ""), _maker(field))
        if use.operation.body is not None:
            for name in sorted(specification.reach([use.operation.body])):
                yield from _of_model(use, name, specification.models[name].fields)


def _of_model(use: OperationUse, name: str, fields: Mapping[str, Field]) -> Iterator[Probe]:
    generated = generated_names.model(name)
    if generated is None or not fields or use.call is None:
        return
    attributes = generated_names.attributes(generated)
    options = importlib.import_module("itwin_platform").RepositoryOptions
    for wire, field in fields.items():
        sources, make = use.call.built.get((name, attributes.get(wire, "")), frozenset[str]()), _maker(field)
        if name == f"Stored{options.__name__}" and wire in options.properties():
            sources, make = frozenset({"options"}), _option(options, options.properties()[wire])
        yield from _probe(use, f"{name}.{wire}", field, sources, make)


def _option(options: Any, name: str) -> Callable[[int], object]:
    """Return options with one property set, because the method takes them as one object."""
    without = dict.fromkeys(options.properties().values())
    return lambda size: options(**{**without, name: size})


def _probe(
    use: OperationUse, part: str, field: Field, sources: frozenset[str], make: Callable[[int], object]
) -> Iterator[Probe]:
    if use.call is None or len(sources) != 1:
        return
    kind = next((kind for kind in FAR if kind in field.kinds), None)
    free = kind is not None and not field.values and not {"pattern", "const"} & set(field.limits)
    if field.most is not None or (free and not part.startswith("path ")):  # an id in the path may have any length
        yield Probe(
            method=use.call.method,
            keyword=next(iter(sources)),
            part=f"{part} of {use.operation.name}",
            least=field.least,
            most=field.most,
            far=FAR.get(kind or "", 1000),
            value=make,
        )


def _maker(field: Field) -> Callable[[int], object]:
    if "integer" in field.kinds:
        return lambda size: size
    if any(kind.startswith("list of") for kind in field.kinds):
        return lambda size: [{"version": "1.0.0", "kind": "View3d", "data": {}}] * size
    return lambda size: "A" * size
