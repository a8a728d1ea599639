"""Secret properties: those that a document marks, and those that the published package hides.

A document that a service publishes has no `x-secret`. Generated as it is, `repr` would show passwords, so a property
that was hidden must say `x-secret`: true, or false if it is none any more.
"""

import re
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path

from openapi_python_client.parser import GeneratorData
from openapi_python_client.parser.properties import ModelProperty

from tools.generation import naming
from tools.generation.document import Problem
from tools.generation.preparation import MARKS

PUBLISHED = Path(__file__).resolve().parents[2] / "generated" / "itwin_platform_api" / "models"
_CLASS = re.compile(r"^class (\w+)", re.MULTILINE)
_HIDDEN = re.compile(r"\bdescribe\(\s*self,\s*frozenset\(\s*\[(.*?)\]", re.DOTALL)


def marks_of(model: ModelProperty) -> Mapping[str, bool]:
    """Return what the document says about the properties of a model."""
    marks: Mapping[str, bool] = (model.data.model_extra or {}).get(MARKS, {})
    return marks


@cache
def known_secrets(models: Path = PUBLISHED) -> dict[str, set[str]]:
    """Return the attributes that each published model hides."""
    found: dict[str, set[str]] = {}
    for path in sorted(models.glob("*.py")):
        text = path.read_text(encoding="utf-8")
        if (cls := _CLASS.search(text)) and (hidden := _HIDDEN.search(text)):
            found[cls[1]] = set(re.findall(r"\w+", hidden[1]))
    return found


def lost_marks(data: GeneratorData, *, known: Mapping[str, set[str]]) -> Iterator[Problem]:
    """Yield the properties that were hidden and say nothing now; in a new model, those named as in one that is gone."""
    names = {str(model.class_info.name) for model in data.models}
    gone = set[str]().union(*(hidden for name, hidden in known.items() if name not in names))
    published = {path.stem for path in PUBLISHED.glob("*.py")}
    for model in data.models:
        name = str(model.class_info.name)
        hidden = known.get(name, set()) if model.class_info.module_name in published else gone
        for each in (*(model.required_properties or ()), *(model.optional_properties or ())):
            wire = naming.plain(each.name)
            if each.python_name in hidden and wire not in marks_of(model):
                text = "was a secret and has no mark: say `x-secret: true`, or false if it may be logged and shown"
                yield Problem(keys=("components", "schemas", name, "properties", wire), text=text)
