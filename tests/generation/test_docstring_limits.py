"""Limits in docstrings of the wrapper are those of the document."""

import pytest

from tools.generation.docstring_limits import updated

SOURCE = '''
async def update():
    """Update.

    Args:
        {line}
    """
    update_repository.build_request()
'''


@pytest.mark.parametrize(
    ("stated", "documented"),
    [
        ("uri: the address, 3 to 4 characters.", "uri: the address, 1 to 2000 characters."),
        ("minimum_level: a level, at most 9.", "minimum_level: a level, 0 to 24."),
        ("uri: 5 to 6 characters, as text.", "uri: 1 to 2000 characters, as text."),
        ("uri: the address.", "uri: the address."),
    ],
)
def test_a_limit_is_written_as_the_document_has_it(stated: str, documented: str) -> None:
    """Where a docstring states a limit of an argument, generation writes the limit that the rules have."""
    assert updated(SOURCE.format(line=stated)) == SOURCE.format(line=documented)


def test_a_limit_that_no_rule_has_is_rejected() -> None:
    """A docstring cannot state a limit that the document does not have."""
    with pytest.raises(SystemExit, match=r"states a limit that openapi\.yaml does not have: .options: at most 3'"):
        updated(SOURCE.format(line="options: at most 3 of them."))
