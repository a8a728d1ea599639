"""The operations of the specification, with the examples of their bodies and responses."""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.support.calls import METHODS
from tests.support.specification import specification
from tools.generation.document import operations

SAMPLES = Path(__file__).resolve().parent / "samples"
SPECIFICATION = specification()


@dataclass(frozen=True, slots=True, kw_only=True)
class Operation:
    """One operation of the specification."""

    name: str
    method: str
    path: str
    success: int
    accept: str
    parameters: tuple[dict[str, Any], ...]
    body: dict[str, Any] | None
    sent: Any
    error: dict[str, Any]
    errors: tuple[tuple[int, str, dict[str, Any]], ...]
    example: Any
    response: dict[str, Any]

    @property
    def held(self) -> str | None:
        """The property of the response that holds the result; None if the response itself is the result."""
        return None if self.response.get("x-exported", True) else next(iter(self.response["properties"]))

    @property
    def seen(self) -> Path:
        """The file of an observed success that goes beyond the specification."""
        return SAMPLES / f"{self.name}.{self.success}.seen.json"

    def sample(self, *, seen: bool = False) -> Any:
        """Return a success of the specification, or an observed one. Its secrets begin with `planted-`."""
        text = self.seen.read_text(encoding="utf-8") if seen else json.dumps(self.example)
        return json.loads(text.replace('"example-', '"planted-'))


def schema_of(response: Mapping[str, Any]) -> dict[str, Any]:
    """Return the schema of a response; empty without a body."""
    media: dict[str, Any] = next(iter(followed(response).get("content", {}).values()), {})
    return followed(media.get("schema", {}))


def example_of(response: Mapping[str, Any]) -> Any:
    """Return the first example of a response; None without one."""
    media: dict[str, Any] = next(iter(followed(response).get("content", {}).values()), {})
    return next((example["value"] for example in media.get("examples", {}).values()), None)


def followed(node: Mapping[str, Any]) -> dict[str, Any]:
    """Resolve a reference of the specification, and add the properties beside it."""
    if "$ref" not in node:
        return dict(node)
    found: dict[str, Any] = SPECIFICATION
    for step in node["$ref"].removeprefix("#/").split("/"):
        found = found[step]
    return followed(found) | {key: value for key, value in node.items() if key != "$ref"}


def _operations() -> Iterator[Operation]:
    for path, method, operation, parameters in operations(SPECIFICATION):
        responses = operation["responses"].items()
        success = next(status for status in operation["responses"] if int(status) < 300)
        yield Operation(
            name=operation["operationId"],
            method=method.upper(),
            path=path,
            success=int(success),
            accept=operation.get("x-accept") or next(iter(operation["responses"][success]["content"])),
            parameters=tuple(map(dict, parameters)),
            body=operation.get("requestBody", {"content": {}})["content"].get("application/json", {}).get("schema"),
            sent=example_of(operation.get("requestBody", {})),
            error=operation.get("x-error", {}),
            example=example_of(operation["responses"][success]),
            response=schema_of(operation["responses"][success]),
            errors=tuple(
                (int(status), name, example["value"])
                for status, response in responses
                if int(status) >= 300
                for name, example in followed(response)["content"]["application/json"]["examples"].items()
            ),
        )


#: The operations that the wrapper has a method for.
OPERATIONS = {operation.name: operation for operation in _operations() if operation.name in METHODS}


def argument_of(node: Mapping[str, Any], name: str) -> str:
    """Return the keyword of a parameter or a property: `itwin_id` for `iTwinId`, or the one of `x-argument`."""
    words = str(node.get("x-argument", name)).lstrip("$").replace("iTwin", "itwin")
    return re.sub(r"-|(?<=[a-z0-9])(?=[A-Z])", "_", words).lower()


def wire_of(name: str, argument: str) -> str:
    """Return the name of a query parameter or a header of an operation, by its keyword."""
    return next(
        str(each["name"]) for each in OPERATIONS[name].parameters if argument_of(each, each["name"]) == argument
    )


def nullable(name: str) -> list[str]:
    """Return the properties of the body of an operation that can be null."""
    properties = followed(OPERATIONS[name].body or {})["properties"]
    return [wire for wire, schema in properties.items() if "null" in followed(schema).get("type", ())]
