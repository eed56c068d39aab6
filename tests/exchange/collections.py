"""Small indexes to move, and what is in one."""

import json

import numpy as np

from pts3h.index import open_index
from tests.index.oracle import METAS

SUFFIXES = {"parquet": ".parquet", "faiss": ".faiss", "sqlite-vec": ".sqlite", "npy": ".npy"}
HOLD_META = ("parquet", "sqlite-vec")
INTEGERS = [0, 7, -7, 2**63 - 1, -(2**63), 2**53 + 1]
TEXTS = [
    "7",
    "-7",
    "07",
    " 7 ",
    "a b",
    "a\nb",
    "c\rd",
    "d\u2028e",
    '"quoted"',
    '"',
    "ä/ß.jpg",
    "\ufeffx",
    "{}",
]


def ids_of(kind, count):
    """Odd ids first, then plain ones."""
    odd = INTEGERS if kind == "int" else TEXTS
    plain = (1_000 + number if kind == "int" else f"photos/{number:05}.jpg" for number in range(count))
    return [*odd, *plain][:count]


def make_index(address, layout, kind="text", count=60, model="0123456789abcdef", seed=0, **options):
    """An index of random codes, some of them twice, with metadata of every kind."""
    rng = np.random.default_rng(seed)
    codes = np.packbits(rng.random((count, layout.bits)) < 0.5, axis=1)
    codes[count // 2 : count // 2 + 5] = codes[0]
    meta = [METAS[number % len(METAS)] for number in range(count)]
    parts = {"look_bits": layout.look, "weight": layout.weight}
    with open_index(address, layout.meaning, **parts, model=model, **options) as index:
        index.add(ids_of(kind, count), codes, meta)
    return address


def contents(address, **options):
    """Everything an index holds, such that 1, 1.0 and true are three things."""
    with open_index(address, read_only=True, **options) as index:
        ids = [one for some, _ in index.scan() for one in some]
        items = {repr(item.id): (item.code.tobytes(), json.dumps(item.meta)) for item in index.get(ids)}
        return index.layout, index.model, items


def without_meta(held):
    layout, model, items = held
    return layout, model, {one: (code, "{}") for one, (code, _) in items.items()}
