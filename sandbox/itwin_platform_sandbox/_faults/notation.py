"""Faults written down: as JSON values, as fields of a form, as text on the command line."""

from collections.abc import Mapping
from dataclasses import asdict, fields
from typing import cast

from .._service.json_values import JSON, JSONObject
from .._service.retry_after import RetryAfter
from .plan import Fault, FaultName

FOREVER = ("forever", "for ever")


def fault_from_values(values: Mapping[str, JSON]) -> Fault:
    """A fault from its fields; numbers may be text, an empty text is a field omitted. `ValueError` says what is wrong.

    `count` is a number, or null or `forever`.
    """
    names = [field.name for field in fields(Fault)]
    unknown = [name for name in values if name not in names]
    if unknown:
        raise ValueError(f"a fault has no {unknown[0]!r}; it has {', '.join(names)}")
    given = {name: value for name, value in values.items() if value not in ("", None)}
    for_ever = values.get("count", 1) in (None, *FOREVER)
    return Fault(
        name=cast("FaultName", given.get("name", "")),  # a name that is none is rejected by Fault itself
        operation=str(given["operation"]) if "operation" in given else None,
        count=None if for_ever else _integer(given.get("count", 1)),
        skip=_integer(given.get("skip", 0)),
        seconds=_number(given["seconds"]) if "seconds" in given else None,
        retry_after=cast("RetryAfter", given.get("retry_after", "seconds")),
        origin=str(given.get("origin", "http://foreign.invalid")),
    )


def fault_from_text(text: str) -> Fault:
    """A fault from `name` or `name,field=value,...`, for example `stall,operation=list_itwins,count=2,seconds=3`."""
    name, *parts = text.split(",")
    values: JSONObject = {"name": name.strip()}
    for part in parts:
        key, found, value = part.partition("=")
        if not found:
            raise ValueError(f"a fault is written name,field=value,..., and {part!r} has no value")
        values[key.strip()] = value.strip()
    return fault_from_values(values)


def fault_values(fault: Fault) -> JSONObject:
    """The fields of a fault as JSON."""
    return asdict(fault)


def _integer(value: JSON) -> int:
    number = _number(value)
    if not number.is_integer():
        raise ValueError(f"{value!r} is not a integer")
    return int(number)


def _number(value: JSON) -> float:
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        raise ValueError(f"{value!r} is not a number")  # noqa: TRY004 - it is the sender's value that is wrong
    return float(value)
