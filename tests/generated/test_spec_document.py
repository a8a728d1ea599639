"""openapi.yaml transcribes the service description: valid, sourced, with its errors, notes, words and names."""

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import pytest
from openapi_schema_validator import OAS31Validator

from tests.support.specification import specification
from tools.generation.accept import accepted
from tools.generation.document import SPECIFICATION, nodes, operations, resolve

DOCUMENT: dict[str, Any] = specification()
COMPONENTS: dict[str, Any] = DOCUMENT["components"]
SCHEMAS: dict[str, Any] = COMPONENTS["schemas"]
#: The operations by operationId, references to parameters and responses followed.
OPERATIONS: dict[str, dict[str, Any]] = {
    operation["operationId"]: {
        **operation,
        "parameters": {(parameter["in"], parameter["name"]): parameter for parameter in parameters},
        "responses": {status: resolve(DOCUMENT, response) for status, response in operation["responses"].items()},
    }
    for _, _, operation, parameters in operations(DOCUMENT)
}
BODIES = [operation["requestBody"] for operation in OPERATIONS.values() if "requestBody" in operation]
RESPONSES = [
    (name, status, response) for name, each in OPERATIONS.items() for status, response in each["responses"].items()
]
PARAMETERS = [(name, *place, node) for name, each in OPERATIONS.items() for place, node in each["parameters"].items()]
EACH_OPERATION = pytest.mark.parametrize("name", OPERATIONS)
SECTIONS = {
    *map(str, range(1, 10)),
    *(f"2.{number}" for number in range(1, 12)),
    *(f"4.{number}" for number in range(1, len(OPERATIONS) + 1)),
}
SOURCE = re.compile(r"^Source: (?:introduction and )?sections? (\d[\d., ]*)$")


def words(node: Mapping[str, Any]) -> str:
    """A description in one line."""
    return " ".join(node["description"].split())


def parts() -> Iterator[tuple[str, Any]]:
    """Everything that names its source."""
    yield from (("info", DOCUMENT["info"]), ("server", DOCUMENT["servers"][0]))
    yield from ((f"tag {tag['name']}", tag) for tag in DOCUMENT["tags"])
    yield from ((f"{kind} {name}", part) for kind, named in COMPONENTS.items() for name, part in named.items())
    yield from OPERATIONS.items()
    yield from (("body", body) for body in BODIES)
    yield from ((f"{name} {status}", response) for name, status, response in RESPONSES)


def sections(node: Mapping[str, Any]) -> set[str]:
    """The sections that a part names in the end."""
    match = SOURCE.match(node.get("description", "").rpartition("\n")[2])
    return set(match[1].split(", ")) if match else {"unsourced"}


def test_every_part_names_its_section() -> None:
    """Every part ends by naming an existing section, and every section is the source of some part."""
    assert [name for name, node in parts() if not sections(node) <= SECTIONS] == []
    assert set().union(*(sections(node) for _, node in parts())) == SECTIONS


def test_an_operation_names_its_own_section() -> None:
    """An operation and its success name the subsection of section 4 that describes it, in the order of the document."""
    for number, operation in enumerate(OPERATIONS.values(), 1):
        success = next(response for status, response in operation["responses"].items() if status.startswith("2"))
        assert f"4.{number}" in sections(operation) & sections(success)


def test_the_server_is_a_variable_and_bearer_the_only_security_scheme() -> None:
    """The default of `base_url` names no host that could exist; an operation requires the token, scopes in words."""
    (server,) = DOCUMENT["servers"]
    assert server["url"] == "{base_url}"
    assert server["variables"]["base_url"]["default"].endswith(".invalid")
    assert {name: scheme["scheme"] for name, scheme in COMPONENTS["securitySchemes"].items()} == {"bearer": "bearer"}
    for operation in OPERATIONS.values():
        ((scheme, scopes),) = operation["security"][0].items()
        assert (scheme, scopes[0]) == ("bearer", "itwin-platform")
        assert [scope for scope in scopes if f"`{scope}`" not in words(operation)] == []


def test_every_body_has_examples_that_fit() -> None:
    """Every request and every response shows at least one example, and each is valid against its schema."""
    for node in (*BODIES, *(response for *_, response in RESPONSES)):
        for media in node["content"].values():
            schema = {**media["schema"], "components": COMPONENTS}
            validator = OAS31Validator(schema, format_checker=OAS31Validator.FORMAT_CHECKER)
            assert media["examples"]
            for example in media["examples"].values():
                assert [error.message for error in validator.iter_errors(example["value"])] == []


