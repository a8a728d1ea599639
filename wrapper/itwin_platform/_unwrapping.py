"""Takes what the wrapper promises out of what the generated functions return."""

from typing import TypeVar

from ._api import Response
from ._errors import ResponseDecodeError

M = TypeVar("M")
R = TypeVar("R")


def unwrapped(response: Response[R], value: object, kind: type[M]) -> M:
    """Returns the value where it is what the description says.

    Raises:
        ResponseDecodeError: it is missing, or something else; the answer stays on the error.
    """
    if isinstance(value, kind):
        return value
    raise ResponseDecodeError(
        response.status_code, response.headers, response.content, reason=f"it holds no {kind.__name__} where one is due"
    )
