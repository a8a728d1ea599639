"""A sandbox of the platform service: stateful, in memory, over HTTP on the loopback interface.

>>> from itwin_platform_sandbox import Sandbox
>>> async with Sandbox(itwins=250) as sandbox:  # doctest: +SKIP
...     client = SomeClient(sandbox.base_url, token=sandbox.token)

Importing this package imports no web framework: its names are loaded when they are first used.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ._faults.catalogue import FAULTS
    from ._faults.plan import Fault
    from ._sandbox import Sandbox
    from ._server.deliveries import Delivery
    from ._server.journal import RecordedRequest
    from ._service.rate_limit import ServiceRateLimit

__all__ = ["FAULTS", "Delivery", "Fault", "RecordedRequest", "Sandbox", "ServiceRateLimit"]


def __getattr__(name: str) -> object:
    """Load the public names, which need Starlette, uvicorn or lark, when they are first used."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    try:
        return getattr(import_module("._sandbox", __name__), name)
    except ModuleNotFoundError as error:
        raise ImportError(f"{error}: it needs the extra sandbox: run `pip install starlette uvicorn lark`") from error
