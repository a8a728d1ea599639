"""Update repository. Source: section 4.1."""

import copy

from ..body import read_object
from ..errors import Detail, ErrorResponse
from ..json_values import JSON, JSONObject
from ..messages import OperationRequest, ServiceResponse
from ..state import Platform, StoredRepository
from .repository_access import INVALID, modifiable_repository

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
    INVALID.reject_any(_problems(repository.content, body))
    if "displayName" in body:
        _check_name_is_free(platform, repository, body["displayName"])
    for name in ("displayName", "uri", "authentication", "options"):
        if name in body:
            # A complete object replaces the stored one; nothing is merged (rule 5).
            repository.content[name] = body[name]
    return ServiceResponse(200, {"repository": copy.deepcopy(repository.content)})


def _problems(content: JSONObject, body: JSONObject) -> list[Detail]:
    found = [_invalid(name, f"{name} cannot be changed.") for name in READ_ONLY if name in body]
    if content["class"] not in UPDATABLE_CLASSES:
        found.append(_invalid("class", f"Repositories of class {content['class']} cannot be updated."))
    for name, longest in LONGEST_TEXT.items():
        value = body.get(name, "as it was")
        if not isinstance(value, str) or not 0 < len(value) <= longest:
            found.append(_invalid(name, f"{name} must be a string of 1 to {longest} characters."))
    if body.get("authentication") is not None:
        found += _authentication_problems(body["authentication"])
    if body.get("options") is not None:
        found += _options_problems(content, body["options"])
    return found


def _authentication_problems(authentication: JSON) -> list[Detail]:
    if not isinstance(authentication, dict):
        return [_invalid("authentication", "authentication must be an object or null.")]
    kind = authentication.get("type")
    names = AUTHENTICATION_PROPERTIES.get(kind) if isinstance(kind, str) else None
    if names is None:
        kinds = ", ".join(AUTHENTICATION_PROPERTIES)
        return [_invalid("authentication", f"authentication.type must be one of {kinds}.")]
    return [
        _invalid(name, f"authentication.{name} is required for type {kind}.")
        for name in names
        if not isinstance(authentication.get(name), str)
    ]


def _options_problems(content: JSONObject, options: JSON) -> list[Detail]:
    if not isinstance(options, dict):
        return [_invalid("options", "options must be an object or null.")]
    found = []
    if not isinstance(options.get("queryParameters", {}), dict):
        found.append(_invalid("options", "options.queryParameters must be an object."))
    if "queryParameters" in options and content["class"] != "GeographicInformationSystem":
        found.append(_invalid("options", "options.queryParameters applies to GIS repositories only."))
    levels = [name for name in LEVELS if name in options]
    if levels and content.get("subClass") != "UrlTemplate":
        found.append(_invalid("options", f"options.{levels[0]} applies to repositories of subClass UrlTemplate only."))
    for name in levels:
        level = options[name]
        if isinstance(level, bool) or not isinstance(level, int) or not 0 <= level <= 24:
            found.append(_invalid(name.lower(), f"options.{name} must be 0 to 24."))
    return found


def _check_name_is_free(platform: Platform, repository: StoredRepository, display_name: JSON) -> None:
    for other in platform.repositories.values():
        if (
            other is not repository
            and other.itwin_id == repository.itwin_id
            and other.content["displayName"] == display_name
        ):
            raise ErrorResponse(409, "iTwinRepositoryExists", "Another repository of the iTwin has the same name.")


def _invalid(target: str, message: str) -> Detail:
    return Detail("InvalidValue", target, message)
