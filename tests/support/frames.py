"""The local variables of frames, as an error tracker captures them."""

import traceback
from collections.abc import Iterator
from pathlib import Path

#: Parts of the paths of frames that belong to the caller: tests, measurements, and the AsyncClient of a caller.
CALLERS = ("/tests/", "/measure/", "/httpx/_client.py", "/asyncio/")


def errors_of(error: BaseException) -> Iterator[BaseException]:
    """Yield an error, its causes and its contexts."""
    seen: list[BaseException] = []
    left: list[BaseException | None] = [error]
    while left:
        if (current := left.pop()) is not None and current not in seen:
            seen.append(current)
            yield current
            left += [current.__cause__, current.__context__]


def shown(error: BaseException) -> str:
    """Return the text of an error as a tool shows it that prints the locals of each frame."""
    parts: list[str] = []
    for each in errors_of(error):
        parts += [str(each), repr(each), repr(vars(each))]
        for frame, _ in traceback.walk_tb(each.__traceback__):
            path = Path(frame.f_code.co_filename).as_posix()
            if not any(caller in path for caller in CALLERS):
                parts += [
                    f"{path}:{frame.f_code.co_name}: {name} = {_representation(value)}"
                    for name, value in frame.f_locals.items()
                ]
    return "\n".join(parts)


def _representation(value: object) -> str:
    try:
        return repr(value)
    except AttributeError:
        return "an object that is not complete yet"
