from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.repository_class import RepositoryClass
from ..models.repository_sub_class import RepositorySubClass
from ..types import (
    UNSET,
    Unset,
    decode_enum,
    decode_model,
    decode_one_of,
    describe,
    encode_fields,
)

if TYPE_CHECKING:
    from ..models.basic_authentication import BasicAuthentication
    from ..models.header_authentication import HeaderAuthentication
    from ..models.oauth2_authorization_code_pkce_authentication import OAuth2AuthorizationCodePKCEAuthentication
    from ..models.query_parameter_authentication import QueryParameterAuthentication
    from ..models.repository_capabilities import RepositoryCapabilities
    from ..models.repository_options import RepositoryOptions


@_attrs_define(repr=False)
class Repository:
    """A repository of an iTwin (`iTwin-repository`): an external or internal data source attached to
    it. Which repositories can be updated is a matter of class and subclass:

    - GeographicInformationSystem: WebMapService, WebMapTileService, WebFeatureService, ArcGIS,
      UrlTemplate, OgcApiFeatures
    - Construction: Performance
    - Subsurface: EvoWorkspace

    Source: section 2.1"""

    id: str
    """Repository id. Cannot be changed."""

    class_: RepositoryClass
    """Repository Class.
    Source: section 2.1"""

    sub_class: RepositorySubClass
    """Repository SubClass.
    Source: section 2.1"""

    display_name: str
    """Name shown to users. Max 200 characters. Cannot be null or empty."""

    uri: str
    """Address of the repository. Max 2000 characters. Cannot be null or empty."""

    capabilities: RepositoryCapabilities
    """Capabilities of a repository.
    Source: section 2.1"""

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

    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def __repr__(self) -> str:
        return describe(self, frozenset(["authentication"]))

    def to_dict(self) -> dict[str, Any]:
        return encode_fields(
            {
                "id": self.id,
                "class": self.class_,
                "subClass": self.sub_class,
                "displayName": self.display_name,
                "uri": self.uri,
                "capabilities": self.capabilities,
                "authentication": self.authentication,
                "options": self.options,
            },
            self.additional_properties,
        )

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.basic_authentication import BasicAuthentication
        from ..models.header_authentication import HeaderAuthentication
        from ..models.oauth2_authorization_code_pkce_authentication import OAuth2AuthorizationCodePKCEAuthentication
        from ..models.query_parameter_authentication import QueryParameterAuthentication
        from ..models.repository_capabilities import RepositoryCapabilities
        from ..models.repository_options import RepositoryOptions

        d = dict(src_dict)
        pop = d.pop
        model = cls(
            id=pop("id", UNSET),
            class_=decode_enum(RepositoryClass, pop("class", UNSET)),
            sub_class=decode_enum(RepositorySubClass, pop("subClass", UNSET)),
            display_name=pop("displayName", UNSET),
            uri=pop("uri", UNSET),
            capabilities=decode_model(RepositoryCapabilities.from_dict, pop("capabilities", UNSET)),
            authentication=decode_one_of(
                (
                    HeaderAuthentication,
                    QueryParameterAuthentication,
                    BasicAuthentication,
                    OAuth2AuthorizationCodePKCEAuthentication,
                ),
                pop("authentication", UNSET),
            ),
            options=decode_model(RepositoryOptions.from_dict, pop("options", UNSET)),
        )
        model.additional_properties = d
        return model

    @property
    def additional_keys(self) -> list[str]:
        return list(self.additional_properties.keys())

    def __getitem__(self, key: str) -> Any:
        return self.additional_properties[key]

    def __setitem__(self, key: str, value: Any) -> None:
        self.additional_properties[key] = value

    def __delitem__(self, key: str) -> None:
        del self.additional_properties[key]

    def __contains__(self, key: str) -> bool:
        return key in self.additional_properties
