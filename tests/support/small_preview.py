"""A small document with operations of its own, so that a test changes no live operation."""

import copy
from typing import Any

Document = dict[str, Any]

_ID = {"name": "lampId", "in": "path", "required": True, "schema": {"type": "string"}}
_ORDER = {"name": "orderBy", "in": "query", "schema": {"type": "string"}}


def _body(name: str) -> Document:
    return {"content": {"application/json": {"schema": {"$ref": f"#/components/schemas/{name}"}}}}


def _operation(name: str, *, status: str, response: str, **others: object) -> Document:
    responses = {status: {"description": "It went well.", **_body(response)}}
    named = {"operationId": name, "tags": ["lamps"], "x-accept": "application/vnd.vendor.itwin-platform.v1+json"}
    return {**named, "security": [{"bearer": []}], "responses": responses, **others}


def _object(**properties: object) -> Document:
    return {"type": "object", "required": [*properties][:1], "properties": properties}


_TEXT = {"type": "string"}
_DOCUMENT: Document = {
    "openapi": "3.1.0",
    "info": {"title": "Lamps", "version": "1"},
    "paths": {
        "/lamps": {
            "post": _operation("create_lamp", status="201", response="LampResponse", requestBody=_body("LampCreate")),
            "get": _operation("list_lamps", status="200", response="LampsResponse", parameters=[_ORDER]),
        },
        "/lamps/{lampId}": {
            "patch": _operation(
                "switch_lamp", status="200", response="Lamp", parameters=[_ID], requestBody=_body("LampUpdate")
            ),
        },
    },
    "components": {
        "securitySchemes": {"bearer": {"type": "http", "scheme": "bearer"}},
        "schemas": {
            "LampKind": {"type": "string", "enum": ["Desk", "Wall"], "x-enum-varnames": ["DESK", "WALL"]},
            "Lamp": _object(id=_TEXT, kind={"$ref": "#/components/schemas/LampKind"}),
            "LampResponse": _object(lamp={"$ref": "#/components/schemas/Lamp"}),
            "LampsResponse": _object(lamps={"type": "array", "items": {"$ref": "#/components/schemas/Lamp"}}),
            "LampCreate": _object(name=_TEXT),
            "LampUpdate": _object(callbackUrl=_TEXT, options=_TEXT),
        },
    },
}


def small_document() -> Document:
    """Return a copy, to be changed."""
    return copy.deepcopy(_DOCUMENT)
