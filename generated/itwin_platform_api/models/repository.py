from __future__ import annotations

from typing import ClassVar

from attrs import define as _attrs_define

from ..kinds import STRING, EnumKind, ModelKind, OneOfKind, Table
from ..methods import make_when_read
from ..models.repository_class import RepositoryClass
from ..models.repository_sub_class import RepositorySubClass
from ..schemas import JSONModel
from ..unset import UNSET, Unset


@_attrs_define(repr=False)
class Repository(JSONModel):
    """A repository of an iTwin (`iTwin-repository`): an external or internal data source attached to
    it. Which repositories can be updated is a matter of class and subclass:

    - GeographicInformationSystem: WebMapService, WebMapTileService, WebFeatureService, ArcGIS,
      UrlTemplate, OgcApiFeatures
    - Construction: Performance
    - Subsurface: EvoWorkspace

    Attributes:
        id: Repository id. Cannot be changed.
        class_: Cannot be changed.
        sub_class: Cannot be changed.
        display_name: Name shown to users. Max 200 characters. Cannot be null or empty.
        uri: Address of the repository. Max 2000 characters. Cannot be null or empty.
        capabilities: Capabilities of a repository.
        authentication: Optional. May be null.
        options: Optional. May be null.
        additional_properties: the fields that the specification does not name.
    """

    id: str
    """Repository id. Cannot be changed."""

    class_: RepositoryClass
    """Cannot be changed."""

    sub_class: RepositorySubClass
    """Cannot be changed."""

    display_name: str
    """Name shown to users. Max 200 characters. Cannot be null or empty."""

    uri: str
    """Address of the repository. Max 2000 characters. Cannot be null or empty."""

    capabilities: RepositoryCapabilities
    """Capabilities of a repository."""

    authentication: (
        BasicAuthentication
        | HeaderAuthentication
        | None
        | OAuth2AuthorizationCodePKCEAuthentication
        | QueryParameterAuthentication
        | Unset
    ) = UNSET
    """Optional. May be null."""

    options: None | RepositoryOptions | Unset = UNSET
    """Optional. May be null."""

    FIELDS: ClassVar[Table] = {
        "id": ("id", STRING),
        "class": ("class_", EnumKind("RepositoryClass")),
        "subClass": ("sub_class", EnumKind("RepositorySubClass")),
        "displayName": ("display_name", STRING),
        "uri": ("uri", STRING),
        "capabilities": ("capabilities", ModelKind("RepositoryCapabilities")),
        "authentication": (
            "authentication",
            OneOfKind(
                (
                    "HeaderAuthentication",
                    "QueryParameterAuthentication",
                    "BasicAuthentication",
                    "OAuth2AuthorizationCodePKCEAuthentication",
                )
            ),
        ),
        "options": ("options", ModelKind("RepositoryOptions")),
    }
    SECRETS: ClassVar[frozenset[str]] = frozenset(["authentication"])


# Below the class, because models may refer to each other.
from ..models.basic_authentication import BasicAuthentication  # noqa: E402
from ..models.header_authentication import HeaderAuthentication  # noqa: E402
from ..models.oauth2_authorization_code_pkce_authentication import OAuth2AuthorizationCodePKCEAuthentication  # noqa: E402
from ..models.query_parameter_authentication import QueryParameterAuthentication  # noqa: E402
from ..models.repository_capabilities import RepositoryCapabilities  # noqa: E402
from ..models.repository_options import RepositoryOptions  # noqa: E402

make_when_read(Repository, "capabilities")
make_when_read(Repository, "options")
