"""A client library for accessing Platform Service Interface: iTwins, Repositories, Scenes, Detectors and Webhooks"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .client import AuthenticatedClient, Client
else:
    # Hidden from type checkers, which would accept any name as an attribute of this package.
    def __getattr__(name: str) -> object:
        if name not in __all__:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        from . import client

        return getattr(client, name)


__all__ = (
    "AuthenticatedClient",
    "Client",
)
