"""The contract of an index in a dict and a loop, and what the suites feed to it."""

import numpy as np

from pts3h.index.filters import matches, parse_where

# Every operator, missing keys, null, lists and values of another kind under the same key.
METAS = [
    {"colour": "red", "price": 3, "new": True},
    {"colour": "red", "price": 7.5, "new": False},
    {"colour": "blue", "price": 100},
    {"colour": "Blue", "price": -2, "ü key": "ß"},
    {"colour": 3, "price": "7"},
    {"colour": None, "price": True},
    {"colour": ["red"], "price": {"<": 5}},
    {"new": 1},
    {"new": 0.0, "price": 3.0},
    {"colour": "it's; DROP TABLE items --", "price": 2**53 - 1},
    {"colour": "", "price": 0},
    {},
]
WHERES = [
    {"colour": "red"},
    {"colour": {"!=": "red"}},
    {"not": {"colour": "red"}},
    {"colour": {"in": ["red", "blue", 3]}},
    {"colour": {"in": []}},
    {"colour": {">": "a", "<=": "blue"}},
    {"colour": {"<": "a"}},
    {"colour": "it's; DROP TABLE items --"},
    {"colour": ""},
    {"ü key": "ß"},
    {"price": 3},
    {"price": 3.0},
    {"price": {">=": 3, "<": 100}},
    {"price": {">": 3}},
    {"price": {"<": 0.5}},
    {"price": {"in": [3, "7", True]}},
    {"new": True},
    {"new": 1},
    {"new": 0},
    {"new": {"!=": False}},
    {"colour": "red", "price": {"<": 5}},
    {"or": [{"colour": "blue"}, {"price": {"<": 0}}]},
    {"and": [{"colour": "red"}, {"not": {"price": 3}}]},
    {"not": {"or": [{"colour": "red"}, {"not": {"price": {">": -100}}}]}},
    {"nobody has this": 1},
]


def random_codes(rng, n, bits, spread=None):
    """n packed codes; with ``spread``, each flips a few bits of one code, so that distances tie."""
    if spread is None:
        signs = rng.random((n, bits)) < 0.5
    else:
        signs = (rng.random((1, bits)) < 0.5) ^ (rng.random((n, bits)) < spread)
    return np.packbits(signs, axis=-1)


class Oracle:
    """The contract in a dict and a loop."""

    def __init__(self, meaning=None, weight=1):
        self.items = {}
        self.meaning, self.weight = meaning, weight

    def add(self, ids, codes, meta=None):
        for row, key in enumerate(ids):
            self.items[key] = (codes[row], (meta[row] or {}) if meta else {})

    def remove(self, ids):
        for key in ids:
            self.items.pop(key, None)

    def distance(self, code, query, by):
        differ = np.unpackbits(code ^ query)
        meaning, look = int(differ[: self.meaning].sum()), int(differ[self.meaning :].sum())
        if self.meaning is None:
            return meaning
        return {"meaning": meaning, "look": look, "both": self.weight * meaning + look}[by]

    def ranked(self, query, where=None, by="both"):
        tree = parse_where(where)
        return sorted(
            (self.distance(code, query, by), key)
            for key, (code, meta) in self.items.items()
            if tree is None or matches(tree, meta)
        )

    def search(self, queries, k, where=None, by="both"):
        return [self.ranked(query, where, by)[:k] for query in queries]

    def within(self, queries, radius, where=None, by="both"):
        return [[hit for hit in self.ranked(query, where, by) if hit[0] <= radius] for query in queries]


def as_pairs(hits):
    return [list(zip(one.distances, one.ids, strict=True)) for one in hits]


def assert_same(index, oracle, queries, largest, where=None, by="both"):
    for k in (1, 5, len(oracle.items) + 3):
        found = index.search(queries, k=k, where=where, by=by)
        assert as_pairs(found) == oracle.search(queries, k, where, by)
    for radius in (0, min(2, largest), largest // 4, largest // 2, largest):
        found = index.within(queries, radius, where=where, by=by)
        near = oracle.within(queries, radius, where, by)
        assert as_pairs(found) == near
        for k in (1, 5):
            found = index.search(queries, k, where, by=by, radius=radius)
            assert as_pairs(found) == [hits[:k] for hits in near]
