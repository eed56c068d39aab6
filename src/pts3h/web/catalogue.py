"""The items in the order of their names, for the gallery: all, those that a filter passes, or by name."""

import json
import threading
import time
from collections import OrderedDict
from typing import Any

import numpy as np

from ..codes import code_bytes
from ..index.contract import Index
from .collection import Served
from .errors import refusing

KEPT = 16  # lists
SECONDS = 60.0  # after which a list is made anew, if someone asks: as many may have gone as have come


class Catalogue:
    """Lists of ids, kept for as long as the index has as many items."""

    def __init__(self) -> None:
        self._lists = OrderedDict[tuple[int, str], tuple[int, float, list[Any]]]()
        self._lock = threading.Lock()  # one list is made at a time

    def ids(self, served: Served, where: dict[str, Any] | None = None, names: str = "") -> list[Any]:
        """The ids of the items that pass ``where`` and whose names hold ``names``, in order."""
        found = self._list(served, where)
        if not names:
            return found
        wanted = names.casefold()
        return [one for one in found if wanted in str(one).casefold()]

    def _list(self, served: Served, where: dict[str, Any] | None) -> list[Any]:
        key = served.generation, json.dumps(where, sort_keys=True)
        with self._lock:
            count, now = served.index.count, time.monotonic()
            held = self._lists.get(key)
            if held is None or held[0] != count or now - held[1] > SECONDS:
                ids = every_id(served.index) if where is None else passing(served.index, where)
                held = self._lists[key] = count, now, ids
                while len(self._lists) > KEPT:
                    self._lists.popitem(last=False)
            self._lists.move_to_end(key)
            return held[2]


def every_id(index: Index) -> list[Any]:
    """All ids in order."""
    return sorted(one for ids, _ in index.scan() for one in ids)


def passing(index: Index, where: dict[str, Any]) -> list[Any]:
    """The ids of all items that pass a filter, in order: no item is farther than the largest distance."""
    any_code = np.zeros(code_bytes(index.bits), np.uint8)
    with refusing():
        (hits,) = index.within(any_code, index.layout.farthest(), where)
    return sorted(hits.ids)
