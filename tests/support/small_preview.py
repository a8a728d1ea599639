"""A document of its own with a wrapper of its own, so that what a change breaks can be shown on no live operation."""

import copy
from pathlib import Path
from typing import Any

Document = dict[str, Any]

_ID = {"name": "lampId", "in": "path", "required": True, "schema": {"type": "string"}}
_ORDER = {"name": "orderBy", "in": "query", "schema": {"type": "string"}}


def _body(name: str) -> Document:
    return {"content": {"application/json": {"schema": {"$ref": f"#/components/schemas/{name}"}}}}


def _operation(name: str, *, status: str, response: str, **others: object) -> Document:
    responses = {status: {"description": "It went well.", **_body(response)}}
    return {"operationId": name, "tags": ["lamps"], "security": [{"bearer": []}], "responses": responses, **others}


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

_WRAPPER = {
    "_api.py": """
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from itwin_platform_api.api.lamps import create_lamp as create_lamp, list_lamps as list_lamps
    from itwin_platform_api.api.lamps import switch_lamp as switch_lamp
    from itwin_platform_api.models import LampCreate as LampCreate, LampKind as LampKind, LampUpdate as LampUpdate
else:
    _TAGS = {"create_lamp": "lamps", "list_lamps": "lamps", "switch_lamp": "lamps"}
""",
    "__init__.py": "from ._api import LampKind as LampKind\n",
    "_client.py": """
class PlatformClient:
    def __init__(self):
        self.lamps = Lamps()
""",
    "_operations/lamps.py": """
from .._api import LampCreate, LampUpdate, create_lamp, list_lamps, switch_lamp


class Lamps:
    def create(self, *, name):
        response = self.send(create_lamp.build_request(body=LampCreate(name=name)))
        return create_lamp.parse_response(response).lamp

    def list(self, *, order_by):
        return self.send(list_lamps.build_request(order_by=order_by))

    def switch(self, lamp_id, *, callback_url, options):
        body = LampUpdate(callback_url=callback_url)
        body["options"] = options
        return self.send(switch_lamp.build_request(lamp_id, body=body))
""",
}


def small_document() -> Document:
    """Return a copy, to be changed."""
    return copy.deepcopy(_DOCUMENT)


def write_wrapper(folder: Path) -> Path:
    """Write the wrapper to a folder, and return the folder."""
    for name, text in _WRAPPER.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text.lstrip(), encoding="utf-8")
    return folder
