"""A client library for accessing Platform Service Interface: iTwins, Repositories, Scenes, Detectors and Webhooks"""

from .client import AuthenticatedClient, Client

__all__ = (
    "AuthenticatedClient",
    "Client",
)
