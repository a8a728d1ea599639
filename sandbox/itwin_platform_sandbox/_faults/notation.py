"""Faults as JSON, as the fields of a form, and as an option of the command line."""

from collections.abc import Mapping
from dataclasses import asdict, fields
from typing import cast

from .._service.fields import FieldError, read_fields, read_integer, read_number, read_string
from .._service.json_values import JSON, JSONObject
from .._service.retry_after import RetryAfter
from .catalogue import FaultName
from .plan import Fault

FOREVER = "forever"
FIELDS = tuple(field.name for field in fields(Fault))


def fault_from_values(values: Mapping[str, JSON]) -> Fault:
    """Read a fault from its fields; `FieldError` names the field that is wrong.

    Numbers may be strings, and an empty string is an omitted field. `count` is a number, or null or `forever`.
    """
    read_fields(dict(values), FIELDS)
    sent = {name: value for name, value in values.items() if value not in ("", None)}
    forever = values.get("count", 1) in (None, FOREVER)
    return Fault(
        name=cast("FaultName", read_string(sent, "name")),  # Fault itself rejects an unknown name
        operation=read_string(sent, "operation") if "operation" in sent else None,
        count=None if forever else read_integer(sent, "count", 1, least=1),
        skip=read_integer(sent, "skip", 0),
        seconds=read_number(sent, "seconds", 0) if "seconds" in sent else None,
        retry_after=cast("RetryAfter", read_string(sent, "retry_after", "seconds")),
        origin=read_string(sent, "origin", "http://foreign.invalid"),
    )


def fault_from_text(text: str) -> Fault:
    """Read `name` or `name,field=value,...`, for example `stall,operation=list_itwins,count=2,seconds=3`."""
    name, *fields_text = text.split(",")
    values: JSONObject = {"name": name.strip()}
    for field_text in fields_text:
        key, found, value = field_text.partition("=")
        if not found:
            raise FieldError(
                None, f"{field_text!r} has no value; write a fault as name,field=value, such as stall,seconds=3"
            )
        values[key.strip()] = value.strip()
    return fault_from_values(values)


def fault_values(fault: Fault) -> JSONObject:
    """Return the fields of a fault as JSON."""
    return asdict(fault)
