"""Requests and responses of the service as values, without a web framework."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from .credentials import Caller
from .json_values import JSON


@dataclass(frozen=True, slots=True, kw_only=True)
class APIRequest:
    """One received request: `path` is percent-encoded, header names are in lower case."""

    method: str
    path: str
    query: Mapping[str, str] = field(default_factory=dict)
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    body: bytes = field(default=b"", repr=False)
    origin: str = "http://127.0.0.1"


@dataclass(frozen=True, slots=True, kw_only=True)
class OperationRequest:
    """The input of one operation: caller, decoded path parameters, query, headers and body."""

    caller: Caller
    path_parameters: Mapping[str, str]
    query: Mapping[str, str]
    headers: Mapping[str, str] = field(repr=False)
    body: bytes = field(repr=False)
    url: str


@dataclass(frozen=True, slots=True)
class ServiceResponse:
    """Status, JSON body and headers of one response; `notes` name odd fields of the request."""

    status: int
    body: JSON
    headers: tuple[tuple[str, str], ...] = ()
    notes: tuple[str, ...] = field(default=(), compare=False)


@dataclass(frozen=True, slots=True)
class WireResponse:
    """One response as bytes."""

    status: int
    headers: tuple[tuple[str, str], ...]
    body: bytes = field(repr=False)
