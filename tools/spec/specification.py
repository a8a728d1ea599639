"""The parts of an OpenAPI document that matter to users of a client: operations, parameters, models, enums, errors."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Field:
    """A parameter, a property of a model, a body or a response.

    `kinds` are the alternatives of its type, such as `string`, `list of Scene` or the name of a model. `values` are
    those of an enum without a name.
    """

    kinds: frozenset[str]
    required: bool
    nullable: bool
    values: tuple[str, ...]
    limits: Mapping[str, object]
    default: object
    words: str

    @property
    def kind(self) -> str:
        """The type in words."""
        return " or ".join(sorted(self.kinds)) or "anything"

    @property
    def least(self) -> int | None:
        """The smallest number, length or number of items, if there is a limit."""
        return self._limit("minimum", "minLength", "minItems")

    @property
    def most(self) -> int | None:
        """The largest number, length or number of items, if there is a limit."""
        return self._limit("maximum", "maxLength", "maxItems")

    def _limit(self, *names: str) -> int | None:
        return next((int(str(self.limits[name])) for name in names if name in self.limits), None)

    @property
    def models(self) -> frozenset[str]:
        """The names in the type, which include those of models."""
        return frozenset(kind.rpartition("list of ")[2] for kind in self.kinds)


@dataclass(frozen=True, slots=True, kw_only=True)
class Model:
    """An object with its properties by wire name, or an enum with its values."""

    fields: Mapping[str, Field]
    values: tuple[str, ...]
    members: Mapping[str, str]
    words: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Operation:
    """One operation; a parameter has a key such as `query $top`, and a response has its status as key."""

    name: str
    method: str
    path: str
    tag: str
    preview: bool
    words: str
    parameters: Mapping[str, Field]
    body: Field | None
    responses: Mapping[str, Field | None]
    response_headers: frozenset[str]
    errors: frozenset[tuple[str, str]]
    details: frozenset[tuple[str, str, str | None]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Specification:
    """A document; `models` has those that operations use, and the enums that only document strings."""

    operations: Mapping[str, Operation]
    models: Mapping[str, Model]

    def senders(self, model: str) -> list[str]:
        """Return the operations that send a model, in a parameter or a body, sorted."""
        return sorted(
            operation.name
            for operation in self.operations.values()
            if model in self.reach([*operation.parameters.values(), operation.body])
        )

    def returners(self, model: str) -> list[str]:
        """Return the operations that return a model, sorted."""
        return sorted(
            operation.name
            for operation in self.operations.values()
            if model in self.reach(operation.responses.values())
        )

    def reach(self, fields: Iterable[Field | None]) -> set[str]:
        """Return the models that fields refer to, directly or through other models."""
        found: set[str] = set()
        waiting = [field for field in fields if field is not None]
        while waiting:
            for name in waiting.pop().models - found:
                if name in self.models:
                    found.add(name)
                    waiting.extend(self.models[name].fields.values())
        return found
