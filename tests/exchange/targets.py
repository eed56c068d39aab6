"""What a search elsewhere must find: the distances of brute force, each with an item that is that far away.

Other programs break ties as they like, so ids may differ from ours where distances are equal, and there only.
"""

import numpy as np

QUERIES, ITEMS, K = 200, 1_500, 12


def planted(bits, seed=0):
    """Codes with many duplicates and near-duplicates, and queries near them: packed by hand, not by pts3h."""
    rng = np.random.default_rng(seed)
    signs = rng.random((ITEMS, bits)) < 0.5
    signs[500:900] = signs[rng.integers(0, 40, 400)]
    near = rng.integers(0, ITEMS, 300)
    signs[900:1200] = signs[near] ^ (rng.random((300, bits)) < 0.03)
    asked = signs[rng.integers(0, ITEMS, QUERIES)] ^ (rng.random((QUERIES, bits)) < 0.05)
    asked[:40] = signs[:40]
    return by_hand(signs), by_hand(asked)


def by_hand(signs):
    """Bit 0 is the most significant bit of byte 0; the last byte is padded with zeros."""
    padding = -signs.shape[1] % 8
    whole = np.pad(signs, ((0, 0), (0, padding))).reshape(len(signs), -1, 8)
    return (whole * (128 >> np.arange(8))).sum(axis=2).astype(np.uint8)


def distances(queries, codes):
    """All of them, one bit at a time."""
    return (np.unpackbits(queries, axis=1)[:, None] != np.unpackbits(codes, axis=1)[None]).sum(axis=2)


def check(found, expected, ids):
    """``found``: of each query, (id, distance) in order. ``expected``: (queries, items) distances."""
    assert len(found) == len(expected)
    place = {one: number for number, one in enumerate(ids)}
    for hits, row in zip(found, expected, strict=True):
        assert len({one for one, _ in hits}) == len(hits) == K
        assert [distance for _, distance in hits] == sorted(row)[:K]
        assert all(row[place[one]] == distance for one, distance in hits)
