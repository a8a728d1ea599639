"""The base class of all models, with the JSON schemas and hooks that FastAPI and pydantic call.

Neither of the two is imported: the hooks return dictionaries.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import date, datetime
from enum import Enum
from types import NoneType, UnionType
from typing import (
    TYPE_CHECKING,
    Any,
    ClassVar,
    Literal,
    NotRequired,
    Self,
    Union,
    get_args,
    get_origin,
    get_type_hints,
    is_typeddict,
)

import attrs

from .description import describe, missing_key, shown_fields
from .encoding import Encodable, encode
from .kinds import ANY, Kind, Table
from .methods import make_when_read, reader_of, writer_of
from .pickling import reduced
from .unset import UNSET, Unset

_SCALARS: dict[Any, dict[str, Any]] = {
    str: {"type": "string"},
    int: {"type": "integer"},
    float: {"type": "number"},
    bool: {"type": "boolean"},
    NoneType: {"type": "null"},
    datetime: {"type": "string", "format": "date-time"},
    date: {"type": "string", "format": "date"},
}


class _WithVars(Encodable):
    __slots__ = ()

    if not TYPE_CHECKING:
        # In a base class, because attrs would drop it from the class below.
        @property
        def __dict__(self) -> dict[str, Any]:
            """The JSON object without secrets: FastAPI serializes `vars()` of the result of a route without a type."""
            return encode(_without_secrets(self))


@attrs.define(repr=False)
class JSONModel(_WithVars):
    """The base class of all models: reads JSON objects, writes them, and keeps unknown properties."""

    #: The fields by their names in JSON.
    FIELDS: ClassVar[Table] = {}
    #: The kind of all other properties.
    OTHERS: ClassVar[Kind] = ANY
    #: The fields that hold secrets, which neither `repr` nor `vars()` shows.
    SECRETS: ClassVar[frozenset[str]] = frozenset()
    #: Whether an object of this class replaces the stored one.
    IS_COMPLETE: ClassVar[bool] = False
    #: The fields of a complete object that are None, not UNSET, when their property is missing.
    OPTIONAL: ClassVar[frozenset[str]] = frozenset()
    additional_properties: dict[str, Any] = attrs.field(kw_only=True, factory=dict)

    def __attrs_post_init__(self) -> None:
        # A copy, because `attrs.evolve` passes the dict of the model that it copies.
        self.additional_properties = dict(self.additional_properties)

    def __repr__(self) -> str:
        return describe(self)

    def __rich_repr__(self) -> Iterator[tuple[str, Any]]:
        # rich reads the fields of attrs classes, and ignores their `repr`: its tracebacks would show secrets.
        return shown_fields(self)

    def __reduce__(self) -> tuple[Any, ...]:
        return reduced(self)

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        """Make a model from a JSON object. A missing field is UNSET, and a value of another type is kept unchanged.

        A missing optional field of a complete object, such as `RepositoryOptions`, is None. So for a request, pass the
        mapping itself: the operation rejects a mapping that lacks a property.
        """
        # The first call replaces this method by one that is compiled from the table of the model.
        model = _with_table(cls)
        read: Any = _documented(reader_of(model), JSONModel.from_dict)
        model.from_dict = classmethod(read)
        decoded: Self = read(cls, src_dict)
        return decoded

    def wire_fields(self) -> dict[str, Any]:
        """Return the fields by their names in JSON, without optional fields that are UNSET.

        Models inside are returned as their fields too, and other values are not encoded.
        """
        model = _with_table(type(self))
        write: Any = _documented(writer_of(model), JSONModel.wire_fields)
        model.wire_fields = write
        fields: dict[str, Any] = write(self)
        return fields

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON object of the model. Fields that are UNSET are omitted."""
        encoded: dict[str, Any] = encode(self)
        return encoded

    def _with(self, **changes: object) -> Self:
        """Return a copy with changed fields. A change to UNSET is ignored, and unknown properties are kept."""
        model: Any = self
        changed: Self = attrs.evolve(model, **{name: new for name, new in changes.items() if new is not UNSET})
        return changed

    @property
    def additional_keys(self) -> list[str]:
        """The names of the fields that the specification does not name."""
        return list(self.additional_properties)

    def __getitem__(self, key: str) -> Any:
        try:
            return self.additional_properties[key]
        except KeyError:
            raise missing_key(self, key) from None

    def __setitem__(self, key: str, value: Any) -> None:
        self.additional_properties[key] = value

    def __delitem__(self, key: str) -> None:
        del self.additional_properties[key]

    def __contains__(self, key: str) -> bool:
        return key in self.additional_properties

    @classmethod
    def __get_pydantic_core_schema__(cls, source: object, handler: object) -> dict[str, Any]:
        # A method, because pydantic shows the name of the function in the errors of a union, and the repr of a partial.
        function = {"type": "no-info", "function": cls._from_pydantic}
        return {"type": "function-plain", "function": function, "serialization": _SERIALIZATION}

    @classmethod
    def _from_pydantic(cls, value: object) -> Self:
        if isinstance(value, cls):
            return value
        if not isinstance(value, Mapping):
            raise ValueError(f"a JSON object of {cls.__name__} was expected")  # noqa: TRY004  # pydantic reports a ValueError
        constants: dict[str, object] = getattr(cls, "CONSTANTS", {})
        if any(value.get(name) != constant for name, constant in constants.items()):
            raise ValueError(f"{cls.__name__} must have {constants}")
        model = cls.from_dict(value)
        # With None, an update with a partial object would remove the property from the stored one.
        for wire, (name, _) in cls.FIELDS.items():
            if name in cls.OPTIONAL and wire not in value:
                setattr(model, name, UNSET)
        return model

    @classmethod
    def __get_pydantic_json_schema__(cls, schema: object, handler: object) -> dict[str, Any]:
        return json_schema(cls)


