"""What the package shows, and what it does not load."""

import itwin_platform_sandbox
import pytest


def test_every_public_name_is_there_and_sorted() -> None:
    """__all__ is sorted, and each name in it can be had."""
    names = itwin_platform_sandbox.__all__
    assert names == sorted(names)
    assert all(getattr(itwin_platform_sandbox, name) is not None for name in names)
    with pytest.raises(AttributeError, match="no attribute 'Sandpit'"):
        _ = itwin_platform_sandbox.Sandpit
