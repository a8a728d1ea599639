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
from .answers import NEW_OBJECTS, encoded, itwins, objects
from .stock import make_stock

PROJECT = Path(__file__).resolve().parents[2]
ROUNDS = 9


def contenders() -> dict[str, dict[str, Callable[[], object]]]:
    """Returns for each work what each contender does."""
    make_stock(PROJECT / ".cache" / "stock")
    sys.path.insert(0, str(PROJECT / ".cache" / "stock"))
    import stock_api.models as stock  # made by the line above
    from itwin_platform import ITwin, SceneObject, SceneObjectCreate
    from itwin_platform._operations.scene_data import type_data

    page, scene_page = encoded(itwins()[:100]), encoded(objects()[:100])
    created = [SceneObjectCreate.from_dict(item) for item in NEW_OBJECTS]
    stock_created = [stock.SceneObjectCreate.from_dict(item) for item in NEW_OBJECTS]
    structs = msgspec.json.decode(encoded(NEW_OBJECTS), type=list[Any])

    def typed(load: Callable[[bytes], Any]) -> object:
        items = [SceneObject.from_dict(item) for item in load(scene_page)]
        type_data(items)
        return items

    return {
        "decode a full iTwin": {
            "msgspec structs": lambda: msgspec.json.decode(page, type=list[limit.ITwin]),
            "orjson, dicts": lambda: orjson.loads(page),
            "json, dicts": lambda: json.loads(page),
            "ours, orjson": lambda: [ITwin.from_dict(item) for item in orjson.loads(page)],
            "ours, json": lambda: [ITwin.from_dict(item) for item in json.loads(page)],
            "stock, json": lambda: [stock.ITwin.from_dict(item) for item in json.loads(page)],
        },
        "decode a scene object with View3d data": {
            "msgspec structs": lambda: msgspec.json.decode(scene_page, type=list[limit.SceneObject]),
            "orjson, dicts": lambda: orjson.loads(scene_page),
            "json, dicts": lambda: json.loads(scene_page),
            "ours, orjson": lambda: typed(orjson.loads),
            "ours, json": lambda: typed(json.loads),
            "stock, json": lambda: [stock.SceneObject.from_dict(item) for item in json.loads(scene_page)],
        },
        "encode a scene object with View3d data": {
            "msgspec structs": lambda: msgspec.json.encode(structs),
            "orjson, dicts": lambda: orjson.dumps(NEW_OBJECTS),
            "json, dicts": lambda: json.dumps(NEW_OBJECTS),
            "ours, orjson": lambda: orjson.dumps([item.to_dict() for item in created]),
            "ours, json": lambda: json.dumps([item.to_dict() for item in created]),
            "stock, json": lambda: json.dumps([item.to_dict() for item in stock_created]),
        },
    }


def seconds(call: Callable[[], object]) -> float:
    """Returns the processor seconds of one call, the best of a few repeats."""
    best = float("inf")
    for _ in range(5):
        began = time.process_time()
        for _ in range(5):
            call()
        best = min(best, (time.process_time() - began) / 5)
    return best


def lines() -> list[str]:
    """Measures in rounds and returns microseconds and ratios for each item."""
    said: list[str] = []
    for work, calls in contenders().items():
        figures: dict[str, list[float]] = {name: [] for name in calls}
        for _ in range(ROUNDS):
            for name, call in calls.items():
                figures[name].append(seconds(call))
        said.append(f"{work}, against msgspec structs: median (least-most)")
        for name, found in figures.items():
            ratios = [one / other for one, other in zip(found, figures["msgspec structs"], strict=True)]
            middle = statistics.median(found) / 100 * 1e6
            spread = f"{statistics.median(ratios):.2f} ({min(ratios):.2f}-{max(ratios):.2f})"
            said.append(f"  {name:<18}{middle:>8.2f} us  {spread}")
    return said


if __name__ == "__main__":
    print("\n".join(lines()))
