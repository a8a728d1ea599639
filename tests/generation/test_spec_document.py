"""The document is valid, names its source in every section, and asks nothing unsafe of the generated client."""

import re
from collections.abc import Iterator
from typing import Any

from openapi_schema_validator import OAS31Validator
from openapi_spec_validator import OpenAPIV31SpecValidator, validate

from tools.generation.document import nodes

SECTIONS = {
    *("1", "2", "3", "4", "5", "6", "7", "8", "9"),
    *(f"2.{number}" for number in range(1, 12)),
    *(f"4.{number}" for number in range(1, 9)),
}
SOURCE = re.compile(r"^Source: (?:introduction and )?sections? (\d[\d., ]*)$")


def test_document_is_valid_openapi_31(document: dict[str, Any]) -> None:
    """The document is valid OpenAPI 3.1."""
    assert document["openapi"] == "3.1.0"
    validate(document, cls=OpenAPIV31SpecValidator)


def test_every_part_names_its_section(document: dict[str, Any], operations: dict[str, Any]) -> None:
    """Every schema, parameter, header, response, request body and operation ends by naming an existing section."""
    unsourced = [name for name, node in _parts(document, operations) if not _sections(node) <= SECTIONS]
    assert unsourced == []


def test_every_section_is_transcribed(document: dict[str, Any], operations: dict[str, Any]) -> None:
    """Every section and subsection of the service description is the source of some part."""
    cited = set().union(*(_sections(node) for _, node in _parts(document, operations)))
    assert cited == SECTIONS


def test_operation_names_its_own_section(operations: dict[str, Any]) -> None:
    """An operation and its success name the subsection of section 4 that describes it, in the order of the document."""
    for number, operation in enumerate(operations.values(), 1):
        success = next(response for status, response in operation["responses"].items() if status.startswith("2"))
        assert f"4.{number}" in _sections(operation) & _sections(success)


def test_nothing_has_a_default(document: dict[str, Any]) -> None:
    """Nothing stands in `default`, so that the generated client sends nothing unasked."""
    components = document["components"]
    assert [name for name, node in components["parameters"].items() if "default" in node["schema"]] == []
    assert [node for _, node in nodes(components["schemas"]) if "default" in node] == []


def test_base_address_is_a_variable(document: dict[str, Any]) -> None:
    """The one server is the variable `base_url`, and its default names no host that could exist."""
    (server,) = document["servers"]
    assert server["url"] == "{base_url}"
    assert server["variables"]["base_url"]["default"].endswith(".invalid")


def test_bearer_is_the_only_security_scheme(document: dict[str, Any], operations: dict[str, Any]) -> None:
    """Every operation requires the bearer token with its scopes, which is the only security scheme."""
    ((name, scheme),) = document["components"]["securitySchemes"].items()
    assert (name, scheme["type"], scheme["scheme"]) == ("bearer", "http", "bearer")
    scopes = {name: operation["security"] for name, operation in operations.items()}
    webhook = [{"bearer": ["itwin-platform", "webhooks:modify"]}]
    assert scopes.pop("update_webhook") == webhook
    assert [name for name, security in scopes.items() if security != [{"bearer": ["itwin-platform"]}]] == []


def test_every_body_has_examples_that_fit(document: dict[str, Any], operations: dict[str, Any]) -> None:
    """Every request and every response shows at least one example, and each is valid against its schema."""
    bodies = [operation["requestBody"] for operation in operations.values() if "requestBody" in operation]
    responses = [response for operation in operations.values() for response in operation["responses"].values()]
    for media in (media for node in (*bodies, *responses) for media in node["content"].values()):
        schema = {**media["schema"], "components": document["components"]}
        validator = OAS31Validator(schema, format_checker=OAS31Validator.FORMAT_CHECKER)
        assert media["examples"]
        for example in media["examples"].values():
            assert [error.message for error in validator.iter_errors(example["value"])] == []


def test_every_component_is_used_or_documents_an_open_text(document: dict[str, Any]) -> None:
    """No component is left over: the unreferenced ones are those that document an open String."""
    referenced = {node["$ref"] for _, node in nodes(document) if "$ref" in node}
    named = [name for _, node in nodes(document) for name in (*node.get("x-kinds", {}).values(), node.get("x-values"))]
    referenced |= {f"#/components/schemas/{name}" for name in named}
    defined = {
        f"#/components/{kind}/{name}"
        for kind, components in document["components"].items()
        if kind != "securitySchemes"
        for name in components
    }
    unreferenced = {reference.rpartition("/")[2] for reference in defined - referenced}
    assert unreferenced == {"ErrorCode", "ErrorDetailCode", "SceneObjectKind"}


def _parts(document: dict[str, Any], operations: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    yield "info", document["info"]
    yield "server", document["servers"][0]
    for tag in document["tags"]:
        yield f"tag {tag['name']}", tag
    for kind, components in document["components"].items():
        for name, component in components.items():
            yield f"{kind} {name}", component
    for operation_id, operation in operations.items():
        yield operation_id, operation
        if "requestBody" in operation:
            yield f"{operation_id} body", operation["requestBody"]
        for status, response in operation["responses"].items():
            yield f"{operation_id} {status}", response


def _sections(node: dict[str, Any]) -> set[str]:
    match = SOURCE.match(node.get("description", "").rpartition("\n")[2])
    return set(match[1].split(", ")) if match else {"unsourced"}
