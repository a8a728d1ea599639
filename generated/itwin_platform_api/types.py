"""What the generated modules share, in one place to import from."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from .decoding import (
    MAKERS,
    blank,
    decode_date,
    decode_datetime,
    decode_enum,
    decode_kind,
    decode_list,
    decode_map,
    decode_model,
    decode_models,
    decode_one_of,
    decode_uuid,
    make_when_read,
    members_of,
    open_member,
    open_number,
    unknown_of,
)
from .description import describe, missing_key
from .encoding import (
    PLAIN,
    Fields,
    copy_values,
    encode,
    encode_datetime,
    encode_parameters,
    encode_scalar,
    encode_string,
    fields_of,
)
from .pickling import reduced
from .schemas import JSONModel, takes_mapping
from .unset import UNSET, Unset

T = TypeVar("T")


@dataclass(slots=True)
class Response(Generic[T]):
    """A response of an operation. Its content and headers may hold secrets, so they never show in `repr`."""

    status_code: int
    content: bytes = field(repr=False)
    headers: Mapping[str, str] = field(repr=False)
    parsed: T


__all__ = [
    "MAKERS",
    "PLAIN",
    "UNSET",
    "Fields",
    "JSONModel",
    "Response",
    "Unset",
    "blank",
    "copy_values",
    "decode_date",
    "decode_datetime",
    "decode_enum",
    "decode_kind",
    "decode_list",
    "decode_map",
    "decode_model",
    "decode_models",
    "decode_one_of",
    "decode_uuid",
    "describe",
    "encode",
    "encode_datetime",
    "encode_parameters",
    "encode_scalar",
    "encode_string",
    "fields_of",
    "make_when_read",
    "members_of",
    "missing_key",
    "open_member",
    "open_number",
    "reduced",
    "takes_mapping",
    "unknown_of",
]
