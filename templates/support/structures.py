"""Structures of responses: msgspec checks the types of values while it parses into them.

They forbid unknown properties, because msgspec would drop them. When a response has an unknown property, the structures
are rebuilt with a field for it, and all later responses use these. A response that differs in another way, such as by a
value of another JSON type, is parsed into dictionaries, and the same table makes the same models from them.
"""

import re
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from functools import partial, reduce
from operator import or_
from typing import Any, Generic, TypeAlias, TypeVar

from msgspec import convert, defstruct, field
from msgspec.json import Decoder

from .decoding import MAKERS, blank
from .errors import decode_error, read_object, report_misfits
from .kinds import ANY, DATE_TIME, KIND, Kind, ListKind, ModelKind, class_of
from .methods import compiled
from .request import Received
from .unset import UNSET

M = TypeVar("M")
Make: TypeAlias = Callable[[Any], object]
#: The maximum number of learned names: a service that sends more unknown names uses data as names.
MOST = 50
#: The names that msgspec accepts for fields.
_NAME = re.compile(r"[^\"\\\x00-\x1f]*")
#: The error of msgspec for an unknown property with such a name.
_UNKNOWN = re.compile(r"Object contains unknown field `([^`\"\\\x00-\x1f]+)`")


class Structures:
    """The structures of the models of one response.

    Args:
        unknown: the learned names of properties that go into the `additional_properties` of any model.
        any_kind: whether the property `kind` may have undocumented values. With False, `kind` is the tag of msgspec,
            which needs the values in advance and parses the data directly into the right structure.
    """

    def __init__(self, unknown: Iterable[str] = (), *, any_kind: bool) -> None:
        self._unknown, self._any_kind = unknown, any_kind
        self._made: dict[Any, Any] = {}
        #: Whether a model has a property whose model `kind` determines.
        self.has_kinds: bool = False

    def of(self, model: Any) -> Any:
        """Return the type to parse a model into: a structure, a union of one structure for each kind, or Any.

        Any is for a model inside itself and for a model without a structure: msgspec cannot check them.
        """
        if model not in self._made:
            self._made[model] = Any
            if _has_structure(model):
                self._made[model] = self._of(model)
        return self._made[model]

    def one_of(self, models: Sequence[Any]) -> Any:
        """Return the type to parse one of several models into; Any unless one constant property distinguishes them."""
        tagged = [self._tagged(model) for model in models if len(model.CONSTANTS) == 1 and _has_structure(model)]
        wires = {wire for model in models for wire in model.CONSTANTS}
        return reduce(or_, tagged) if len(wires) == 1 and len(tagged) == len(models) else Any

    def _of(self, model: Any) -> Any:
        by_kind = next((wire for wire, (_, kind) in model.FIELDS.items() if kind.models_by_kind), None)
        lines, names, fields = self._fields(model, {by_kind, KIND} if by_kind else set())
        if by_kind is None:
            return self._structure(compiled(model, "make(values)", [*lines, "return model"], names), fields)
        self.has_kinds = True
        (name, kind), (of_kind, _) = model.FIELDS[by_kind], model.FIELDS[KIND]
        by_value = {value: self.of(class_of(of)) for value, of in kind.models_by_kind.items()}
        if self._any_kind:
            names["convert_data"] = partial(_converted, by_value)
            lines += [f"model.{of_kind} = values.{of_kind}"]
            lines += [f"model._{name} = convert_data(values.{of_kind}, values.{name})"]
            fields += [_optional(of_kind, str, KIND), _optional(name, Any, by_kind)]
            return self._structure(compiled(model, "make_any_kind(values)", [*lines, "return model"], names), fields)
        lines += [f"model.{of_kind} = kind", f"model._{name} = values.{name}", "return model"]
        tagged = []
        for value, data in by_value.items():
            make = compiled(model, "make_kind(values)", lines, {**names, "kind": value})
            tagged.append(self._structure(make, [*fields, _optional(name, data, by_kind)], tag=(KIND, value)))
        return reduce(or_, tagged)

    def _tagged(self, model: Any) -> Any:
        ((wire, value),) = model.CONSTANTS.items()
        lines, names, fields = self._fields(model, {wire})
        lines += [f"model.{model.FIELDS[wire][0]} = {value!r}", "return model"]
        return self._structure(compiled(model, "make_tagged(values)", lines, names), fields, tag=(wire, value))

    def _fields(self, model: Any, without: Container[str | None]) -> tuple[list[str], dict[str, Any], list[Any]]:
        """Return the code that makes a model, the globals of the code, and the fields of the model's structure."""
        names: dict[str, Any] = {"blank": blank, "model_of": model, "UNSET": UNSET}
        lines, fields = ["model = blank(model_of)", "model._additional_properties = None"], list[Any]()
        for number, (wire, (name, kind)) in enumerate(model.FIELDS.items()):
            if wire not in without:
                checked, make = kind.checked(self)
                fields.append(_optional(name, checked, wire, default=None if name in model.OPTIONAL else UNSET))
                names[f"make_{number}"] = make
                value = f"values.{name}"
                is_made_when_read = _is_made_when_read(kind, checked)
                if make is not None and not is_made_when_read:
                    value = f"value if (value := values.{name}) is None or value is UNSET else make_{number}(value)"
                lines.append(f"model.{'_' if is_made_when_read else ''}{name} = {value}")
        return lines, names, fields

    def _structure(
        self, make: Make, fields: list[Any], *, tag: tuple[str, str] | tuple[None, None] = (None, None)
    ) -> Any:
        """Return a structure with these fields, and register `make` as the function that makes its model.

        By the `tag`, a property and its value, msgspec chooses the structure in a union.
        """
        known = {options.name for _, _, options in fields} | {tag[0]}
        # No field of a model begins with an underscore, so these names are free.
        more = [(f"_{number}", wire) for number, wire in enumerate(self._unknown) if wire not in known]
        fields = [*fields, *(_optional(name, Any, wire) for name, wire in more)]
        structure = defstruct("Structure", fields, tag_field=tag[0], tag=tag[1], forbid_unknown_fields=True, gc=False)
        MAKERS[structure] = partial(_with_unknown, make, more) if more else make
        return structure


