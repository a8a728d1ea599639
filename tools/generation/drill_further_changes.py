"""More changes of the regeneration drill: rules of the sandbox, and changes that only spec-diff reports."""

import copy
from collections.abc import Callable

from tools.generation.drill_changes import Document, operation, schema


def null_in_response(document: Document) -> None:
    """The name of an iTwin can be null."""
    schema(document, "ITwinSummary")["properties"]["displayName"]["type"] = ["string", "null"]


def null_in_request(document: Document) -> None:
    """The description of a scene can be null."""
    schema(document, "SceneCreate")["properties"]["description"]["type"] = ["string", "null"]


def other_default(document: Document) -> None:
    """A page of iTwins holds 50 by default."""
    document["components"]["parameters"]["ITwinsTop"]["schema"]["x-default"] = 50


def other_maximum(document: Document) -> None:
    """A page of iTwins holds 500 at most."""
    document["components"]["parameters"]["ITwinsTop"]["schema"]["maximum"] = 500


def smaller_body(document: Document) -> None:
    """The body of a scene has 1 MiB at most."""
    operation(document, "/scenes/", "post")["requestBody"]["x-max-body-bytes"] = 2**20


def removed_choice(document: Document) -> None:
    """A type of authentication is gone."""
    schema(document, "StoredRepositoryAuthentication")["oneOf"].pop(0)


def renamed_header(document: Document) -> None:
    """X-Max-Return has another name."""
    document["components"]["parameters"]["MaxReturn"]["name"] = "X-Limit"


def renamed_response_header(document: Document) -> None:
    """The echoed X-Max-Return has another name."""
    headers = operation(document, "/itwins/", "get")["responses"]["200"]["headers"]
    headers["X-Limit"] = headers.pop("X-Max-Return")


def renamed_value(document: Document) -> None:
    """A type of detector has another name."""
    schema(document, "DetectorType")["enum"][0] = "ImageObjectDetector"


def optional_property(document: Document) -> None:
    """A detector needs no name."""
    schema(document, "DetectorCreate")["required"].remove("name")


def required_property(document: Document) -> None:
    """A detector needs a description."""
    schema(document, "DetectorCreate")["required"].append("description")


def new_query_parameter(document: Document) -> None:
    """The iTwins can be listed by region."""
    parameter = {"name": "region", "in": "query", "schema": {"type": "string"}}
    operation(document, "/itwins/", "get")["parameters"].append(parameter)


def parameter_elsewhere(document: Document) -> None:
    """The iTwin of a scene is sent in a header."""
    document["components"]["parameters"]["SceneITwinId"]["in"] = "header"


def other_example(document: Document) -> None:
    """An example has another value."""
    content = operation(document, "/scenes/", "post")["requestBody"]["content"]["application/json"]
    next(iter(content["examples"].values()))["value"]["displayName"] = "Other"


def second_server(document: Document) -> None:
    """There is a second server."""
    document["servers"].append({"url": "https://eu.base-url.invalid"})


def second_success(document: Document) -> None:
    """Creating a resource can respond with 202."""
    path = "/itwins/{iTwinId}/repositories/{repositoryId}/resources"
    responses = operation(document, path, "post")["responses"]
    responses["202"] = copy.deepcopy(responses["201"])


def new_error(document: Document) -> None:
    """Listing iTwins can respond with 403, and there is another code."""
    responses = operation(document, "/itwins/", "get")["responses"]
    responses["403"] = {"$ref": "#/components/responses/InsufficientPermissions"}
    schema(document, "ErrorCode")["enum"].append("QuotaExceeded")
    schema(document, "ErrorCode")["x-enum-varnames"].append("QUOTA_EXCEEDED")


def shown_secret(document: Document) -> None:
    """The secret of a webhook is not marked."""
    del schema(document, "WebhookUpdate")["properties"]["secret"]["x-secret"]


def other_pattern(document: Document) -> None:
    """A UUID has another form."""
    schema(document, "Uuid")["pattern"] = "^[0-9a-f]{32}$"


FURTHER: tuple[Callable[[Document], None], ...] = (
    null_in_response,
    null_in_request,
    other_default,
    other_maximum,
    smaller_body,
    removed_choice,
    renamed_header,
    renamed_response_header,
    renamed_value,
    optional_property,
    required_property,
    new_query_parameter,
    parameter_elsewhere,
    other_example,
    second_server,
    second_success,
    new_error,
    shown_secret,
    other_pattern,
)
