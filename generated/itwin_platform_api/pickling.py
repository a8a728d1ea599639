"""Pickling and copying of models, however deeply their unknown fields are nested."""

from collections.abc import Iterable
from typing import Any

from .decoding import blank

#: Levels of lists and mappings that pickle and deepcopy descend through by themselves.
_LEVELS = 50


def reduced(model: Any) -> tuple[Any, ...]:
    """Return what pickle and deepcopy make a model of.

    Both fail on some hundred levels, but they remember what they have seen. What is nested deeply comes first, the
    innermost first, so that neither of them has far to go.
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
        inner = (part for each in level.values() for part in (each.values() if type(each) is dict else each))
        level = _unseen(inner, seen)
    return deep[::-1]


def _unseen(values: Iterable[Any], seen: dict[int, Any]) -> dict[int, Any]:
    return {id(each): each for each in values if type(each) in (dict, list) and id(each) not in seen}
