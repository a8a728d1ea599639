"""Finding a repository that the caller may change. Source: sections 4.1, 4.2 and 5."""

from itwin_platform_sandbox._credentials import ITWINS_MODIFY
from itwin_platform_sandbox._exchange import OperationRequest
from itwin_platform_sandbox._refusal import InvalidRequest, Refusal, insufficient_permissions
from itwin_platform_sandbox._state import Platform, StoredRepository

INVALID = InvalidRequest(422, "InvalidiTwinsRequest", "The repository request is not valid.")


def modifiable_repository(platform: Platform, request: OperationRequest) -> StoredRepository:
    """The repository that the path names; refuses with 404 when there is none, with 403 without `itwins_modify`."""
    itwin_id = request.path_parameters["iTwinId"].lower()
    repository_id = request.path_parameters["repositoryId"]
    if itwin_id in platform.itwins and not request.caller.has_permission(ITWINS_MODIFY, itwin_id):
        raise insufficient_permissions(f"The caller needs the permission {ITWINS_MODIFY} on the iTwin.")
    repository = platform.repositories.get((itwin_id, repository_id))
    if repository is None:
        raise Refusal(404, "iTwinRepositoryNotFound", "Requested iTwin repository is not available.")
    return repository
