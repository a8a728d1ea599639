from __future__ import annotations

from typing import ClassVar

from attrs import define as _attrs_define

from ..kinds import STRING, ModelKind, OneOfKind, Table
from ..methods import make_when_read
from ..schemas import JSONModel
from ..unset import UNSET, Unset


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
        BasicAuthentication
        | HeaderAuthentication
        | None
        | OAuth2AuthorizationCodePKCEAuthentication
        | QueryParameterAuthentication
        | Unset
    ) = UNSET
    """null removes it. Replaces the stored object: send all its properties, not `password` alone."""

    options: None | RepositoryOptions | Unset = UNSET
    """null removes it. Replaces the stored object: send all its properties, not `queryParameters` alone."""

    FIELDS: ClassVar[Table] = {
        "displayName": ("display_name", STRING),
        "uri": ("uri", STRING),
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
from ..models.repository_options import RepositoryOptions  # noqa: E402

make_when_read(RepositoryUpdate, "options")
