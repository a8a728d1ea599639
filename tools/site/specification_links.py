"""Link the docstrings of the reference to the specification, and show those of fields completely.

The docstring of an operation names the section of the service description that it follows. That document is not
published: the reference links to the operation on the page of the specification instead, and a model to its schema. The
list of the fields of a model shows the first line of each docstring, so that is the only one here.
"""

import re
from functools import cache
from pathlib import Path
from typing import Any

import yaml
from griffe import Alias, Attribute, Extension, Object

_PROJECT = Path(__file__).resolve().parents[2]
_SOURCE = re.compile(r"( *)Source: ([^\n]*\bsections? [^\n]*)$", re.MULTILINE)


class SpecificationLinks(Extension):
    """The extension that mkdocstrings loads; it gets each object when the tree is complete."""

    def on_object(self, *, obj: Object, **_: object) -> None:
        """Complete one docstring, in place."""
        if obj.docstring is not None:
            text = linked(obj.docstring.value)
            if obj.is_class and obj.path.startswith("itwin_platform_api.models."):
                # The page lists the fields beside it.
                text = text.partition("\n\nAttributes:")[0]
                if obj.name in _document()["components"]["schemas"]:
                    text += f"\n\nSpecification: [{obj.name}](specification.md#schema-{obj.name})."
            obj.docstring.value = " ".join(text.split()) if isinstance(obj, Attribute) else text

    def on_alias_instance(self, *, alias: Alias, **_: object) -> None:
        """Let `import *` find the models, which are imported lazily: they stand behind TYPE_CHECKING."""
        alias.runtime = True


def linked(docstring: str) -> str:
    """Replace the sections by links."""

    def link(source: re.Match[str]) -> str:
        sections = re.findall(r"4\.\d+", source[2])
        named = [name for name, section in _operations().items() if section in sections]
        links = ", ".join(f"[{name}](specification.md#{name})" for name in named)
        return f"{source[1]}Specification: {links}."

    return _SOURCE.sub(link, docstring)


@cache
def _document() -> Any:
    return yaml.safe_load((_PROJECT / "openapi.yaml").read_text(encoding="utf-8"))


@cache
def _operations() -> dict[str, str]:
    """Return the section that each operation of the specification transcribes, by the name of the operation."""
    return {
        operation["operationId"]: found[1]
        for methods in _document()["paths"].values()
        for operation in methods.values()
        if (found := re.search(r"(4\.\d+)", operation["description"]))
    }
