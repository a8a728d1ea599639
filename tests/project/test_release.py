"""A tag is released only when it, the version and the changelog agree."""

import pytest

from tools.release.check_tag import problems


def test_a_tag_that_agrees_is_released() -> None:
    """The tag is `v` and the version, and the changelog begins with that version."""
    assert problems("v1.2.0", version="1.2.0", newest="1.2.0") == []


@pytest.mark.parametrize(
    ("tag", "newest", "said"),
    [
        ("1.2.0", "1.2.0", "tag v1.2.0"),
        ("v1.3.0", "1.2.0", "tag v1.2.0"),
        ("v1.2.0", "1.1.0", "add a section for 1.2.0"),
    ],
)
def test_a_tag_that_does_not_agree_is_rejected(tag: str, newest: str, said: str) -> None:
    """Each mismatch is named with what to do."""
    (found,) = problems(tag, version="1.2.0", newest=newest)
    assert said in found
