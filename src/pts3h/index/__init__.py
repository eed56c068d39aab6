"""Search over binary codes: one contract, and a table of engines that fulfil it."""

from .contract import Hits, Id, Index, Item
from .engines import ENGINES, Engine, engine_of, open_index

__all__ = ["ENGINES", "Engine", "Hits", "Id", "Index", "Item", "engine_of", "open_index"]