def test_every_component_is_used_or_documents_an_open_text() -> None:
    """No component is left over: the unreferenced ones are those that document an open String."""
    every = [node for _, node in nodes(DOCUMENT)]
    used = {str(node["$ref"]).rpartition("/")[2] for node in every if "$ref" in node}
    used |= {name for node in every for name in (*node.get("x-kinds", {}).values(), node.get("x-names"))}
    used |= {node["x-values"] for node in every if "x-values" in node}
    defined = {name for kind, named in COMPONENTS.items() if kind != "securitySchemes" for name in named}
    assert defined - used == {"ErrorCode", "ErrorDetailCode"}


def test_every_field_beyond_openapi_is_explained() -> None:
    """The comment at the top explains exactly the fields that the document has."""
    explained = set(re.findall(r"^# (x-[a-z-]+)  ", SPECIFICATION.read_text(encoding="utf-8"), re.MULTILINE))
    headers = {"x-max-return", "x-correlation-id"}
    assert {key for _, node in nodes(DOCUMENT) for key in node if str(key).startswith("x-")} - headers == explained


def test_bodies_and_tags_are_named_as_generators_need_them() -> None:
    """A body is required and has a component, which names a class; the one tag is declared, and names a folder."""
    assert BODIES
    for body in BODIES:
        ((kind, media),) = body["content"].items()
        assert (body["required"], kind, list(media["schema"])) == (True, "application/json", ["$ref"])
    tags = [operation["tags"] for operation in OPERATIONS.values()]
    assert {len(each) for each in tags} == {1}
    assert {tag.lower() for each in tags for tag in each} == {tag["name"] for tag in DOCUMENT["tags"]}


@EACH_OPERATION
def test_a_preview_is_marked_the_same_way_everywhere(name: str) -> None:
    """The mark and the sentence go together, and the sentence is always the same."""
    description, preview = OPERATIONS[name]["description"], OPERATIONS[name].get("x-technical-preview") is True
    sentence = "Technical Preview: for testing only, not for production use; may change."
    assert (description.partition("\n")[0] == sentence) is preview
    assert description.count("Technical Preview") == int(preview)


def test_a_success_declares_the_vendor_media_type() -> None:
    """A success declares the media type that is sent as Accept, and plain JSON with the same content."""
    asked = {node["operationId"]: accepted(DOCUMENT, node) for _, _, node, _ in operations(DOCUMENT)}
    successes = {name: response for name, status, response in RESPONSES if status.startswith("2")}
    assert successes.keys() == asked.keys()
    for name, success in successes.items():
        (vendor, media), plain = success["content"].items()
        assert vendor.replace(".vendor.", ".{vendor}.", 1) == asked[name]
        assert plain == ("application/json", media)


def test_exclusive_parameters_say_so() -> None:
    """Of two parameters that exclude each other both say so, and their operation gathers all."""
    said = {(name, parameter): words(node) for name, _, parameter, node in PARAMETERS}
    pairs = [(name, one, other) for name, _, one, node in PARAMETERS for other in node.get("x-excludes", ())]
    assert pairs
    for name, one, other in pairs:
        assert f"`{other}`" in said[name, one].partition("Cannot be combined with ")[2]
        assert f"`{one}`" in said[name, other].partition("Cannot be combined with ")[2]
        assert f"`{other}`" in words(OPERATIONS[name]).partition(f"`{one}` cannot be combined with ")[2]


