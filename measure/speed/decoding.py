"""Decoding and encoding alone: from bytes to typed objects and back, against msgspec structs, in interleaved rounds.

Run as `python -m measure.speed.decoding` where orjson, msgspec and the stock client can be imported.
"""

import json
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import orjson

from . import limit
from .data import encoded, itwins, make_data, new_objects, objects
from .report import Spread
from .stock import make_stock

PROJECT = Path(__file__).resolve().parents[2]
ROUNDS = 9


def contenders() -> dict[str, dict[str, Callable[[], object]]]:
    """Return for each work what each contender does."""
    make_stock(PROJECT / ".cache" / "stock")
    make_data()
    sys.path.insert(0, str(PROJECT / ".cache" / "stock"))
    import stock_api.models as stock  # made by the line above
    from itwin_platform import ITwin, SceneObject, SceneObjectCreate, _json
    from itwin_platform._transports.decoding.data_types import type_data
    from itwin_platform._transports.decoding.typed_pages import read_typed_itwins, read_typed_objects

    page, scene_page = encoded(itwins()[:100]), encoded(objects()[:100])
    new = new_objects()
    created = [SceneObjectCreate.from_dict(item) for item in new]
    stock_created = [stock.SceneObjectCreate.from_dict(item) for item in new]
    structs = msgspec.json.decode(encoded(new), type=list[Any])
    writer = _json.orjson
    #: The typed reader takes complete pages.
    links = b',"_links":{"self":{"href":"http://127.0.0.1/"}}}'
    itwin_response, scene_response = b'{"iTwins":' + page + links, b'{"objects":' + scene_page + links
    assert read_typed_itwins(itwin_response) is not None
    assert read_typed_objects(scene_response) is not None

    def typed() -> object:
        items = [SceneObject.from_dict(item) for item in json.loads(scene_page)]
        type_data(items)
        return items

    def written(*, fast: bool) -> object:
        _json.orjson = writer if fast else None
        return _json.write_json(created)

    return {
        "decode a full iTwin": {
            "msgspec structs": lambda: msgspec.json.decode(page, type=list[limit.ITwin]),
            "orjson, dicts": lambda: orjson.loads(page),
            "msgspec, dicts": lambda: msgspec.json.decode(page),
            "json, dicts": lambda: json.loads(page),
            "ours, fast": lambda: read_typed_itwins(itwin_response),
            "ours, default": lambda: [ITwin.from_dict(item) for item in json.loads(page)],
            "stock, json": lambda: [stock.ITwin.from_dict(item) for item in json.loads(page)],
        },
        "decode a scene object with View3d data": {
            "msgspec structs": lambda: msgspec.json.decode(scene_page, type=list[limit.SceneObject]),
            "orjson, dicts": lambda: orjson.loads(scene_page),
            "msgspec, dicts": lambda: msgspec.json.decode(scene_page),
            "json, dicts": lambda: json.loads(scene_page),
            "ours, fast": lambda: read_typed_objects(scene_response),
            "ours, default": typed,
            "stock, json": lambda: [stock.SceneObject.from_dict(item) for item in json.loads(scene_page)],
        },
        "encode a scene object with View3d data": {
            "msgspec structs": lambda: msgspec.json.encode(structs),
            "orjson, dicts": lambda: orjson.dumps(new),
            "json, dicts": lambda: json.dumps(new),
            "ours, fast": lambda: written(fast=True),
            "ours, default": lambda: written(fast=False),
            "stock, json": lambda: json.dumps([item.to_dict() for item in stock_created]),
        },
    }


def seconds(call: Callable[[], object]) -> float:
    """Return the processor seconds of one call, the best of a few repeats."""
    best = float("inf")
    for _ in range(5):
        began = time.process_time()
        for _ in range(5):
            call()
        best = min(best, (time.process_time() - began) / 5)
    return best


def lines() -> list[str]:
    """Measure in rounds and return microseconds and ratios for each item."""
    said: list[str] = []
    for work, calls in contenders().items():
        figures: dict[str, list[float]] = {name: [] for name in calls}
        for _ in range(ROUNDS):
            for name, call in calls.items():
                figures[name].append(seconds(call))
        said.append(f"{work}, against msgspec structs: median [quartiles]")
        for name, found in figures.items():
            ratios = Spread.of([one / other for one, other in zip(found, figures["msgspec structs"], strict=True)])
            said.append(f"  {name:<18}{statistics.median(found) / 100 * 1e6:>8.2f} us  {ratios}")
    return said


if __name__ == "__main__":
    print("\n".join(lines()))
