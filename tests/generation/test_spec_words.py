"""What only the words of the document can say: permissions, what is inferred, and what is not documented."""

from typing import Any

import pytest

from tests.generation.test_spec_errors import ERRORS

#: The place, by the id of an operation or by the name of a component, and the words.
WORDS: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(
        ("update_repository", "create_repository_resource"),
        ("`itwin-platform`", "`itwins_modify`", "Organization Administrators have it"),
    ),
    "list_itwins": (
        *("`itwin-platform`", "Any authenticated user", "only `subClass` may accompany it."),
        "`X-iTwin-Query-Scope: OrganizationAdmin` is for organization administrators",
        "When `$select` is given, the Prefer header is ignored.",
    ),
    "get_primary_account": ("`itwin-platform`", "Any authenticated user"),
    **dict.fromkeys(
        ("create_scene", "list_scene_objects"),
        ("`itwin-platform`", "Permission required for scene operations: not documented"),
    ),
    "create_detector": ("`itwin-platform`", "Permission required for detector creation: not documented"),
    "update_webhook": (
        *("`itwin-platform`", "`webhooks:modify`", "the permission `webhooks_maintainer` on the iTwin"),
        *("only by Service Applications", "Organization Administrator of the owning organization"),
    ),
    "info": (
        "Every operation requires the header Accept",
        "Inferred: a property that is `required` in a response",
        "may also come as `application/json`",
    ),
    "securitySchemes bearer": (
        *("Header `Authorization` (required on every operation)", "valid Bearer access token; scope `itwin-platform`"),
        "Account Administrator, Co-Administrator, or a services administrator role",
        "manage every iTwin that their organization owns",
        "The access token request format and issuance: not documented",
        "is separate from authenticating to the service",
    ),
    "parameters MaxReturn": (
        *("across all pages", "Pages beyond the limit are empty"),
        "Not the same as `$top` (page size)",
    ),
    "parameters SceneIdPath": ("Inferred: a UUID",),
    "headers RetryAfter": ("Seconds to wait",),
    "responses RateLimitExceeded": ("Numeric rate limits per tier: not documented",),
    "schemas SceneObjectCreate": ("Inferred: `version`, `kind` and `data` are required",),
    "schemas PagingLinks": ("Inferred: `self` is always there",),
    "schemas Uuid": ("Inferred: the pattern",),
    "schemas DateTime": ("`YYYY-MM-DDTHH:mm:ss.sssZ`",),
}


@pytest.mark.parametrize("place", WORDS)
def test_the_words_are_there(document: dict[str, Any], operations: dict[str, Any], place: str) -> None:
    """A description names the scopes and permissions, what is inferred, and what is not documented."""
    kind, _, name = place.partition(" ")
    node = operations[kind] if kind in operations else document["components"][kind][name] if name else document[kind]
    words = " ".join(node["description"].split())
    assert [phrase for phrase in WORDS[place] if phrase not in words] == []


def test_exactly_the_eight_operations_exist(operations: dict[str, Any]) -> None:
    """The document holds the eight operations of the service description and no other, each with its words."""
    assert operations.keys() == ERRORS.keys()
    assert operations.keys() <= WORDS.keys()
    assert len(operations) == 8


def test_the_description_of_the_whole_is_short(document: dict[str, Any]) -> None:
    """Other generators copy it into every file."""
    assert len(document["info"]["description"]) < 1000
