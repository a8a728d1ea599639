"""The control interface over HTTP, by resource, and the page at `/`."""

from .application import application

__all__ = ["application"]
