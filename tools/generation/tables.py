"""Writes the table of each model: its fields by their names in JSON, with the kinds of `templates/support/kinds.py`."""

from collections.abc import Mapping
from typing import Any

from jinja2 import TemplateRuntimeError
from openapi_python_client.parser.properties import EnumProperty, ModelProperty
from openapi_python_client.parser.properties.const import ConstProperty
from openapi_python_client.parser.properties.list_property import ListProperty
from openapi_python_client.parser.properties.none import NoneProperty
from openapi_python_client.parser.properties.union import UnionProperty

from tools.generation.naming import plain

#: The kinds of scalars by the name of the generator's class, because the generator exports few of these classes.
_SCALARS: Mapping[str, str] = {
    "AnyProperty": "ANY",
    "BooleanProperty": "BOOLEAN",
    "ConstProperty": "STRING",
    "DateProperty": "DATE",
    "DateTimeProperty": "DATE_TIME",
    "FloatProperty": "NUMBER",
    "IntProperty": "NUMBER",
    "StringProperty": "STRING",
    "UuidProperty": "UUID_STRING",
}
_PLAIN = ("ANY", "BOOLEAN", "NUMBER", "STRING")
#: By the model and the property: the model for each value of `kind`; empty for an object that is not decoded.
ModelsOfKinds = Mapping[str, Mapping[str, Mapping[str, str]]]


def table_of(model: ModelProperty, of_kinds: ModelsOfKinds) -> dict[str, tuple[str, str]]:
    """Return the name and the kind of each field as Python code, by its name in JSON, in the order of the document.

    Raises:
        TemplateRuntimeError: a property has a type that is not supported.
    """
    chosen = of_kinds.get(str(model.class_info.name), {})
    found: dict[str, tuple[str, str]] = {}
    for each in (*(model.required_properties or ()), *(model.optional_properties or ())):
        wire = plain(each.name)
        kind = kind_of(each)
        if wire in chosen:
            kind = f"ByKind({dict(chosen[wire])!r})" if chosen[wire] else "OBJECT"
        found[wire] = str(each.python_name), kind
    return {wire: found[wire] for wire in (*map(plain, model.data.properties or ()), *found) if wire in found}


def kind_of(declared: Any) -> str:
    """Return the kind of a property as Python code."""
    if isinstance(declared, EnumProperty):
        return f'EnumKind("{declared.class_info.name}"{", is_number=True" if declared.value_type is int else ""})'
    if isinstance(declared, ModelProperty):
        return f'ModelKind("{declared.class_info.name}")'
    if isinstance(declared, ListProperty):
        return f"ListKind({kind_of(declared.inner_property)})"
    if isinstance(declared, UnionProperty):
        return _kind_of_union(declared)
    kind = type(declared).__name__
    if kind not in _SCALARS:
        raise TemplateRuntimeError(
            f"property {declared.python_name} is a {kind}, which templates/support/kinds.py does not decode"
        )
    return _SCALARS[kind]


def _kind_of_union(declared: UnionProperty) -> str:
    forms: list[Any] = [each for each in declared.inner_properties if not isinstance(each, NoneProperty)]
    kinds = [*dict.fromkeys(map(kind_of, forms))]
    models = [each for each in forms if isinstance(each, ModelProperty)]
    if len(kinds) == 1:
        return kinds[0]
    if len(models) > 1:
        names = ", ".join(f'"{each.class_info.name}"' for each in models)
        return f"OneOfKind(({names}))" if all(map(_has_constant, models)) else "ANY"
    decoded = [kind for kind in kinds if kind not in _PLAIN]
    if len(decoded) > 1:
        raise TemplateRuntimeError(f"property {declared.python_name} may have several forms that nothing tells apart")
    # A constant beside an enum is a string like the members, so the enum decodes it.
    others = [each for each in forms if not isinstance(each, ConstProperty) and kind_of(each) not in decoded]
    if decoded and not others:
        return decoded[0]
    return f"LooseKind({decoded[0]})" if decoded else "ANY"


def _has_constant(model: ModelProperty) -> bool:
    return any(getattr(inner, "const", None) is not None for inner in (model.data.properties or {}).values())
