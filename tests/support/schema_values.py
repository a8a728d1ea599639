"""Hypothesis strategies for responses that match a schema of the specification, in part or not at all."""

import math
from typing import Any

from hypothesis import strategies as st
from itwin_platform_api import models

from tests.support.specification import specification

SCHEMAS: dict[str, Any] = specification()["components"]["schemas"]
#: The generated models by name: every object of the specification.
MODELS: dict[str, Any] = {
    name: getattr(models, name) for name in SCHEMAS if hasattr(getattr(models, name, None), "from_dict")
}
ENUMS: dict[str, Any] = {name: getattr(models, name) for name, schema in SCHEMAS.items() if "enum" in schema}

#: Without digits, so that no text is a time by chance; with half a surrogate pair, which JSON allows.
TEXTS = st.text(st.sampled_from("abcXYZ <>&'\"/é\u2028\ud800\x00"), max_size=6)
NUMBERS = st.integers() | st.floats(allow_nan=False) | st.just(10**400) | st.just(math.inf)
ANY_JSON = st.recursive(
    st.none() | st.booleans() | NUMBERS | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=6,
)
#: Times in the documented form.
TIMES = st.datetimes().map(lambda moment: moment.isoformat(timespec="milliseconds") + "Z")
FITTING = {"string": TEXTS, "integer": st.integers(), "number": NUMBERS, "boolean": st.booleans(), "null": st.none()}


def values_of(schema: dict[str, Any]) -> st.SearchStrategy[Any]:
    """Return values whose types match a schema."""
    if "$ref" in schema:
        return values_of(SCHEMAS[schema["$ref"].rpartition("/")[2]])
    if "const" in schema:
        return st.just(schema["const"])
    if "enum" in schema:
        return st.sampled_from(schema["enum"]) | TEXTS
    if schema.get("format") == "date-time":
        return TIMES
    choices = schema.get("oneOf") or schema.get("anyOf")
    if choices:
        return st.one_of([values_of(choice) for choice in choices])
    kind = schema.get("type")
    if isinstance(kind, list):
        return st.one_of([values_of({**schema, "type": each}) for each in kind])
    if kind == "array":
        return st.lists(values_of(schema["items"]) | ANY_JSON, max_size=3)
    if kind == "object":
        return objects_of(schema)
    return FITTING[kind] if kind else ANY_JSON


def objects_of(schema: dict[str, Any]) -> st.SearchStrategy[dict[str, Any]]:
    """Return objects with fields that match, are null, are missing or have another type, and with unknown fields."""
    known = {name: values_of(each) | st.none() | ANY_JSON for name, each in schema.get("properties", {}).items()}
    return st.builds(
        lambda unknown, fields: unknown | fields,
        st.dictionaries(TEXTS, ANY_JSON, max_size=2),
        st.fixed_dictionaries({}, optional=known),
    )
