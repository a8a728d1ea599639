"""How many examples a property tries, by the hypothesis profile, and the strings among them."""

from hypothesis import settings, strategies as st

#: The characters of hypothesis's default, all but surrogates: that takes seconds to compute on a clean machine.
CHARACTERS = st.characters(exclude_categories=["Cs"])


def strings(*, min_size: int = 0, max_size: int | None = None) -> st.SearchStrategy[str]:
    """Return strings of any characters."""
    return st.text(CHARACTERS, min_size=min_size, max_size=max_size)


def examples(full: int) -> int:
    """Return the share of `full` examples that the profile tries: all in `full`, a fifth in `quick`."""
    assert settings.default is not None
    return max(1, full * settings.default.max_examples // 100)
