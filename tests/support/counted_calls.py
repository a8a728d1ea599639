"""Function calls as a measure of work, which is the same on every machine."""

import gc
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType


@contextmanager
def counted_calls() -> Iterator[list[str]]:
    """Collect the names of the Python functions that are called meanwhile, and not of finalizers of other tests."""
    names: list[str] = []

    def count(frame: FrameType, event: str, argument: object) -> None:
        if event == "call":
            names.append(frame.f_code.co_name)

    gc.disable()
    sys.setprofile(count)
    try:
        yield names
    finally:
        sys.setprofile(None)
        gc.enable()
