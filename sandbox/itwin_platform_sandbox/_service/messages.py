"""What goes in and comes out of the service, as values: no web framework, no sockets."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from .credentials import Caller
from .json_values import JSON


@dataclass(frozen=True, slots=True, kw_only=True)
class APIRequest:
    """One request as it came in: `path` still percent-encoded, header names in lower case."""

    method: str
    path: str
    query: Mapping[str, str] = field(default_factory=dict)
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    body: bytes = field(default=b"", repr=False)
    origin: str = "http://127.0.0.1"


@dataclass(frozen=True, slots=True, kw_only=True)
class OperationRequest:
    """What one operation decides on: who calls, the decoded path parameters, query, headers and body."""

    caller: Caller
    path_parameters: Mapping[str, str]
    query: Mapping[str, str]
    headers: Mapping[str, str] = field(repr=False)
    body: bytes = field(repr=False)
    url: str


@dataclass(frozen=True, slots=True)
class ServiceResponse:
    """Status, JSON body and headers of one response; `notes` say what was odd about the request."""

    status: int
    body: JSON
    headers: tuple[tuple[str, str], ...] = ()
    notes: tuple[str, ...] = field(default=(), compare=False)


@dataclass(frozen=True, slots=True)
class WireResponse:
    """One response as the bytes that go over the wire."""

    status: int
    headers: tuple[tuple[str, str], ...]
    body: bytes = field(repr=False)
