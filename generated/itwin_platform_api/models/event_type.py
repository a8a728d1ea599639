from enum import StrEnum
from typing import Literal, Self, TypeAlias

from ..decoding import open_member


class EventType(StrEnum):
    """Event types that a webhook can forward to its `callbackUrl` while `active` is true, in the areas iModels, access
    control, iTwins and jobs. Event types carry a version suffix (`.v1`)."""

    ACCESS_CONTROL_INVITATION_CREATED_V1 = "accessControl.invitationCreated.v1"
    ACCESS_CONTROL_MEMBER_ADDED_V1 = "accessControl.memberAdded.v1"
    ACCESS_CONTROL_MEMBER_REMOVED_V1 = "accessControl.memberRemoved.v1"
    ACCESS_CONTROL_ROLE_ASSIGNED_V1 = "accessControl.roleAssigned.v1"
    ACCESS_CONTROL_ROLE_UNASSIGNED_V1 = "accessControl.roleUnassigned.v1"
    CHANGED_ELEMENTS_JOB_COMPLETED_V1 = "changedElements.jobCompleted.v1"
    IMODELS_CHANGES_READY_V1 = "iModels.changesReady.v1"
    IMODELS_IMODEL_CREATED_V1 = "iModels.iModelCreated.v1"
    IMODELS_IMODEL_DELETED_V1 = "iModels.iModelDeleted.v1"
    IMODELS_NAMED_VERSION_CREATED_V1 = "iModels.namedVersionCreated.v1"
    ITWINS_ITWIN_CREATED_V1 = "iTwins.iTwinCreated.v1"
    ITWINS_ITWIN_DELETED_V1 = "iTwins.iTwinDeleted.v1"
    ITWINS_ITWIN_UPDATED_V1 = "iTwins.iTwinUpdated.v1"
    REALITY_ANALYSIS_JOB_COMPLETED_V1 = "realityAnalysis.jobCompleted.v1"
    REALITY_CONVERSION_JOB_COMPLETED_V1 = "realityConversion.jobCompleted.v1"
    REALITY_MODELING_JOB_COMPLETED_V1 = "realityModeling.jobCompleted.v1"
    SYNCHRONIZATION_JOB_COMPLETED_V1 = "synchronization.jobCompleted.v1"
    TRANSFORMATIONS_JOB_COMPLETED_V1 = "transformations.jobCompleted.v1"

    @classmethod
    def _missing_(cls, value: object) -> Self | None:
        return open_member(cls, value)

    def __reduce_ex__(self, proto: object) -> tuple[type[Self], tuple[str]]:
        return type(self), (self.value,)  # before 3.11.4 copying looks up the name, which fails for an unknown member


#: A member of EventType, its string, or any other string.
EventTypeParam: TypeAlias = (
    EventType
    | Literal[
        "iModels.iModelDeleted.v1",
        "iModels.iModelCreated.v1",
        "iModels.namedVersionCreated.v1",
        "iModels.changesReady.v1",
        "accessControl.memberAdded.v1",
        "accessControl.invitationCreated.v1",
        "accessControl.memberRemoved.v1",
        "accessControl.roleAssigned.v1",
        "accessControl.roleUnassigned.v1",
        "iTwins.iTwinCreated.v1",
        "iTwins.iTwinDeleted.v1",
        "iTwins.iTwinUpdated.v1",
        "synchronization.jobCompleted.v1",
        "transformations.jobCompleted.v1",
        "realityModeling.jobCompleted.v1",
        "realityAnalysis.jobCompleted.v1",
        "realityConversion.jobCompleted.v1",
        "changedElements.jobCompleted.v1",
    ]
    | str
)
