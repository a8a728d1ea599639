"""Names in Python are made of the words of the names in the document."""

import pytest
from openapi_python_client import strings

from tools.generation.naming import use_own_names


@pytest.mark.parametrize(
    ("name", "attribute", "class_name"),
    [
        ("iTwinId", "itwin_id", "ITwinId"),
        ("ITwinsResponse", "itwins_response", "ITwinsResponse"),
        ("X-iTwin-Query-Scope", "x_itwin_query_scope", "XITwinQueryScope"),
        ("iModelId", "imodel_id", "IModelId"),
        ("View3dData", "view3d_data", "View3dData"),
        ("Vector3d", "vector3d", "Vector3d"),
        ("VIEW_3D", "view_3d", "VIEW3D"),
        ("OAuth2AuthorizationCodePKCE", "oauth2_authorization_code_pkce", "OAuth2AuthorizationCodePKCE"),
        ("documentationUrl", "documentation_url", "DocumentationUrl"),
        ("callbackURL", "callback_url", "CallbackURL"),
        ("$orderby", "orderby", "Orderby"),
        ("_links", "links", "Links"),
        ("list_itwins", "list_itwins", "ListItwins"),
    ],
)
def test_a_name_is_made_of_its_words(name: str, attribute: str, class_name: str) -> None:
    """Attributes, modules and classes are named by the same words, as people say them: never `i_twin_id`."""
    use_own_names()
    assert (strings.PythonIdentifier(name, ""), strings.ClassName(name, "")) == (attribute, class_name)
