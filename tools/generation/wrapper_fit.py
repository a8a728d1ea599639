"""Finds what the wrapper uses and the generated package no longer has, each with what to do.

Python would raise an ImportError or a TypeError for the first name only, and without advice. This module reads the
source of the wrapper and imports nothing of it.
"""

import importlib
from collections.abc import Iterable, Iterator
from difflib import get_close_matches
from pathlib import Path

from tools.generation import generated_names
from tools.generation.generated_names import Function
from tools.generation.wrapper_calls import PACKAGE, WRAPPER, Call, calls, imported_names, tags, users
from tools.spec.specification import Specification

ADVICE = (
    "\n    renamed: put the new name there"
    "\n    removed: remove it there, with what offered it to users and its tests"
    "\n    either way: say so in CHANGELOG.md, under Service"
)


def misfits(specification: Specification | None = None, *, wrapper: Path = WRAPPER) -> list[str]:
    """Return a message for each missing name; with a specification, also for wire names and limits.

    While a name is missing, the wrapper cannot be imported, so only missing names are reported.
    """
    functions = generated_names.functions()
    named = (text for call in calls(wrapper) for text in _call(call, functions))
    found = [*_imports(wrapper), *_tags(functions, wrapper), *named]
    if found or specification is None:
        return found
    from tools.generation.wire_names import dead_names, dead_properties
    from tools.generation.wrapper_limits import wrong_limits

    return [*dead_names(specification), *dead_properties(specification), *wrong_limits(specification)]


def _imports(wrapper: Path) -> Iterator[str]:
    for module, name, line in imported_names(wrapper):
        try:
            found = importlib.import_module(module)
        except ModuleNotFoundError:
            yield _gone(name, f"_api.py:{line}", others=_functions_and_models(), more=users(name, wrapper))
            continue
        try:
            if not hasattr(found, name):
                importlib.import_module(f"{module}.{name}")
        except ModuleNotFoundError:
            yield _gone(name, f"_api.py:{line}", others=_functions_and_models(), more=users(name, wrapper))


def _tags(functions: dict[str, Function], wrapper: Path) -> Iterator[str]:
    """Compare the folder of each operation with the folder from which `_api.py` imports it at run time."""
    for name, tag, line in tags(wrapper):
        if name in functions and functions[name].module.split(".")[-2] != tag:
            folder = functions[name].module.split(".")[-2]
            yield f"{name} is generated in api/{folder} now: put {folder!r} into _TAGS (_api.py:{line})."


def _call(call: Call, functions: dict[str, Function]) -> Iterator[str]:
    function = functions.get(call.function)
    if function is None:
        return  # `_api.py` imports it too, and is reported
    for name in sorted(set(call.arguments) - function.keywords - {"client"}):
        yield _gone(f"{name}= of {call.function}", f"{call.place}, in {call.method}()", others=function.keywords)
    passed = {*call.arguments, *function.positional[: len(call.positional)]}
    for name in (*function.positional, *function.required):
        if name not in passed:
            yield (
                f"{call.function} needs {name}= now, and {call.method}() does not pass it ({call.place}):"
                f"\n    give the method a keyword for it and pass it on"
            )
    for model, attribute in sorted(call.built):
        generated = generated_names.model(model)
        if generated is None:
            continue
        names = generated_names.attributes(generated)
        known = {f"[{wire}]" for wire in names} if attribute.startswith("[") else set(names.values())
        if attribute not in known:
            yield _gone(f"{attribute} of {model}", f"{call.place}, in {call.method}()", others=known)
    if function.response is not None:
        known = set(generated_names.attributes(function.response).values())
        for name in sorted(call.read - known - {"additional_properties"}):
            text = f"{name} of {function.response.__name__}"
            yield _gone(text, f"{call.place}, in {call.method}()", others=known)


def _functions_and_models() -> list[str]:
    models = importlib.import_module(f"{PACKAGE}.models")
    return [*generated_names.functions(), *models.__all__]


def _gone(what: str, place: str, *, others: Iterable[str], more: Iterable[str] = ()) -> str:
    close = get_close_matches(what.partition(" ")[0].rstrip("="), list(others), n=3)
    near = f" The nearest that there is: {', '.join(close)}." if close else ""
    further = f", and {', '.join(more)}" if more else ""
    return f"openapi.yaml no longer gives {what}, which the wrapper uses ({place}{further}).{near}{ADVICE}"
