"""Secret properties: those that a document marks, and those that the published document marks.

A document that a service publishes has no `x-secret`. Generated as it is, `repr` would show passwords, so a property
that was hidden must say `x-secret`: true, or false if it is none any more.
"""

from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

from openapi_python_client.parser.properties import ModelProperty
from openapi_python_client.schema import Reference, Schema

from tools.generation.document import PROJECT, Node, Problem, load_document
from tools.generation.preparation import MARKS, secret_marks
from tools.generation.sandbox_document import FILE


def extensions_of(schema: Schema | Reference) -> Mapping[str, Any]:
    """Return the fields of a schema beyond OpenAPI."""
    return schema.model_extra or {}


def marks_of(model: ModelProperty) -> Mapping[str, bool]:
    """Return what the document says about the properties of a model."""
    marks: Mapping[str, bool] = extensions_of(model.data).get(MARKS, {})
    return marks


@cache
def known_secrets() -> dict[str, set[str]]:
    """Return the properties that each schema of the published document marks, as the sandbox ships it."""
    document = load_document(str(PROJECT / FILE))
    marks = {name: secret_marks(document, schema) for name, schema in document["components"]["schemas"].items()}
    return {name: {wire for wire, is_secret in each.items() if is_secret} for name, each in marks.items()}


def lost_marks(document: Node, *, known: Mapping[str, set[str]]) -> Iterator[Problem]:
    """Yield the properties that were hidden and say nothing now.

    In a new schema they are those with the name of one that was hidden in a schema that is gone.
    """
    schemas = document.get("components", {}).get("schemas", {})
    gone = set[str]().union(*(hidden for name, hidden in known.items() if name not in schemas))
    for name, schema in schemas.items():
        for wire in schema.get("properties", {}).keys() & known.get(name, gone) - secret_marks(document, schema).keys():
            text = "was a secret and has no mark: say `x-secret: true`, or false if it may be logged and shown"
            yield Problem(keys=("components", "schemas", name, "properties", wire), text=text)
