"""openapi.yaml transcribes the service description: with its sources, its examples, its errors and its previews."""

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import pytest
from openapi_schema_validator import OAS31Validator

from tests.support.specification import specification
from tools.generation.document import nodes, operations, resolve

DOCUMENT: dict[str, Any] = specification()
COMPONENTS: dict[str, Any] = DOCUMENT["components"]
SCHEMAS: dict[str, Any] = COMPONENTS["schemas"]
#: The operations by operationId, references to parameters and responses followed.
OPERATIONS: dict[str, dict[str, Any]] = {
    operation["operationId"]: {
        **operation,
        "parameters": parameters,
        "responses": {status: resolve(DOCUMENT, response) for status, response in operation["responses"].items()},
    }
    for _, _, operation, parameters in operations(DOCUMENT)
}
BODIES = [operation["requestBody"] for operation in OPERATIONS.values() if "requestBody" in operation]
RESPONSES = [(status, each) for operation in OPERATIONS.values() for status, each in operation["responses"].items()]
SECTIONS = {
    *map(str, range(1, 10)),
    *(f"2.{number}" for number in range(1, 12)),
    *(f"4.{number}" for number in range(1, len(OPERATIONS) + 1)),
}
SOURCE = re.compile(r"^Source: (?:introduction and )?sections? (\d[\d., ]*)$")


def sections(node: Mapping[str, Any]) -> set[str]:
    """The sections that a part names in the end."""
    match = SOURCE.match(node.get("description", "").rpartition("\n")[2])
    return set(match[1].split(", ")) if match else {"unsourced"}


def test_every_part_names_its_section() -> None:
    """Every part ends by naming an existing section, and each operation one of its own."""
    parts = [DOCUMENT["info"], DOCUMENT["servers"][0], *DOCUMENT["tags"], *BODIES]
    parts += [*OPERATIONS.values(), *(response for _, response in RESPONSES)]
    parts += [part for named in COMPONENTS.values() for part in named.values()]
    assert [part for part in parts if not sections(part) <= SECTIONS] == []
    own = [section for each in OPERATIONS.values() for section in sections(each) if section.startswith("4.")]
    assert sorted(own) == sorted(section for section in SECTIONS if section.startswith("4."))


def test_every_body_has_examples_that_fit() -> None:
    """Every request and every response shows at least one example, and each is valid against its schema."""
    for node in (*BODIES, *(response for _, response in RESPONSES)):
        for media in node["content"].values():
            schema = {**media["schema"], "components": COMPONENTS}
            validator = OAS31Validator(schema, format_checker=OAS31Validator.FORMAT_CHECKER)
            assert media["examples"]
            for example in media["examples"].values():
                assert [error.message for error in validator.iter_errors(example["value"])] == []


def examples_of(response: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The errors that a response shows."""
    return [example["value"]["error"] for example in response["content"]["application/json"]["examples"].values()]


def details_of(errors: Iterable[Mapping[str, Any]]) -> set[tuple[str, str | None]]:
    """The code and the target of each detail that errors show."""
    return {(detail["code"], detail["target"]) for error in errors for detail in error.get("details", [])}


def test_codes_are_those_of_the_examples() -> None:
    """ErrorCode and ErrorDetailCode list exactly the codes that some operation documents."""
    errors = [error for status, response in RESPONSES if status >= "400" for error in examples_of(response)]
    assert set(SCHEMAS["ErrorCode"]["enum"]) == {error["code"] for error in errors}
    assert set(SCHEMAS["ErrorDetailCode"]["enum"]) == {code for code, _ in details_of(errors)}


def rules_of(schema: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """The rules of a schema and of all within it."""
    yield schema.get("x-error", {})
    inner = [*schema.get("oneOf", ()), *schema.get("properties", {}).values()]
    inner += [schema["items"]] if "items" in schema else []
    inner += [resolve(DOCUMENT, schema)] if "$ref" in schema else []
    for each in inner:
        yield from rules_of(each)


@pytest.mark.parametrize("name", [name for name, operation in OPERATIONS.items() if "x-error" in operation])
def test_an_invalid_request_gets_a_documented_error(name: str) -> None:
    """The error of an operation is one of its responses, and its rules give the details that this shows and no other.

    The property of a filter is no rule of the document.
    """
    operation = OPERATIONS[name]
    errors = examples_of(operation["responses"][str(operation["x-error"]["status"])])
    assert {error["code"] for error in errors} == {operation["x-error"]["code"]}
    rules = [parameter.get("x-error", {}) for parameter in operation["parameters"]]
    for media in operation.get("requestBody", {}).get("content", {}).values():
        rules += rules_of(media["schema"])
    given = {(detail, rule.get("target")) for rule in rules for key, detail in rule.items() if key != "target"}
    assert given == details_of(errors) - {("InvalidValue", "$filter")}


