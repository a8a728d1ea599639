"""Update repository and Create repository resource. Source: sections 4.1 and 4.2."""

from dataclasses import replace
from urllib.parse import quote

from .credentials import ITWINS_MODIFY
from .json_values import JSON, JSONObject
from .messages import (
    Detail,
    ErrorResponse,
    InvalidRequest,
    OperationRequest,
    ServiceResponse,
    insufficient_permissions,
    read_object,
)
from .state import Platform, StoredRepository

INVALID = InvalidRequest(422, "InvalidiTwinsRequest", "The repository request is not valid.")


def modifiable_repository(platform: Platform, request: OperationRequest) -> StoredRepository:
    """Return the repository that the path names; raise 404 without one, 403 without `itwins_modify`."""
    itwin_id = request.path_parameters["iTwinId"].lower()
    repository_id = request.path_parameters["repositoryId"]
    if itwin_id in platform.itwins and not request.caller.has_permission(ITWINS_MODIFY, itwin_id):
        raise insufficient_permissions(f"The caller needs the permission {ITWINS_MODIFY} on the iTwin.")
    repository = platform.repositories.get((itwin_id, repository_id))
    if repository is None:
        raise ErrorResponse(404, "iTwinRepositoryNotFound", "Requested iTwin repository is not available.")
    return repository


# Source: section 2.1, "Repositories that can be updated".
UPDATABLE_CLASSES = ("GeographicInformationSystem", "Construction", "Subsurface")
READ_ONLY = ("id", "class", "subClass", "capabilities")
LONGEST_TEXT = {"displayName": 200, "uri": 2000}
# Source: section 2.2. Every property of the object must be sent: section 4.1, rule 5.
AUTHENTICATION_PROPERTIES = {
    "Header": ("key", "value"),
    "QueryParameter": ("key", "value"),
    "Basic": ("username", "password"),
    "OAuth2AuthorizationCodePKCE": ("clientId", "scopes", "authorizationEndpoint", "tokenEndpoint", "redirectUri"),
}
LEVELS = ("minimumLevel", "maximumLevel")


def update_repository(platform: Platform, request: OperationRequest) -> ServiceResponse:
    """Change the fields of the body and return the repository. Source: section 4.1."""
    repository = modifiable_repository(platform, request)
    body = read_object(request, INVALID)
    INVALID.reject_any(_update_problems(repository.content, body))
    if "displayName" in body:
        _check_name_is_free(platform, repository, body["displayName"])
    # A complete object replaces the stored one; nothing is merged (rule 5).
    names = ("displayName", "uri", "authentication", "options")
    changes: JSONObject = {name: body[name] for name in names if name in body}
    changed = replace(repository, content={**repository.content, **changes})
    platform.repositories[repository.itwin_id, str(repository.content["id"])] = changed
    return ServiceResponse(200, {"repository": changed.content})


def _update_problems(content: JSONObject, body: JSONObject) -> list[Detail]:
    found = [_invalid_value(name, f"{name} cannot be changed.") for name in READ_ONLY if name in body]
    if content["class"] not in UPDATABLE_CLASSES:
        found.append(_invalid_value("class", f"Repositories of class {content['class']} cannot be updated."))
    for name, longest in LONGEST_TEXT.items():
        value = body.get(name, "as it was")
        if not isinstance(value, str) or not 0 < len(value) <= longest:
            found.append(_invalid_value(name, f"{name} must be a string of 1 to {longest} characters."))
    if body.get("authentication") is not None:
        found += _authentication_problems(body["authentication"])
    if body.get("options") is not None:
        found += _options_problems(content, body["options"])
    return found


def _authentication_problems(authentication: JSON) -> list[Detail]:
    if not isinstance(authentication, dict):
        return [_invalid_value("authentication", "authentication must be an object or null.")]
    kind = authentication.get("type")
    names = AUTHENTICATION_PROPERTIES.get(kind) if isinstance(kind, str) else None
    if names is None:
        kinds = ", ".join(AUTHENTICATION_PROPERTIES)
        return [_invalid_value("authentication", f"authentication.type must be one of {kinds}.")]
    return [
        _invalid_value(name, f"authentication.{name} is required for type {kind}.")
        for name in names
        if not isinstance(authentication.get(name), str)
    ]


