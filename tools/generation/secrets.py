"""Secret properties: the marks of a document, compared with the marks of the committed document.

A document that a service publishes has no `x-secret`, so `repr` would show passwords. Therefore a property that was
secret must have `x-secret`: true, or false if it is no longer a secret.
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
    """Return the value of `x-secret` of each property of a model that has one."""
    marks: Mapping[str, bool] = extensions_of(model.data).get(MARKS, {})
    return marks


@cache
def known_secrets() -> dict[str, set[str]]:
    """Return the secret properties of each schema of the committed document, from the copy in the sandbox."""
    document = load_document(str(PROJECT / FILE))
    marks = {name: secret_marks(document, schema) for name, schema in document["components"]["schemas"].items()}
    return {name: {wire for wire, is_secret in each.items() if is_secret} for name, each in marks.items()}


def lost_marks(document: Node, *, known: Mapping[str, set[str]]) -> Iterator[Problem]:
    """Yield the properties that were secret and have no mark now.

    In a new schema, these are the properties with the name of a secret property of a removed schema.
    """
    schemas = document.get("components", {}).get("schemas", {})
    gone = set[str]().union(*(hidden for name, hidden in known.items() if name not in schemas))
    for name, schema in schemas.items():
        for wire in schema.get("properties", {}).keys() & known.get(name, gone) - secret_marks(document, schema).keys():
            text = "was a secret and has no mark: write `x-secret: true`, or false if it may be logged and shown"
            yield Problem(keys=("components", "schemas", name, "properties", wire), text=text)
