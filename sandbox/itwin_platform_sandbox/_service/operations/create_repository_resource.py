"""Create repository resource. Source: section 4.2."""

import copy
from urllib.parse import quote

from ..body import read_object
from ..errors import Detail, ErrorResponse
from ..json_values import JSON, JSONObject
from ..messages import OperationRequest, ServiceResponse
from ..state import Platform, StoredRepository
from .repository_access import INVALID, modifiable_repository

LONGEST_TEXT = {"id": 200, "type": 100, "displayName": 200}
REQUIRED = ("id", "displayName")


def create_repository_resource(platform: Platform, request: OperationRequest) -> ServiceResponse:
    """Store the resource in the repository and return it. Source: section 4.2."""
    repository = modifiable_repository(platform, request)
    body = read_object(request, INVALID)
    INVALID.reject_any(_problems(repository, body))
    for resource in repository.resources.values():
        if resource["id"] == body["id"] or resource["displayName"] == body["displayName"]:
            message = "A resource with the same id or display name exists in the repository."
            raise ErrorResponse(409, "iTwinRepositoryResourceExists", message)
    resource = _resource(repository, body)
    repository.resources[str(resource["id"])] = resource
    return ServiceResponse(201, {"resource": copy.deepcopy(resource)})


def _problems(repository: StoredRepository, body: JSONObject) -> list[Detail]:
    found = []
    if repository.content["class"] != "GeographicInformationSystem":
        message = f"Resources cannot be added to a repository of class {repository.content['class']}."
        found.append(Detail("InvalidValue", "class", message))
    for name, longest in LONGEST_TEXT.items():
        if name in body or name in REQUIRED:
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
