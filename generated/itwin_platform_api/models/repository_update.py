from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Self

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..decoding import (
    blank,
    decode_model,
    decode_one_of,
    unknown_of,
)
from ..encoding import Fields, fields_of
from ..schemas import JSONModel
from ..unset import UNSET, Unset

_NAMES = frozenset(
    (
        "displayName",
        "uri",
        "authentication",
        "options",
    )
)


@_attrs_define(repr=False)
class RepositoryUpdate(JSONModel):
    """Body of update repository (`iTwin-repository-update`), all properties optional. Only properties present are
    changed. `class`, `subClass` and `id` cannot be changed, and read-only fields must not be included. Inferred:
    `capabilities` is read-only.

    Attributes:
        display_name: Name shown to users. Max 200 characters. Cannot be null or empty.
        uri: Address of the repository. Max 2000 characters. Cannot be null or empty.
        authentication: null removes it. Replaces the stored object: send all its properties, not `password`
            alone.
        options: null removes it. Replaces the stored object: send all its properties, not `queryParameters`
            alone.
        additional_properties: the fields that the specification does not name.
    """

    display_name: str | Unset = UNSET
    """Name shown to users. Max 200 characters. Cannot be null or empty."""

    uri: str | Unset = UNSET
    """Address of the repository. Max 2000 characters. Cannot be null or empty."""

    authentication: (
        None
        | StoredBasicAuthentication
        | StoredHeaderAuthentication
        | StoredOAuth2AuthorizationCodePKCEAuthentication
        | StoredQueryParameterAuthentication
        | Unset
    ) = UNSET
    """null removes it. Replaces the stored object: send all its properties, not `password` alone."""

    options: None | StoredRepositoryOptions | Unset = UNSET
    """null removes it. Replaces the stored object: send all its properties, not `queryParameters` alone."""

    additional_properties: dict[str, Any] = _attrs_field(kw_only=True, factory=dict)

    SECRETS: ClassVar[frozenset[str]] = frozenset(["authentication"])

    def wire_fields(self) -> Fields:
        """Return the fields by their names in JSON, those of models in them too. Fields that are UNSET are omitted.

        All other values stay as they are.
        """
        wire = Fields(self.additional_properties) if self.additional_properties else Fields()
        own: Any = self  # required fields, too, are UNSET where a response lacks them
        if (value := own.display_name) is not UNSET:
            wire["displayName"] = value
        if (value := own.uri) is not UNSET:
            wire["uri"] = value
        if (value := own.authentication) is not UNSET:
            wire["authentication"] = fields_of(value)
        if (value := own.options) is not UNSET:
            wire["options"] = fields_of(value)
        return wire

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        """Make a model of a JSON object. A missing field is UNSET, and a value of another type stays as it is."""
        d, model = src_dict, blank(cls)
        known = 4
        if "displayName" in d:
            model.display_name = d["displayName"]
        else:
            model.display_name = UNSET
            known -= 1
        if "uri" in d:
            model.uri = d["uri"]
        else:
            model.uri = UNSET
            known -= 1
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
from ..models.stored_basic_authentication import StoredBasicAuthentication  # noqa: E402
from ..models.stored_header_authentication import StoredHeaderAuthentication  # noqa: E402
from ..models.stored_oauth2_authorization_code_pkce_authentication import (
    StoredOAuth2AuthorizationCodePKCEAuthentication,  # noqa: E402
)
from ..models.stored_query_parameter_authentication import StoredQueryParameterAuthentication  # noqa: E402
from ..models.stored_repository_options import StoredRepositoryOptions  # noqa: E402
