from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Self

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..decoding import (
    blank,
    decode_enum,
    decode_model,
    decode_one_of,
    members_of,
    unknown_of,
)
from ..encoding import Fields, fields_of
from ..models.repository_class import RepositoryClass
from ..models.repository_sub_class import RepositorySubClass
from ..schemas import JSONModel
from ..unset import UNSET, Unset

_RepositoryClass = members_of(RepositoryClass)
_RepositorySubClass = members_of(RepositorySubClass)
_REQUIRED: dict[str, Any] = dict.fromkeys(
    (
        "id",
        "class",
        "subClass",
        "displayName",
        "uri",
        "capabilities",
    ),
    UNSET,
)
_NAMES = frozenset(
    (
        "id",
        "class",
        "subClass",
        "displayName",
        "uri",
        "capabilities",
        "authentication",
        "options",
    )
)


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
        None
        | StoredBasicAuthentication
        | StoredHeaderAuthentication
        | StoredOAuth2AuthorizationCodePKCEAuthentication
        | StoredQueryParameterAuthentication
        | Unset
    ) = UNSET
    """Optional. May be null."""

    options: None | StoredRepositoryOptions | Unset = UNSET
    """Optional. May be null."""

    additional_properties: dict[str, Any] = _attrs_field(kw_only=True, factory=dict)

    SECRETS: ClassVar[frozenset[str]] = frozenset(["authentication"])

    def wire_fields(self) -> Fields:
        """Return the fields by their names in JSON, those of models in them too. Fields that are UNSET are omitted.

        All other values stay as they are.
        """
        wire = Fields(self.additional_properties) if self.additional_properties else Fields()
        own: Any = self  # required fields, too, are UNSET where a response lacks them
        if (value := own.id) is not UNSET:
            wire["id"] = value
        if (value := own.class_) is not UNSET:
            wire["class"] = value
        if (value := own.sub_class) is not UNSET:
            wire["subClass"] = value
        if (value := own.display_name) is not UNSET:
            wire["displayName"] = value
        if (value := own.uri) is not UNSET:
            wire["uri"] = value
        if (value := own.capabilities) is not UNSET:
            wire["capabilities"] = fields_of(value)
        if (value := own.authentication) is not UNSET:
            wire["authentication"] = fields_of(value)
        if (value := own.options) is not UNSET:
            wire["options"] = fields_of(value)
        return wire

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        """Make a model of a JSON object. A missing field is UNSET, and a value of another type stays as it is."""
        d, model = src_dict, blank(cls)
        try:
            model.id = d["id"]
            value = d["class"]
            try:
                model.class_ = _RepositoryClass[value]
            except (KeyError, TypeError):
                model.class_ = decode_enum(RepositoryClass, value)
            value = d["subClass"]
            try:
                model.sub_class = _RepositorySubClass[value]
            except (KeyError, TypeError):
                model.sub_class = decode_enum(RepositorySubClass, value)
            model.display_name = d["displayName"]
            model.uri = d["uri"]
            value = d["capabilities"]
            model.capabilities = RepositoryCapabilities.from_dict(value) if isinstance(value, dict) else value
        except KeyError:  # what is missing is as good as UNSET
            return cls.from_dict({**_REQUIRED, **d})
        known = 8
        if "authentication" in d:
            model.authentication = decode_one_of(
                (
                    StoredHeaderAuthentication,
                    StoredQueryParameterAuthentication,
                    StoredBasicAuthentication,
                    StoredOAuth2AuthorizationCodePKCEAuthentication,
                ),
                d["authentication"],
            )
        else:
            model.authentication = UNSET
            known -= 1
        if "options" in d:
            model.options = decode_model(StoredRepositoryOptions.from_dict, d["options"])
        else:
            model.options = UNSET
            known -= 1
        model.additional_properties = {} if len(d) == known else unknown_of(d, _NAMES)
        return model


# Below the class, so that models may name each other; once, and not in each call.
from ..models.repository_capabilities import RepositoryCapabilities  # noqa: E402
from ..models.stored_basic_authentication import StoredBasicAuthentication  # noqa: E402
from ..models.stored_header_authentication import StoredHeaderAuthentication  # noqa: E402
from ..models.stored_oauth2_authorization_code_pkce_authentication import (
    StoredOAuth2AuthorizationCodePKCEAuthentication,  # noqa: E402
)
from ..models.stored_query_parameter_authentication import StoredQueryParameterAuthentication  # noqa: E402
from ..models.stored_repository_options import StoredRepositoryOptions  # noqa: E402
