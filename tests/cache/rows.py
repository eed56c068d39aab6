"""Rows with keys, for the tests of the cache."""

import hashlib

import numpy as np

PARTS, WIDTH = 2, 8


def keys(count, first=0):
    """Different keys, the same for the same numbers."""
    return [hashlib.sha256(str(number).encode()).digest() for number in range(first, first + count)]


def rows(count, first=0):
    """Rows that tell which key they belong to."""
    numbers = np.arange(first, first + count, dtype=np.float16)
    return np.broadcast_to(numbers[:, None, None], (count, PARTS, WIDTH)) + np.arange(WIDTH, dtype=np.float16)
