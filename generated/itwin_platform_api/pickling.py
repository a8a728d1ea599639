"""Pickling and deep copying of models whose unknown fields may be nested more deeply than the recursion limit."""

from collections.abc import Iterable
from typing import Any

from .decoding import blank

#: Levels of lists and mappings that pickle and deepcopy handle by recursion, far below the recursion limit.
_LEVELS = 50


def reduced(model: Any) -> tuple[Any, ...]:
    """Return the result of `__reduce__` for a model.

    pickle and deepcopy recurse, so they fail at a few hundred levels, but both memoize the values that they have
    handled. The deep values come first, the innermost at the front, so that the recursion ends at a memoized value.
    """
    state = model.__getstate__()
    return _restored, (type(model), _innermost_first(state.values())), state


def _restored(kind: type[Any], _: list[Any]) -> Any:
    return blank(kind)


def _innermost_first(values: Iterable[Any]) -> list[Any]:
    """Return the lists and mappings below the first levels."""
    seen: dict[int, Any] = {}
    deep: list[Any] = []
    level, depth = _unseen(values, seen), 0
    while level:
        seen |= level
        depth += 1
        if depth > _LEVELS:
            deep += level.values()
        inner = (part for value in level.values() for part in (value.values() if type(value) is dict else value))
        level = _unseen(inner, seen)
    return deep[::-1]


def _unseen(values: Iterable[Any], seen: dict[int, Any]) -> dict[int, Any]:
    return {id(value): value for value in values if type(value) in (dict, list) and id(value) not in seen}
