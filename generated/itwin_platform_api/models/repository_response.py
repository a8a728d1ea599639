from __future__ import annotations

from typing import ClassVar

from attrs import define as _attrs_define

from ..kinds import ModelKind, Table
from ..methods import make_when_read
from ..schemas import JSONModel


@_attrs_define(repr=False)
class RepositoryResponse(JSONModel):
    """Response of update repository.

    Attributes:
        repository: A repository of an iTwin (`iTwin-repository`): an external or internal data source attached
            to it. Which repositories can be updated is a matter of class and subclass: -
            GeographicInformationSystem: WebMapService, WebMapTileService, WebFeatureService, ArcGIS, UrlTemplate,
            OgcApiFeatures - Construction: Performance - Subsurface: EvoWorkspace
        additional_properties: the fields that the specification does not name.
    """

    repository: Repository
    """A repository of an iTwin (`iTwin-repository`): an external or internal data source attached to
    it. Which repositories can be updated is a matter of class and subclass:

    - GeographicInformationSystem: WebMapService, WebMapTileService, WebFeatureService, ArcGIS,
      UrlTemplate, OgcApiFeatures
    - Construction: Performance
    - Subsurface: EvoWorkspace"""

    FIELDS: ClassVar[Table] = {
        "repository": ("repository", ModelKind("Repository")),
    }


# Below the class, because models may refer to each other.
from ..models.repository import Repository  # noqa: E402

make_when_read(RepositoryResponse, "repository")
