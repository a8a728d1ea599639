"""Update repository and Create repository resource. Source: sections 4.1 and 4.2."""

from dataclasses import replace
from urllib.parse import quote

from .credentials import ITWINS_MODIFY
from .document import OperationRequest
from .json_values import JSONObject
from .messages import Detail, ErrorResponse, ServiceResponse, insufficient_permissions
from .state import Platform, StoredRepository

GIS = "GeographicInformationSystem"
# Class and subclasses. Source: section 2.1, "Repositories that can be updated".
UPDATABLE = {
    GIS: ("WebMapService", "WebMapTileService", "WebFeatureService", "ArcGIS", "UrlTemplate", "OgcApiFeatures"),
    "Construction": ("Performance",),
    "Subsurface": ("EvoWorkspace",),
}
LEVELS = ("minimumLevel", "maximumLevel")


def update_repository(platform: Platform, request: OperationRequest) -> ServiceResponse:
    """Change the fields of the body and return the repository. Source: section 4.1."""
    repository = _modifiable_repository(platform, request)
    body, details = request.read_body()
    details += _misplaced(request, repository.content, body)
    request.operation.reject_any(details)
    if "displayName" in body:
        _check_name_is_free(platform, repository, body)
    # A complete object replaces the stored one; nothing is merged (rule 5).
    changes = {name: value for name, value in body.items() if name in request.operation.body_schema["properties"]}
    changed = replace(repository, content={**repository.content, **changes})
    platform.repositories[repository.itwin_id, str(repository.content["id"])] = changed
    return request.respond({"repository": changed.content})


def create_repository_resource(platform: Platform, request: OperationRequest) -> ServiceResponse:
    """Store the resource in the repository and return it. Source: section 4.2."""
    repository = _modifiable_repository(platform, request)
    body, details = request.read_body()
    if repository.content["class"] != GIS:
        message = f"Resources cannot be added to a repository of class {repository.content['class']}."
        details.append(request.operation.detail("class", message))
    request.operation.reject_any(details)
    resource = _resource(request, repository.content, body)
    if not platform.store_resource(repository, resource):
        message = "A resource with the same id or display name exists in the repository."
        raise ErrorResponse(409, "iTwinRepositoryResourceExists", message)
    return request.respond({"resource": resource})


def _modifiable_repository(platform: Platform, request: OperationRequest) -> StoredRepository:
    """Return the repository that the path names; raise 404 without one, 403 without `itwins_modify`."""
    itwin_id = request.path_parameters["iTwinId"].lower()
    repository_id = request.path_parameters["repositoryId"]
    if itwin_id in platform.itwins and not request.caller.has_permission(ITWINS_MODIFY, itwin_id):
        raise insufficient_permissions(f"The caller needs the permission {ITWINS_MODIFY} on the iTwin.")
    repository = platform.repositories.get((itwin_id, repository_id))
    if repository is None:
        raise ErrorResponse(404, "iTwinRepositoryNotFound", "Requested iTwin repository is not available.")
    return repository


def _misplaced(request: OperationRequest, content: JSONObject, body: JSONObject) -> list[Detail]:
    """Return a detail for each field that this class or subclass does not allow. Source: sections 2.1 and 2.3."""
    detail = request.operation.detail
    found = []
    if content["class"] not in UPDATABLE:
        message = f"Repositories of class {content['class']} cannot be updated."
        found.append(detail("class", message))
    options = body.get("options")
    named = options.keys() if isinstance(options, dict) else ()
    if "queryParameters" in named and content["class"] != GIS:
        message = "options.queryParameters applies to GIS repositories only."
        found.append(detail("options", message))
    levels = [name for name in LEVELS if name in named]
    if levels and content.get("subClass") != "UrlTemplate":
        message = f"options.{levels[0]} applies to repositories of subClass UrlTemplate only."
        found.append(detail("options", message))
    return found


def _check_name_is_free(platform: Platform, repository: StoredRepository, body: JSONObject) -> None:
    for other in platform.repositories.values():
        is_neighbor = other is not repository and other.itwin_id == repository.itwin_id
        if is_neighbor and other.content["displayName"] == body["displayName"]:
            raise ErrorResponse(409, "iTwinRepositoryExists", "Another repository of the iTwin has the same name.")


def _resource(request: OperationRequest, repository: JSONObject, body: JSONObject) -> JSONObject:
    resource: JSONObject = {"id": body["id"], "class": repository["class"]}
    if "subClass" in repository:
        resource["subClass"] = repository["subClass"]
    names = request.operation.body_schema["properties"]
    resource.update({name: body[name] for name in names if name in body and name != "id"})
    graphics = f"{repository['uri']}/graphics/{quote(str(body['id']), safe='', errors='replace')}"
    resource["capabilities"] = {"graphics": {"uri": graphics}}
    return resource
