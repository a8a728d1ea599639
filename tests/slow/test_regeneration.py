"""What `make generate` says about a change of the document; `make regeneration-drill` tries many more."""

import pytest

from tools.generation.drill import attempt, selected


@pytest.mark.parametrize(
    ("words", "files"),
    [
        ("A type of authentication is gone", {"wrapper/itwin_platform/_operations/repositories.py"}),
        ("An operation has another name", {"wrapper/itwin_platform/_operations/"}),
        ("The envelope of a detector holds a list", {"wrapper/itwin_platform/_operations/"}),
        ("Updating a webhook needs a header", {"wrapper/itwin_platform/_operations/webhooks.py"}),
        ("An enum has integers", set()),
        ("Properties are called as the methods of a model", set()),
        ("No object has unknown properties", set()),
        ("No secret is marked", {"changed.yaml"}),
        ("A reference leads nowhere", {"changed.yaml"}),
    ],
)
def test_a_change_is_reported_before_anything_is_replaced(words: str, files: set[str]) -> None:
    """A misfit names its files and lines, a rejected document changes nothing, and no tool ends with a traceback."""
    ((_, [change]),) = selected(words)
    outcome = attempt(change)
    assert outcome.failures == ()
    assert all(any(line.startswith(file) for line in outcome.lines) for file in files), outcome.row
