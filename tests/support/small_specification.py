"""A specification with one operation that has a part of each kind, for what compares two specifications."""

import copy
from typing import Any

Node = dict[str, Any]


def small_document() -> Node:
    """A document with one operation that has a part of each kind."""
    thing = {
        "type": "object",
        "required": ["id", "color"],
        "properties": {
            "id": {"type": "string", "maxLength": 10},
            "color": {"$ref": "#/components/schemas/Color"},
            "note": {"oneOf": [{"type": "string"}, {"type": "null"}]},
            "made": {"type": "string", "format": "date-time"},
            "parts": {"type": "array", "maxItems": 5, "items": {"type": "string"}},
        },
    }
    error = {"code": "ThingExists", "details": [{"code": "InvalidValue", "target": "id"}]}
    shown = {"application/json": {"examples": {"exists": {"value": {"error": error}}}}}
    return {
        "paths": {
            "/things": {
                "post": {
                    "operationId": "create_thing",
                    "tags": ["things"],
                    "description": "Creates.",
                    "parameters": [
                        {"name": "$top", "in": "query", "schema": {"type": "integer", "maximum": 100, "x-default": 10}},
                        {"name": "Accept", "in": "header", "required": True, "schema": {"default": "v1"}},
                    ],
                    "requestBody": {"x-max-body-bytes": 1000, "content": {"json": {"schema": ref("ThingCreate")}}},
                    "responses": {
                        "201": {"headers": {"X-Count": {}}, "content": {"json": {"schema": ref("Thing")}}},
                        "409": {"content": shown},
                    },
                }
            }
        },
        "components": {
            "schemas": {
                "Thing": thing,
                "ThingCreate": copy.deepcopy(thing),
                "Color": {"type": "string", "enum": ["red", "blue"], "x-enum-varnames": ["RED", "BLUE"]},
            }
        },
    }


def ref(name: str) -> Node:
    """A reference to a schema."""
    return {"$ref": f"#/components/schemas/{name}"}
