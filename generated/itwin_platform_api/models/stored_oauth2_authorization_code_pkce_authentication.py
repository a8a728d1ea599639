from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Literal, TypedDict

from attrs import define as _attrs_define

from ..kinds import STRING, Table
from ..schemas import JSONModel, takes_mapping


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

    FIELDS: ClassVar[Table] = {
        "type": ("type_", STRING),
        "clientId": ("client_id", STRING),
        "scopes": ("scopes", STRING),
        "authorizationEndpoint": ("authorization_endpoint", STRING),
        "tokenEndpoint": ("token_endpoint", STRING),
        "redirectUri": ("redirect_uri", STRING),
    }
    CONSTANTS: ClassVar[Mapping[str, Any]] = {"type": "OAuth2AuthorizationCodePKCE"}
    SECRETS: ClassVar[frozenset[str]] = frozenset(
        ["client_id", "scopes", "authorization_endpoint", "token_endpoint", "redirect_uri"]
    )


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
