"""How many examples a property tries, by the hypothesis profile."""

from hypothesis import settings


def examples(full: int) -> int:
    """Return the share of `full` examples that the profile tries: all in `full`, 40 % in `quick`."""
    assert settings.default is not None
    return max(1, full * settings.default.max_examples // 100)
