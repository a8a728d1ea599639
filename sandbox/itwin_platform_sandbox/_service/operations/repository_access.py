"""Finds a repository that the caller may change. Source: sections 4.1, 4.2 and 5."""

from ..credentials import ITWINS_MODIFY
from ..errors import ErrorResponse, InvalidRequest, insufficient_permissions
from ..messages import OperationRequest
from ..state import Platform, StoredRepository

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
