from enum import StrEnum
from typing import Self

from ..decoding import open_member


class ErrorCode(StrEnum):
    """The documented codes of errors. `ErrorBody.code` is a String that holds one of them."""

    HEADER_NOT_FOUND = "HeaderNotFound"
    INSUFFICIENT_PERMISSIONS = "InsufficientPermissions"
    INVALID_ITWINS_REQUEST = "InvalidiTwinsRequest"
    INVALID_REALITY_ANALYSIS_REQUEST = "InvalidRealityAnalysisRequest"
    INVALID_SCENES_REQUEST = "InvalidScenesRequest"
    INVALID_UPDATE_WEBHOOK_REQUEST = "InvalidUpdateWebhookRequest"
    ITWIN_REPOSITORY_EXISTS = "iTwinRepositoryExists"
    ITWIN_REPOSITORY_NOT_FOUND = "iTwinRepositoryNotFound"
    ITWIN_REPOSITORY_RESOURCE_EXISTS = "iTwinRepositoryResourceExists"
    RATE_LIMIT_EXCEEDED = "RateLimitExceeded"
    REQUEST_TOO_LARGE = "RequestTooLarge"
    RESOURCE_NOT_FOUND = "ResourceNotFound"
    SCENE_EXISTS = "SceneExists"
    SCENE_NOT_FOUND = "SceneNotFound"
    SCENE_OBJECT_NOT_FOUND = "SceneObjectNotFound"
    WEBHOOK_NOT_FOUND = "WebhookNotFound"

    @classmethod
    def _missing_(cls, value: object) -> Self | None:
        return open_member(cls, value)

    def __reduce_ex__(self, proto: object) -> tuple[type[Self], tuple[str]]:
        return type(self), (self.value,)  # before 3.11.4 copying looks up the name, which fails for an unknown member
