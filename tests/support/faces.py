"""What tests name of the wrapper's private modules, room by room: a module that moves is a change here alone."""

from itwin_platform._http.attempts.tokens import TokenAuth

__all__ = ["TokenAuth"]
