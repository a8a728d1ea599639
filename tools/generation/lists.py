"""What a template needs to write the structures of a response, which msgspec reads faster than dictionaries.

Each response gets them that has no list of objects, or one, whether it holds the list itself, as a page does, or an
object in it does: the document says so, no list of names.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from openapi_python_client.parser.properties import EnumProperty, ModelProperty
from openapi_python_client.parser.properties.list_property import ListProperty
from openapi_python_client.parser.properties.protocol import PropertyProtocol
from openapi_python_client.parser.properties.union import UnionProperty

from tools.generation.naming import plain

#: How values are checked, by the type of the field. msgspec would turn an integer into a float, and 1.0 into 1; a time
#: is read by the models, which know more forms of it. Any other type is read as the models read it.
CHECKED = {
    "str": "str",
    "datetime.datetime": "str",
    "bool": "bool",
    "float": "int | float",
    "int": "int | float",
    "list[float]": "list[int | float]",
}
#: The property that decides the shape of another one.
KIND = "kind"
#: Models by their names.
Models = Mapping[str, ModelProperty]
#: By the model and the property: the model for each kind.
ModelsOfKinds = Mapping[str, Mapping[str, Mapping[str, str]]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Field:
    """A field of a structure: how its value is checked, and the model that is made of it."""

    declared: PropertyProtocol
    checked: str = "Any"
    model: ModelProperty | None = None

    @property
    def name(self) -> str:
        """The name in Python."""
        return str(self.declared.python_name)

    @property
    def wire(self) -> str:
        """The name in JSON."""
        return plain(self.declared.name)


@dataclass(frozen=True, slots=True, kw_only=True)
class Structure:
    """The structure of a model.

    `path` has the subscripts that lead to it from a response; None for what is in a list. On the way to the list,
    `inner` is the field that leads on, or the list itself. `shape` is the field whose shape the field `kind` decides,
    and `shapes` has the models by the kinds.
    """

    model: ModelProperty
    path: str | None
    fields: Sequence[Field]
    inner: Field | None = None
    shape: Field | None = None
    kind: Field | None = None
    shapes: Mapping[str, ModelProperty] = field(default_factory=dict)


def list_shape(
    response: object, *, models: Sequence[ModelProperty], of_kinds: ModelsOfKinds
) -> Sequence[Structure] | None:
    """Return the structures of a response without a list of objects, or with one; None for any other.

    The innermost comes first: those of the items, those on the way to the list, and that of the response.
    """
    by_name = {str(model.class_info.name): model for model in models}
    if not isinstance(response, ModelProperty) or len(ways := [*_ways(response, by_name, (), "")]) > 1:
        return None
    holders, item = ways[0] if ways else ([], str(response.class_info.name))
    structures: dict[str, Structure] = {}
    _add(item, by_name, of_kinds, structures, None if ways else "")
    # The `data` of a kind, and what stands in an item as well, would need another structure.
    names = {str(holder.model.class_info.name) for holder in holders}
    return [*structures.values(), *holders] if names.isdisjoint({*structures, *of_kinds}) else None


def _ways(
    response: ModelProperty, models: Models, above: Sequence[str], path: str
) -> Iterator[tuple[list[Structure], str]]:
    """Yield the way to each list of objects in a response, the innermost first, and the name of its items."""
    name = str(response.class_info.name)
    if name in above:
        return
    # The generator completes the models of its list, not the copies of them that properties hold.
    model = models[name]
    for declared in _properties(model):
        item = declared.inner_property if isinstance(declared, ListProperty) else None
        onward: Iterable[tuple[list[Structure], str]] = ()
        if isinstance(item, ModelProperty):
            onward = [([], str(item.class_info.name))]
        elif isinstance(declared, ModelProperty):
            onward = _ways(declared, models, (*above, name), f'{path}["{plain(declared.name)}"]')
        for holders, item_name in onward:
            others = [Field(declared=each) for each in _properties(model) if each is not declared]
            inner = Field(declared=declared, model=holders[-1].model if holders else models[item_name])
            yield [*holders, Structure(model=model, path=path, fields=others, inner=inner)], item_name


def _add(
    name: str, models: Models, of_kinds: ModelsOfKinds, structures: dict[str, Structure], path: str | None
) -> None:
    """Add the structure of a model after those of the models that it holds."""
    if name in structures:
        return
    # The field that has a shape for each kind stands apart, with the field `kind`.
    ((shape, kinds),) = of_kinds.get(name, {}).items() or [("", {})]
    fields = {each.wire: each for each in (_field(inner, models, of_kinds) for inner in _properties(models[name]))}
    for wire, each in fields.items():
        if each.model is not None:
            below = None if path is None else f'{path}["{wire}"]'
            _add(str(each.model.class_info.name), models, of_kinds, structures, below)
    for inner in kinds.values():
        _add(inner, models, of_kinds, structures, None)
    structures[name] = Structure(
        model=models[name],
        path=path,
        fields=[each for wire, each in fields.items() if not kinds or wire not in (shape, KIND)],
        shape=fields.get(shape),
        kind=fields[KIND] if kinds else None,
        shapes={value: models[each] for value, each in kinds.items()},
    )


def _field(declared: PropertyProtocol, models: Models, of_kinds: ModelsOfKinds) -> Field:
    inner = declared.inner_properties if isinstance(declared, UnionProperty) else [declared]
    present = [each for each in inner if _type(each) != "None"]
    kind = present[0] if len(present) == 1 else None
    if isinstance(kind, EnumProperty):
        return Field(declared=declared, checked=str(kind.class_info.name))
    model = models[str(kind.class_info.name)] if isinstance(kind, ModelProperty) else None
    # The data of an item may have a kind; what stands in an item and has such data is read as its model reads it.
    if model is not None and _properties(model) and model.class_info.name not in of_kinds:
        return Field(declared=declared, checked=f"{model.class_info.module_name}_", model=model)
    return Field(declared=declared, checked=CHECKED.get(_type(kind), "Any") if kind is not None else "Any")


def _properties(model: ModelProperty) -> list[Any]:
    return [*(model.required_properties or ()), *(model.optional_properties or ())]


def _type(declared: PropertyProtocol) -> str:
    return declared.get_base_type_string().as_unembedded_code()


def imported(structures: Sequence[Structure]) -> list[str]:
    """Return the imports of the models and enums of a response, and of all that they hold."""
    lines: set[str] = set()
    for model in (structure.model for structure in structures):
        lines.add(f"from ..models.{model.class_info.module_name} import {model.class_info.name}")
        lines |= {*(model.relative_imports or ()), *(model.lazy_imports or ())}
    return sorted(line.replace("from ..", "from ...", 1) for line in lines if line.startswith("from ..models"))
