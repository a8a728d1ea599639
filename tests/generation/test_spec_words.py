"""What OpenAPI cannot say stands in descriptions: whole objects, read-only fields, untrusted strings, gaps."""

import re
from typing import Any

import pytest


@pytest.mark.parametrize(
    "rule",
    [
        "A property that is not in the body stays as it is.",
        "null removes `authentication` or `options`.",
        "`uri` and `displayName` cannot be set to null.",
        "`class`, `subClass` and `id` cannot be changed.",
        "`authentication` and `options` replace the stored object.",
        "The service merges nothing: send all properties of the object",
        "Read-only fields must not be included.",
    ],
)
def test_update_repository_states_its_rules(operations: dict[str, Any], rule: str) -> None:
    """Update repository states the six rules of section 4.1."""
    assert rule in _words(operations["update_repository"])


@pytest.mark.parametrize(
    ("repository_class", "sub_classes"),
    [
        (
            "GeographicInformationSystem",
            "WebMapService, WebMapTileService, WebFeatureService, ArcGIS, UrlTemplate, OgcApiFeatures",
        ),
        ("Construction", "Performance"),
        ("Subsurface", "EvoWorkspace"),
    ],
)
def test_updatable_repositories_are_named(
    operations: dict[str, Any], schemas: dict[str, Any], repository_class: str, sub_classes: str
) -> None:
    """Update repository and the repository itself name the classes and subclasses that can be updated."""
    assert f"- {repository_class}: {sub_classes} " in _words(operations["update_repository"])
    assert f"- {repository_class}: {sub_classes} " in _words(schemas["Repository"])


@pytest.mark.parametrize("field", ["authentication", "options"])
def test_replaced_field_says_so(schemas: dict[str, Any], field: str) -> None:
    """A field that is replaced as a whole says so, and that null removes it."""
    words = _words(schemas["RepositoryUpdate"]["properties"][field])
    expected = ["null removes it", "Replaces the stored object", "send all its properties"]
    assert [phrase for phrase in expected if phrase not in words] == []


@pytest.mark.parametrize("name", ["SceneObject", "SceneObjectMinimal", "SceneObjectData", "RepositoryResourceData"])
def test_untrusted_strings_are_called_untrusted(schemas: dict[str, Any], name: str) -> None:
    """Whatever holds strings of scene object data says that they are untrusted and must be escaped or sanitized."""
    assert "untrusted: escape or sanitize them before rendering" in _words(schemas[name])


@pytest.mark.parametrize("name", ["SceneObject", "SceneObjectCreate"])
def test_related_id_says_when_it_is_allowed(schemas: dict[str, Any], name: str) -> None:
    """relatedId says that it is allowed and required only for resource styling objects."""
    words = _words(schemas[name]["properties"]["relatedId"])
    assert "Required for resource styling objects, not allowed for others" in words


@pytest.mark.parametrize(
    ("field", "sentence"),
    [
        ("id", "Cannot be changed."),
        ("class", "Cannot be changed."),
        ("subClass", "Cannot be changed."),
        ("displayName", "Cannot be null or empty."),
        ("uri", "Cannot be null or empty."),
    ],
)
def test_repository_field_says_what_cannot_be(schemas: dict[str, Any], field: str, sentence: str) -> None:
    """A field of a repository says that it cannot be changed, or cannot be null or empty."""
    assert sentence in _words(schemas["Repository"]["properties"][field])


@pytest.mark.parametrize(
    ("field", "subclass"),
    [("queryParameters", "all GIS repositories"), ("minimumLevel", "UrlTemplate"), ("maximumLevel", "UrlTemplate")],
)
def test_option_says_what_it_applies_to(schemas: dict[str, Any], field: str, subclass: str) -> None:
    """An option says to which repositories it applies."""
    assert f"Applies to {subclass}." in _words(schemas["StoredRepositoryOptions"]["properties"][field])


@pytest.mark.parametrize(
    ("state", "effect"),
    [
        ("With `active=true` an inactive webhook becomes active", "events start being forwarded to `callbackUrl`"),
        ("With `active=false` an active webhook becomes inactive", "events stop being forwarded"),
        ("A new webhook is inactive", "receives events once it is activated"),
        ("Read-only properties", "must not be sent"),
    ],
)
def test_update_webhook_states_transitions(operations: dict[str, Any], state: str, effect: str) -> None:
    """Update webhook states what activating and deactivating do, and that read-only properties must not be sent."""
    assert effect in _words(operations["update_webhook"]).partition(state)[2]


def test_webhook_secret_is_only_accepted(schemas: dict[str, Any]) -> None:
    """The secret says that one is generated when none is passed; the webhook says that it is not part of it."""
    assert "If none is passed, one is generated" in _words(schemas["WebhookUpdate"]["properties"]["secret"])
    assert "The secret is accepted on update but is not part of it" in _words(schemas["Webhook"])


def test_selected_itwin_may_lack_required_fields(schemas: dict[str, Any]) -> None:
    """An iTwin says that $select narrows it, which its required fields cannot say."""
    assert "`$select` narrows the object" in _words(schemas["ITwin"])


@pytest.mark.parametrize("name", ["ErrorResponse", "ErrorBody", "ErrorDetail"])
def test_errors_are_not_to_be_relied_on(schemas: dict[str, Any], name: str) -> None:
    """The error body says that clients must not assume its properties to be non-null."""
    assert re.search(
        "A failure may have another body, or nulls|Any of its properties may be null", _words(schemas[name])
    )


@pytest.mark.parametrize(("name", "enumeration"), [("ErrorBody", "ErrorCode"), ("ErrorDetail", "ErrorDetailCode")])
def test_code_refers_to_its_enum_in_words(schemas: dict[str, Any], name: str, enumeration: str) -> None:
    """A code stays an open String that names the enum of the documented codes."""
    code = schemas[name]["properties"]["code"]
    assert code["type"] == ["string", "null"]
    assert f"`{enumeration}`" in code["description"]


@pytest.mark.parametrize(
    ("part", "gap"),
    [
        ("Payload shape, delivery signature or delivery headers, and which operation emits which event", "events"),
        ("Numeric rate limits per tier", "rate limits"),
        ("The texts of `message`", "messages"),
        ("Other operations mentioned by name", "operations"),
    ],
)
def test_document_names_its_gaps(document: dict[str, Any], part: str, gap: str) -> None:
    """What the service description does not show is said not to be shown."""
    after = _words(document["info"]).partition(part)[2].partition("Source:")[0]
    assert "not shown in the description" in after, gap


@pytest.mark.parametrize(
    ("name", "gap"),
    [
        ("ITwinStatus", "Transitions between statuses: not shown in the description"),
        ("SceneObjectData", "Data structures for other scene object kinds: not shown in the description"),
    ],
)
def test_schema_names_its_gap(schemas: dict[str, Any], name: str, gap: str) -> None:
    """A schema says which part of it the service description does not show."""
    assert gap in _words(schemas[name])


def test_detector_version_entry_is_not_shown(schemas: dict[str, Any]) -> None:
    """The versions of a detector say that the structure of an entry is not shown."""
    words = _words(schemas["Detector"]["properties"]["versions"])
    assert "Structure of a version entry: not shown in the description" in words


def _words(node: dict[str, Any]) -> str:
    return " ".join(node["description"].split())