# Few models have unknown properties, and a dictionary takes as long as four fields: see the row "iTwins, pages of 100".
make_when_read(JSONModel, "additional_properties", {NoneType: lambda _: {}})


def _with_table(kind: type[Any]) -> Any:
    """Return the class that declares the table: the model itself, or the model from which a user derived the class."""
    return next(base for base in kind.__mro__ if "FIELDS" in vars(base))


def _documented(function: Callable[..., Any], like: Any) -> Callable[..., Any]:
    """Give a function the docstring and the annotations of another function."""
    function.__doc__, function.__annotations__ = like.__doc__, {**like.__annotations__}
    return function


def _without_secrets(value: Any) -> Any:
    """Return a model, or a list of models, in which all fields that hold secrets are UNSET."""
    if type(value) is list:
        return [_without_secrets(item) if isinstance(item, JSONModel) else item for item in value]
    if not isinstance(value, JSONModel):
        return value
    kind: Any = type(value)
    names = [field.name for field in attrs.fields(kind) if field.init]
    return kind(**{name: UNSET if name in value.SECRETS else _without_secrets(getattr(value, name)) for name in names})


def takes_mapping(param: Any) -> None:
    """Let pydantic accept any mapping in the names of JSON; it supports TypedDict from Python 3.12 on only."""
    schema = {"type": "dict", "keys_schema": {"type": "str"}, "serialization": _SERIALIZATION}
    param.__get_pydantic_core_schema__ = lambda source, handler: schema
    param.__get_pydantic_json_schema__ = lambda schema, handler: json_schema(param)


_SERIALIZATION = {"type": "function-plain", "function": encode}


def json_schema(kind: Any, *, inside: tuple[Any, ...] = ()) -> dict[str, Any]:
    """Return the JSON schema of a model or of a TypedDict, with additional properties allowed.

    Args:
        kind: the class.
        inside: the classes that contain it. A class inside itself is described as an object of any properties.
    """
    if kind in inside:
        return {"title": kind.__name__, "type": "object"}
    hints = get_type_hints(kind, include_extras=True)
    if is_typeddict(kind):
        # `__required_keys__` of Python 3.11 ignores NotRequired in annotations that are strings.
        names = {name: name for name in hints}
        required = sorted(name for name, hint in hints.items() if get_origin(hint) is not NotRequired)
    else:
        names, required = {wire: name for wire, (name, _) in kind.FIELDS.items()}, []
    properties = {wire: _schema_of(hints[name], (*inside, kind)) for wire, name in names.items()}
    schema: dict[str, Any] = {"title": kind.__name__, "type": "object", "properties": properties}
    return schema | ({"required": required} if required else {})


def _schema_of(hint: Any, inside: tuple[Any, ...]) -> dict[str, Any]:
    origin, inner = get_origin(hint), get_args(hint)
    if hint in _SCALARS:
        return {**_SCALARS[hint]}
    if origin in (Union, UnionType, NotRequired):
        schemas = [_schema_of(part, inside) for part in inner if part is not Unset]
        return schemas[0] if len(schemas) == 1 else {"anyOf": schemas}
    if origin is Literal:
        return {"enum": [*inner]}
    if origin in (list, Sequence):
        return {"type": "array", "items": _schema_of(inner[0], inside)}
    if isinstance(hint, type) and issubclass(hint, Enum):
        # The members are examples, because the service may have added some.
        return {"type": "integer" if issubclass(hint, int) else "string", "examples": [member.value for member in hint]}
    if attrs.has(hint) or is_typeddict(hint):
        return json_schema(hint, inside=inside)
    return {"type": "object"} if origin in (dict, Mapping) else {}
