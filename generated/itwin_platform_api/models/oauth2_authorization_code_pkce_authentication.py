from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Literal, Self, TypedDict

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..kinds import STRING, Table
from ..schemas import JSONModel, takes_mapping
from ..unset import UNSET, Unset


@_attrs_define(repr=False, kw_only=True)
class OAuth2AuthorizationCodePKCEAuthentication(JSONModel):
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

    type_: Literal["OAuth2AuthorizationCodePKCE"] = _attrs_field(default="OAuth2AuthorizationCodePKCE", init=False)
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
    IS_COMPLETE: ClassVar[bool] = True

    def replace(
        self,
        *,
        client_id: str | Unset = UNSET,
        scopes: str | Unset = UNSET,
        authorization_endpoint: str | Unset = UNSET,
        token_endpoint: str | Unset = UNSET,
        redirect_uri: str | Unset = UNSET,
    ) -> Self:
        """Return a copy with changed properties. The other properties are kept, unknown ones included."""
        return self._with(
            client_id=client_id,
            scopes=scopes,
            authorization_endpoint=authorization_endpoint,
            token_endpoint=token_endpoint,
            redirect_uri=redirect_uri,
        )


class OAuth2AuthorizationCodePKCEAuthenticationParam(TypedDict):
    """A mapping in place of OAuth2AuthorizationCodePKCEAuthentication in a request, with the property names of JSON."""

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