def _has_structure(model: Any) -> bool:
    """Return whether msgspec accepts the names of a model's fields, and its unknown properties need no decoding."""
    return model.OTHERS is ANY and bool(model.FIELDS) and all(map(_NAME.fullmatch, model.FIELDS))


def _is_made_when_read(kind: Kind, checked: Any) -> bool:
    """Return whether a field keeps the parsed value until it is read: a time, or a model that can be made of any value.

    A model with other models may reject a value, and then the whole response is read into dictionaries.
    """
    if isinstance(kind, ModelKind) and checked is not Any:
        return not any(inner.holds_models for _, inner in class_of(kind.name).FIELDS.values())
    return kind is DATE_TIME


def _optional(name: str, checked: Any, wire: str, *, default: object = UNSET) -> Any:
    """Return the declaration of a nullable field, named `wire` in JSON, with the value of a missing property."""
    return name, checked if checked is Any else checked | None, field(default=default, name=wire)


def _converted(structures: Mapping[str, Any], kind: Any, value: Any) -> Any:
    """Convert an object to the structure of its kind; return an object of an unknown kind unchanged."""
    structure = structures.get(kind)
    return value if structure is None or value is None or value is UNSET else convert(value, structure)


def _with_unknown(make: Make, more: Iterable[tuple[str, str]], values: Any) -> Any:
    model: Any = make(values)
    for name, wire in more:
        if (value := getattr(values, name)) is not UNSET:
            model.additional_properties[wire] = value
    return model


class ResponseReader(Generic[M]):
    """A reader of the successful responses of an operation."""

    def __init__(self, model: type[M]) -> None:
        self._model: Any = model
        self._unknown: tuple[str, ...] = ()
        self._decoders: dict[bool, Decoder[Any] | None] = {}

    def read(self, response: Received) -> M:
        """Decode a success. A value of another JSON type than documented is kept unchanged, and is reported.

        Raises:
            errors.ResponseDecodeError, or the error of the client in use: the response cannot be decoded.
        """
        if not 200 <= response.status_code < 300:
            raise decode_error(response)
        return self._parsed(response.content) or self._decoded(response)

    def _parsed(self, body: bytes) -> M | None:
        """Return the model of a response that matches the document apart from new properties; None for any other."""
        for any_kind in (False, True):
            if (decoder := self._decoder(any_kind=any_kind)) is None:
                break
            try:
                values = decoder.decode(body)
                model: M = MAKERS[values.__class__](values)
            except (ValueError, RecursionError) as error:
                match = _UNKNOWN.match(str(error))
                if match and match[1] not in self._unknown and len(self._unknown) < MOST:
                    self._unknown, self._decoders = (*self._unknown, match[1]), {}
                    return self._parsed(body)
            else:
                return model
        return None

    def _decoder(self, *, any_kind: bool) -> Decoder[Any] | None:
        """Return the decoder; None for a model without a structure, and for `any_kind` if no property has a kind."""
        if any_kind not in self._decoders:
            structures = Structures(self._unknown, any_kind=any_kind)
            checked = structures.of(self._model)
            is_needed = checked is not Any and (structures.has_kinds or not any_kind)
            self._decoders[any_kind] = Decoder(checked) if is_needed else None
        return self._decoders[any_kind]

    def _decoded(self, response: Received) -> M:
        body = read_object(response)
        reason = self._reason(body)
        if reason is None:
            try:
                model: M = decode_value(ModelKind(self._model.__name__), body, response)
            except RecursionError:
                reason = "it is nested too deeply"
            else:
                return model
        del body  # error reporting tools show the variables of frames
        raise decode_error(response, reason)

    def _reason(self, body: Mapping[str, Any]) -> str | None:
        """Return the reason why a response cannot be decoded: a wrong list, item or only property; None if it can."""
        fields = self._model.FIELDS
        for wire, (_, kind) in fields.items():
            value = body.get(wire)
            if value is None or not kind.holds_models:
                continue
            if isinstance(kind, ListKind):
                if not isinstance(value, list):
                    return f"{wire}: a list was expected"
                for index, item in enumerate(value):
                    if not isinstance(item, dict):
                        return f"{wire}[{index}]: an object was expected"
            elif len(fields) == 1 and not isinstance(value, dict):
                return f"{wire}: an object was expected"
        return None


def decode_value(kind: Kind, value: Any, response: Received, *, place: str = "") -> Any:
    """Decode a value, and report the parts of another JSON type than documented.

    Args:
        kind: the kind of the value.
        value: the value.
        response: the response that contains the value.
        place: the place of the value in the response.
    """
    misfits = [] if value is None else [f"{place}{part}".removeprefix(".").strip() for part in kind.misfits(value, {})]
    if misfits:
        report_misfits(response, misfits)
    decode = kind.decoder()
    return value if decode is None else decode(value)
