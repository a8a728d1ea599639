"""The number of examples of a property in each hypothesis profile, and strings that generate fast."""

from hypothesis import settings, strategies as st

#: All characters but surrogates, as by default: hypothesis computes its default for seconds on a clean machine.
CHARACTERS = st.characters(exclude_categories=["Cs"])


def strings(*, min_size: int = 0, max_size: int | None = None) -> st.SearchStrategy[str]:
    """Return strings of any characters."""
    return st.text(CHARACTERS, min_size=min_size, max_size=max_size)


def examples(full: int) -> int:
    """Return the number of examples in this profile: all of them in `full`, a fifth in `quick`."""
    assert settings.default is not None
    return max(1, full * settings.default.max_examples // 100)
