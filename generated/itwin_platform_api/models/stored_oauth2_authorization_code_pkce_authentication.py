from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Literal, Self, TypedDict

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..decoding import (
    blank,
    unknown_of,
)
from ..encoding import Fields
from ..schemas import JSONModel, takes_mapping
from ..unset import UNSET

_REQUIRED: dict[str, Any] = dict.fromkeys(
    (
        "type",
        "clientId",
        "scopes",
        "authorizationEndpoint",
        "tokenEndpoint",
        "redirectUri",
    ),
    UNSET,
)
_NAMES = frozenset(
    (
        "type",
        "clientId",
        "scopes",
        "authorizationEndpoint",
        "tokenEndpoint",
        "redirectUri",
    )
)


@_attrs_define(repr=False)
class StoredOAuth2AuthorizationCodePKCEAuthentication(JSONModel):
    """Authentication of type OAuth2AuthorizationCodePKCE. Inferred: all properties are required, because the object is
    sent in full.

    Attributes:
        type_: Repository Authentication Type.
        client_id: Client identifier registered with the authorization server.
        scopes: Space-separated list of requested scopes.
        authorization_endpoint: URL where the user is sent to start authorization.
        token_endpoint: URL where the code is exchanged for access and refresh tokens.
        redirect_uri: URI the authorization server redirects to afterwards.
        additional_properties: the fields that the specification does not name.
    """

    type_: Literal["OAuth2AuthorizationCodePKCE"]
    """Repository Authentication Type."""

    client_id: str
    """Client identifier registered with the authorization server."""

    scopes: str
    """Space-separated list of requested scopes."""

    authorization_endpoint: str
    """URL where the user is sent to start authorization."""

    token_endpoint: str
    """URL where the code is exchanged for access and refresh tokens."""

    redirect_uri: str
    """URI the authorization server redirects to afterwards."""

    additional_properties: dict[str, Any] = _attrs_field(kw_only=True, factory=dict)

    CONSTANTS: ClassVar[Mapping[str, Any]] = {
        "type": "OAuth2AuthorizationCodePKCE",
    }

    SECRETS: ClassVar[frozenset[str]] = frozenset(
        ["client_id", "scopes", "authorization_endpoint", "token_endpoint", "redirect_uri"]
    )

    def wire_fields(self) -> Fields:
        """Return the fields by their names in JSON, those of models in them too. Fields that are UNSET are omitted.

        All other values stay as they are.
        """
        wire = Fields(self.additional_properties) if self.additional_properties else Fields()
        own: Any = self  # required fields, too, are UNSET where a response lacks them
        if (value := own.type_) is not UNSET:
            wire["type"] = value
        if (value := own.client_id) is not UNSET:
            wire["clientId"] = value
        if (value := own.scopes) is not UNSET:
            wire["scopes"] = value
        if (value := own.authorization_endpoint) is not UNSET:
            wire["authorizationEndpoint"] = value
        if (value := own.token_endpoint) is not UNSET:
            wire["tokenEndpoint"] = value
        if (value := own.redirect_uri) is not UNSET:
            wire["redirectUri"] = value
        return wire

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        """Make a model of a JSON object. A missing field is UNSET, and a value of another type stays as it is."""
        d, model = src_dict, blank(cls)
        try:
            model.type_ = d["type"]
            model.client_id = d["clientId"]
            model.scopes = d["scopes"]
            model.authorization_endpoint = d["authorizationEndpoint"]
            model.token_endpoint = d["tokenEndpoint"]
            model.redirect_uri = d["redirectUri"]
        except KeyError:  # what is missing is as good as UNSET
            return cls.from_dict({**_REQUIRED, **d})
        known = 6
        model.additional_properties = {} if len(d) == known else unknown_of(d, _NAMES)
        return model


class OAuth2AuthorizationCodePKCEAuthenticationParam(TypedDict):
    """A mapping that stands for StoredOAuth2AuthorizationCodePKCEAuthentication in a request, in the names of JSON."""

    type: Literal["OAuth2AuthorizationCodePKCE"]
    """Repository Authentication Type."""
    clientId: str
    """Client identifier registered with the authorization server."""
    scopes: str
    """Space-separated list of requested scopes."""
    authorizationEndpoint: str
    """URL where the user is sent to start authorization."""
    tokenEndpoint: str
    """URL where the code is exchanged for access and refresh tokens."""
    redirectUri: str
    """URI the authorization server redirects to afterwards."""


takes_mapping(OAuth2AuthorizationCodePKCEAuthenticationParam)