def examples_of(response: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The errors that a response shows."""
    return [example["value"]["error"] for example in response["content"]["application/json"]["examples"].values()]


def details_of(errors: Iterable[Mapping[str, Any]]) -> list[tuple[str, str | None]]:
    """The code and the target of each detail that errors show."""
    return [(detail["code"], detail["target"]) for error in errors for detail in error.get("details", [])]


@EACH_OPERATION
def test_an_operation_shows_its_errors(name: str) -> None:
    """Each status shows its code, in words and examples, and each detail once, in exactly the body of section 2.11.

    401 and 429 are among them everywhere.
    """
    responses = {status: each for status, each in OPERATIONS[name]["responses"].items() if status >= "400"}
    assert {"401", "429"} <= responses.keys()
    for response in responses.values():
        errors = examples_of(response)
        (code,) = {error["code"] for error in errors}
        assert f"`{code}`" in response["description"]
        assert len(shown := details_of(errors)) == len(set(shown))
        content = {kind: media["schema"] for kind, media in response["content"].items()}
        assert content == {"application/json": {"$ref": "#/components/schemas/ErrorResponse"}}
        for error in errors:
            assert set(error) - {"details"} == set(SCHEMAS["ErrorBody"]["required"])
            assert all(set(detail) == set(SCHEMAS["ErrorDetail"]["required"]) for detail in error.get("details", []))
            assert error["message"]


def test_headers_of_responses_are_the_documented_ones() -> None:
    """Every 429 carries the header retry-after, a success echoes X-Max-Return, and no other response has any."""
    found = {(name, status): response["headers"] for name, status, response in RESPONSES if "headers" in response}
    wait = {"retry-after": {"$ref": "#/components/headers/RetryAfter"}}
    echo = {"X-Max-Return": {"$ref": "#/components/headers/MaxReturn"}}
    limited = [name for name, _, parameter, _ in PARAMETERS if parameter == "X-Max-Return"]
    assert found == {(name, "429"): wait for name in OPERATIONS} | {(name, "200"): echo for name in limited}
    assert COMPONENTS["headers"]["RetryAfter"]["schema"] == {"type": "integer"}
    assert COMPONENTS["headers"]["MaxReturn"]["schema"] == {"type": "integer", "minimum": 1, "maximum": 10000}


def test_codes_are_those_of_the_examples() -> None:
    """ErrorCode and ErrorDetailCode list exactly the codes that some operation documents."""
    errors = [error for _, status, response in RESPONSES if status >= "400" for error in examples_of(response)]
    assert set(SCHEMAS["ErrorCode"]["enum"]) == {error["code"] for error in errors}
    shown = {detail["code"] for error in errors for detail in error.get("details", [])}
    assert set(SCHEMAS["ErrorDetailCode"]["enum"]) == shown


def rules_of(schema: Mapping[str, Any], place: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """The rules of a schema and of all within it, each with the name of its place."""
    if "$ref" in schema:
        yield from rules_of(resolve(DOCUMENT, schema), place)
    yield place, schema.get("x-error", {})
    for inner in (*schema.get("oneOf", ()), *([schema["items"]] if "items" in schema else [])):
        yield from rules_of(inner, place)
    for name, inner in schema.get("properties", {}).items():
        yield from rules_of(inner, name)


@EACH_OPERATION
def test_an_invalid_request_gets_a_documented_error(name: str) -> None:
    """The error of an operation is one of its responses, and its rules give the details that this shows and no other.

    What can be sent has an error. The limit in bytes of a body is the one rule with another status.
    """
    operation = OPERATIONS[name]
    body = operation.get("requestBody", {})
    assert ("x-error" in body) is ("x-max-body-bytes" in body)
    assert ("x-error" in operation) is bool(operation["parameters"] or body)
    for error in (each["x-error"] for each in (operation, body) if "x-error" in each):
        assert {shown["code"] for shown in examples_of(operation["responses"][str(error["status"])])} == {error["code"]}
    if "x-error" not in operation:
        return
    error = operation["x-error"]
    expected = set(details_of(examples_of(operation["responses"][str(error["status"])])))
    assert error["detail"] in ({detail for detail, _ in expected} or {"InvalidValue"})
    rules = [(place, parameter.get("x-error", {})) for (_, place), parameter in operation["parameters"].items()]
    for media in body.get("content", {}).values():
        rules += rules_of(media["schema"], "")
    given = {(detail, rule.get("target")) for _, rule in rules for key, detail in rule.items() if key != "target"}
    assert given == expected - {("InvalidValue", "$filter")}, "the property of a filter is no rule of the document"
    for place, rule in rules:
        if "target" in rule and rule["target"] is not None:
            assert rule["target"].rpartition(".")[2].lower() in (place.lower(), "x-itwin-create-scope")


def test_read_only_properties_are_named_where_they_must_not_be_sent() -> None:
    """They are properties of the response, and no property of the body."""
    found = {name: schema["x-read-only"] for name, schema in SCHEMAS.items() if "x-read-only" in schema}
    assert found
    for body, names in found.items():
        response = SCHEMAS[body.removesuffix("Update")]["properties"]
        assert set(names) == response.keys() - SCHEMAS[body]["properties"].keys()


#: Their names or schemas say what these hold: the field tables have no note on them.
WITHOUT_NOTE = {
    *("Repository.capabilities", "Resource.capabilities", "ITwinSummary.class", "ITwinSummary.subClass"),
    *("ITwin.class", "ITwin.subClass", "ITwinsResponse.iTwins", "ITwinsResponse._links", "SceneCreate.displayName"),
    *("SceneDataCreate.objects", "SceneObject.data", "SceneObjectMinimal.data", "SceneObjectCreate.data"),
    *("SceneObjectsResponse.objects", "SceneObjectsResponse.sceneContext"),
    *("DetectorCreate.name", "DetectorCreate.type"),
    *("PagingLinks.self", "PagingLink.href", "ErrorBody.message", "ErrorBody.target"),
    *("ErrorDetail.message", "ErrorDetail.target", "RepositoryResponse.repository", "ResourceResponse.resource"),
    *("PrimaryAccountResponse.iTwin", "SceneResponse.scene", "DetectorResponse.detector", "ErrorResponse.error"),
}


def test_a_field_carries_its_note() -> None:
    """A new field has a description, unless its name or its schema says all; what is required is a field."""
    fields = {
        f"{name}.{field}": node for name, each in SCHEMAS.items() for field, node in each.get("properties", {}).items()
    }
    assert {name for name, node in fields.items() if not node.get("description")} <= WITHOUT_NOTE
    assert {f"{name}.{field}" for name, each in SCHEMAS.items() for field in each.get("required", ())} <= fields.keys()


def test_what_is_not_shown_takes_anything() -> None:
    """An object whose content is not shown takes any property; a scene object's data has a schema for known kinds.

    A resource's subclass may be null: its string names its enum, so that no client makes a type that contains itself.
    """
    for name in ("QueryParameters", "SceneObjectData"):
        assert (SCHEMAS[name]["additionalProperties"], "properties" in SCHEMAS[name]) == (True, False)
    for name in ("SceneObject", "SceneObjectMinimal", "SceneObjectCreate"):
        assert SCHEMAS[name]["properties"]["data"] == {"$ref": "#/components/schemas/SceneObjectData"}
    kinds = SCHEMAS["SceneObjectData"]["x-kinds"]
    assert list(kinds) == SCHEMAS["SceneObjectKind"]["enum"]
    assert set(kinds.values()) <= set(SCHEMAS)
    node = SCHEMAS["Resource"]["properties"]["subClass"]
    assert (node["type"], node["x-values"]) == (["string", "null"], "ResourceSubClass")


def test_limits_and_defaults_are_stated_in_words() -> None:
    """Tools check fields; who reads the description finds the limit of a body, and each default, beside them."""
    limited = [body for body in BODIES if "x-max-body-bytes" in body]
    assert limited
    assert [body for body in limited if f"{body['x-max-body-bytes']} bytes" not in words(body)] == []
    stated = [(node["schema"].get("x-default"), words(node)) for *_, node in PARAMETERS]
    stated += [
        (each.get("x-default"), each.get("description", ""))
        for schema in SCHEMAS.values()
        for each in schema.get("properties", {}).values()
    ]
    defaults = [(str(default).lower(), text.lower()) for default, text in stated if default is not None]
    assert defaults
    assert [text for default, text in defaults if default not in text] == []
    assert SCHEMAS["QueryScope"]["x-default"] == "MemberOfiTwin"


@pytest.mark.parametrize(
    ("name", "text", "matches"),
    [
        ("Uuid", "8c0db4f6-1b0a-4b6f-9d4e-2f0a5c3b7e11", True),
        ("Uuid", "8C0DB4F6-1B0A-4B6F-9D4E-2F0A5C3B7E11", True),
        ("Uuid", "6a2d2381-6c57-9332-387a-5b7c00000000", True),
        ("Uuid", "8c0db4f61b0a4b6f9d4e2f0a5c3b7e11", False),
        ("Uuid", "{8c0db4f6-1b0a-4b6f-9d4e-2f0a5c3b7e11}", False),
        ("Uuid", "8c0db4f6-1b0a-4b6f-9d4e-2f0a5c3b7e1g", False),
        ("Uuid", "", False),
        ("Semver", "1.0.0", True),
        ("Semver", "1.12.3-beta.1+build.5", True),
        ("Semver", "1.0", False),
        ("Semver", "v1.0.0", False),
        ("Semver", "01.0.0", False),
    ],
)
def test_string_form(name: str, text: str, matches: bool) -> None:
    """A Uuid is a UUID string of any version, and a Semver a semantic version."""
    assert (SCHEMAS[name]["type"], "format" in SCHEMAS[name]) == ("string", False)
    assert bool(re.search(SCHEMAS[name]["pattern"], text)) is matches


def test_member_names_read_as_their_values() -> None:
    """Each value has a member name: the words of the value in upper case, joined by underscores."""
    enums = [schema for schema in SCHEMAS.values() if "enum" in schema]
    assert enums
    for value, member in (pair for each in enums for pair in zip(each["enum"], each["x-enum-varnames"], strict=True)):
        assert re.fullmatch(r"[A-Z][A-Z0-9]*(_[A-Z0-9]+)*", member)
        assert member.replace("_", "") == re.sub(r"[^A-Z0-9]", "", str(value).upper())


@pytest.mark.parametrize(
    ("name", "value", "member"),
    [
        ("RepositoryClass", "GeographicInformationSystem", "GEOGRAPHIC_INFORMATION_SYSTEM"),
        ("RepositoryClass", "iModels", "IMODELS"),
        ("RepositorySubClass", "ArcGIS", "ARCGIS"),
        ("RepositorySubClass", "OgcApiFeatures", "OGC_API_FEATURES"),
        ("DataCenterLocation", "East US", "EAST_US"),
        ("QueryScope", "MemberOfiTwin", "MEMBER_OF_ITWIN"),
        ("EventType", "iModels.iModelDeleted.v1", "IMODELS_IMODEL_DELETED_V1"),
        ("EventType", "iTwins.iTwinCreated.v1", "ITWINS_ITWIN_CREATED_V1"),
        ("ErrorCode", "HeaderNotFound", "HEADER_NOT_FOUND"),
        ("ErrorCode", "InvalidiTwinsRequest", "INVALID_ITWINS_REQUEST"),
        ("ErrorCode", "iTwinRepositoryNotFound", "ITWIN_REPOSITORY_NOT_FOUND"),
    ],
)
def test_a_member_name_is_split_into_words(name: str, value: str, member: str) -> None:
    """Product names stay one word in a member name; every other word stands alone."""
    assert (value, member) in zip(SCHEMAS[name]["enum"], SCHEMAS[name]["x-enum-varnames"], strict=True)


#: What the descriptions say of permissions, of what is inferred, and of what is not documented.
WORDS = (
    *("`itwins_modify`", "Organization Administrators have it", "Any authenticated user"),
    "only `subClass` may accompany it.",
    "`X-iTwin-Query-Scope: OrganizationAdmin` is for organization administrators",
    "When `$select` is given, the Prefer header is ignored.",
    "Permission required for scene operations: not documented",
    "Permission required for detector creation: not documented",
    "the permission `webhooks_maintainer` on the iTwin",
    *("only by Service Applications", "Organization Administrator of the owning organization"),
    *("Every operation requires the header Accept", "Inferred: a property that is `required` in a response"),
    "may also come as `application/json`",
    *("Header `Authorization` (required on every operation)", "valid Bearer access token; scope `itwin-platform`"),
    "Account Administrator, Co-Administrator, or a services administrator role",
    "manage every iTwin that their organization owns",
    "The access token request format and issuance: not documented",
    "is separate from authenticating to the service",
    *("across all pages", "Pages beyond the limit are empty", "Not the same as `$top` (page size)"),
    *("Inferred: a UUID", "Seconds to wait", "Numeric rate limits per tier: not documented"),
    *("Inferred: `version`, `kind` and `data` are required", "Inferred: `self` is always there"),
    *("Inferred: the pattern", "`YYYY-MM-DDTHH:mm:ss.sssZ`"),
)


def test_the_words_are_there() -> None:
    """The descriptions name the permissions, what is inferred, and what is not documented.

    That of the whole is short: other generators copy it into every file.
    """
    every = "\n".join(words(node) for _, node in nodes(DOCUMENT) if isinstance(node.get("description"), str))
    assert [phrase for phrase in WORDS if phrase not in every] == []
    assert len(DOCUMENT["info"]["description"]) < 1000
