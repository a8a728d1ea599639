"""What is secret in a response or a body never shows in `repr`. Source: sections 2.2, 2.4 and 4.8."""

from typing import Any

import pytest
from itwin_platform_api import models

from tests.support.schema_values import MODELS, SCHEMAS

AUTHENTICATIONS = [name for name in MODELS if name.endswith("Authentication")]
SECRET: list[tuple[str, dict[str, Any]]] = [
    *((name, dict.fromkeys(SCHEMAS[name]["properties"], "planted") | {"type": "x"}) for name in AUTHENTICATIONS),
    *(("Repository", {"id": "r", "authentication": value}) for value in ("planted", ["planted"], {"type": "planted"})),
    ("Repository", {"authentication": {"type": "Basic", "username": "planted", "password": "planted"}}),
    ("Repository", {"authentication": {"type": "ApiKey", "apiKey": "planted"}}),
    ("Repository", {"options": {"queryParameters": {"apiKey": "planted"}}}),
    ("RepositoryUpdate", {"authentication": {"type": "Header", "key": "planted", "value": "planted"}}),
    ("RepositoryResponse", {"repository": {"authentication": {"type": "Header", "key": "planted"}}}),
    ("WebhookUpdate", {"secret": "planted", "active": True}),
    ("Webhook", {"id": "w", "secret": "planted"}),
    ("Resource", {"capabilities": {"graphics": {"uri": "https://planted"}}}),
    ("ITwin", {"anythingThatNobodyKnows": {"token": "planted"}}),
]


@pytest.mark.parametrize(("name", "wire"), SECRET, ids=lambda value: str(value)[:50])
def test_a_secret_shows_in_no_text(name: str, wire: dict[str, Any]) -> None:
    """Secret fields are hidden by value, unknown fields show by their names only; the values are there all the same."""
    model = MODELS[name].from_dict(wire)
    for shown in (repr(model), str(model), f"{model}", repr([model]), repr({"a": model})):
        assert "planted" not in shown
        assert shown.count(name)
    assert model.to_dict() == wire


@pytest.mark.parametrize(("name", "field"), [("Repository", "authentication"), ("WebhookUpdate", "secret")])
def test_null_is_no_secret(name: str, field: str) -> None:
    """The `repr` shows a null secret as None and omits a missing one, so neither looks hidden."""
    assert f"{field}=None" in repr(MODELS[name].from_dict({field: None}))
    assert field not in repr(MODELS[name].from_dict({}))


def test_other_fields_show() -> None:
    """`repr` is for people: what is no secret is there to be read."""
    shown = repr(models.ITwin.from_dict({"id": "i-1", "status": "Active", "parentId": None, "new": 1}))
    assert "id='i-1'" in shown
    assert "status='Active'" in shown
    assert "parent_id=None" in shown
    assert "additional_properties=['new']" in shown
