"""Whether a document is a valid OpenAPI document in one file, so that other tools need not expect anything else."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from tools.generation.document import Node, Problem, nodes, resolve

#: What a reference may name: a path item is read where it is.
_COMPONENT = re.compile(r"#/components/(?!pathItems/)\w+/[^/]+")
#: The keys of a schema whose values are schemas, or lists or mappings of schemas.
SCHEMAS = ("schema", "items", "oneOf", "anyOf", "allOf", "not", "properties", "schemas")


def invalid(document: Node) -> list[Problem]:
    """Return what is not valid: references that lead nowhere before anything else."""
    return [*_references(document), *_boolean_schemas(document)] or [*_invalid(document)]


def _references(document: Node) -> Iterator[Problem]:
    schemas = document.get("components", {}).get("schemas", {})
    for keys, node in nodes(document):
        kinds = node.get("x-kinds")
        for name in [
            *(kinds.values() if isinstance(kinds, dict) else ()),
            *(node[key] for key in ("x-names", "x-values") if key in node),
        ]:
            if name not in schemas:
                yield Problem(keys=keys, text=f"names the schema {name!r}, which is not there")
        reference = node.get("$ref")
        if not isinstance(reference, str):
            continue
        where = None if _COMPONENT.fullmatch(reference) else "names no component: move what it names to `components`"
        try:
            resolve(document, node)
        except KeyError:
            where = "leads nowhere" if reference.startswith("#/") else "leads out of the document: copy what it names"
        if where is not None:
            yield Problem(keys=keys, text=f"$ref {reference!r} {where}")


def _boolean_schemas(document: Node) -> Iterator[Problem]:
    for keys, node in nodes(document):
        for name in SCHEMAS:
            inner: Any = node.get(name)
            members = (
                inner.items() if isinstance(inner, Mapping) else enumerate(inner if isinstance(inner, list) else ())
            )
            for key, value in (((), inner), *(((key,), value) for key, value in members)):
                if isinstance(value, bool) and not (key and name in ("schema", "items", "not")):
                    yield Problem(
                        keys=(*keys, name, *key), text="a boolean is no schema here: write `{}` for any value"
                    )


def _invalid(document: Node) -> Iterator[Problem]:
    from openapi_spec_validator import OpenAPIV31SpecValidator  # takes a third of a second

    for error in OpenAPIV31SpecValidator(dict(document)).iter_errors():
        yield Problem(keys=tuple(error.absolute_path), text=error.message)
