"""Link the docstrings of the reference to the specification, and show the docstrings of fields completely.

The docstring of an operation names the section of the service description, which is not published. So the reference
links the operation, and each model, to the page of the specification. The list of the fields of a model shows only the
first line of each docstring, so the docstring of a field is joined into one line.
"""

import re
from functools import cache
from pathlib import Path
from typing import Any

import yaml
from griffe import Alias, Attribute, Extension, Object

_SOURCE = re.compile(r"Source: section [\d.]+, (\w+) on the specification page of the documentation\.")


class SpecificationLinks(Extension):
    """The extension that mkdocstrings loads; it gets each object when the tree is complete."""

    def on_object(self, *, obj: Object, **_: object) -> None:
        """Complete one docstring, in place."""
        if obj.docstring is not None:
            text = linked(obj.docstring.value)
            if obj.is_class and obj.path.startswith("itwin_platform_api.models."):
                # The page has a list of the fields already.
                text = text.partition("\n\nAttributes:")[0]
                if obj.name in _schemas():
                    text += f"\n\nSpecification: [{obj.name}](specification.md#schema-{obj.name})."
            obj.docstring.value = " ".join(text.split()) if isinstance(obj, Attribute) else text

    def on_alias_instance(self, *, alias: Alias, **_: object) -> None:
        """Let `import *` find the models, which are imported lazily and therefore only below TYPE_CHECKING."""
        alias.runtime = True


def linked(docstring: str) -> str:
    """Replace the name of the operation in a docstring by a link."""
    return _SOURCE.sub(r"Specification: [\1](specification.md#\1).", docstring)


@cache
def _schemas() -> Any:
    document = (Path(__file__).resolve().parents[2] / "openapi.yaml").read_text(encoding="utf-8")
    return yaml.safe_load(document)["components"]["schemas"]
