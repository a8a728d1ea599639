"""What the frames of Python hold: the locals that a tool shows with an error."""

import traceback
from collections.abc import Iterator
from pathlib import Path

#: The frames of the callers: of tests and measurements, and of the AsyncClient that a caller uses.
CALLERS = ("/tests/", "/measure/", "/httpx/_client.py", "/asyncio/")


def errors_of(error: BaseException) -> Iterator[BaseException]:
    """An error and all that it came from."""
    seen: list[BaseException] = []
    left: list[BaseException | None] = [error]
    while left:
        if (current := left.pop()) is not None and current not in seen:
            seen.append(current)
            yield current
            left += [current.__cause__, current.__context__]


def shown(error: BaseException) -> str:
    """What a tool shows that prints the locals of each frame."""
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