def _options_problems(content: JSONObject, options: JSON) -> list[Detail]:
    if not isinstance(options, dict):
        return [_invalid_value("options", "options must be an object or null.")]
    found = []
    if not isinstance(options.get("queryParameters", {}), dict):
        found.append(_invalid_value("options", "options.queryParameters must be an object."))
    if "queryParameters" in options and content["class"] != "GeographicInformationSystem":
        found.append(_invalid_value("options", "options.queryParameters applies to GIS repositories only."))
    levels = [name for name in LEVELS if name in options]
    if levels and content.get("subClass") != "UrlTemplate":
        found.append(
            _invalid_value("options", f"options.{levels[0]} applies to repositories of subClass UrlTemplate only.")
        )
    for name in levels:
        level = options[name]
        if isinstance(level, bool) or not isinstance(level, int) or not 0 <= level <= 24:
            found.append(_invalid_value(name.lower(), f"options.{name} must be 0 to 24."))
    return found


def _check_name_is_free(platform: Platform, repository: StoredRepository, display_name: JSON) -> None:
    for other in platform.repositories.values():
        if (
            other is not repository
            and other.itwin_id == repository.itwin_id
            and other.content["displayName"] == display_name
        ):
            raise ErrorResponse(409, "iTwinRepositoryExists", "Another repository of the iTwin has the same name.")


def _invalid_value(target: str, message: str) -> Detail:
    return Detail("InvalidValue", target, message)


LONGEST_RESOURCE_TEXT = {"id": 200, "type": 100, "displayName": 200}
REQUIRED_OF_RESOURCES = ("id", "displayName")


def create_repository_resource(platform: Platform, request: OperationRequest) -> ServiceResponse:
    """Store the resource in the repository and return it. Source: section 4.2."""
    repository = modifiable_repository(platform, request)
    body = read_object(request, INVALID)
    INVALID.reject_any(_resource_problems(repository, body))
    for resource in repository.resources.values():
        if resource["id"] == body["id"] or resource["displayName"] == body["displayName"]:
            message = "A resource with the same id or display name exists in the repository."
            raise ErrorResponse(409, "iTwinRepositoryResourceExists", message)
    resource = _resource(repository, body)
    changed = replace(repository, resources={**repository.resources, str(resource["id"]): resource})
    platform.repositories[repository.itwin_id, str(repository.content["id"])] = changed
    return ServiceResponse(201, {"resource": resource})


def _resource_problems(repository: StoredRepository, body: JSONObject) -> list[Detail]:
    found = []
    if repository.content["class"] != "GeographicInformationSystem":
        message = f"Resources cannot be added to a repository of class {repository.content['class']}."
        found.append(Detail("InvalidValue", "class", message))
    for name, longest in LONGEST_RESOURCE_TEXT.items():
        if name in body or name in REQUIRED_OF_RESOURCES:
            found += _text_problems(name, body.get(name), longest)
    return found


def _text_problems(name: str, value: JSON, longest: int) -> list[Detail]:
    if value is None or value == "":
        return [Detail("MissingRequiredProperty", name, f"{name} is missing or empty.")]
    if not isinstance(value, str) or len(value) > longest:
        return [Detail("InvalidValue", name, f"{name} must be a string of at most {longest} characters.")]
    return []


def _resource(repository: StoredRepository, body: JSONObject) -> JSONObject:
    content = repository.content
    resource: JSONObject = {"id": body["id"], "class": content["class"]}
    if "subClass" in content:
        resource["subClass"] = content["subClass"]
    if "type" in body:
        resource["type"] = body["type"]
    resource["displayName"] = body["displayName"]
    graphics = f"{content['uri']}/graphics/{quote(str(body['id']), safe='', errors='replace')}"
    resource["capabilities"] = {"graphics": {"uri": graphics}}
    return resource
