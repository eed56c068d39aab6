"""Codes at known distances, and rankings by plain loops, for tests of the metrics."""

import numpy as np

from pts3h import pack

BITS = 3  # four distances, so that ties abound


def codes_at(distances, bits=BITS):
    """Codes at given distances of the all-negative code."""
    signs = np.full((len(distances), bits), -1)
    for row, distance in enumerate(distances):
        signs[row, :distance] = 1
    return pack(signs)


QUERY = codes_at([0])


def labelled_codes():
    """Random codes of 70 queries and 500 items, and their labels."""
    rng = np.random.default_rng(1)
    queries, database = (pack(rng.choice([-1, 1], size=(n, 16))) for n in (70, 500))
    yq, yd = rng.integers(5, size=70), rng.integers(5, size=500)
    return queries, database, yq, yd


def argsort_loop(queries, database, relevant, k):
    """The plain loop of the field, without its mistakes: rank 1 and the last rank count."""
    a, b = (np.unpackbits(codes, axis=1).astype(int) for codes in (queries, database))
    scores, precision = [], []
    for code, wanted in zip(a, relevant, strict=True):
        order = np.argsort((code != b).sum(axis=1), kind="stable")
        ranked = wanted[order][:k]
        ranks = np.flatnonzero(ranked) + 1
        scores.append(np.mean(np.arange(1, len(ranks) + 1) / ranks) if len(ranks) else 0.0)
        precision.append(ranked.mean())
    return np.mean(scores), np.mean(precision)


def two_parts(meaning, look, weight):
    """Codes of queries and a database, their labels, and their distances counted bit by bit."""
    rng = np.random.default_rng(meaning)
    a, b = (rng.random((n, meaning + look)) < 0.3 for n in (7, 90))
    differ = a[:, None] != b[None]
    by_meaning, by_look = differ[..., :meaning].sum(2), differ[..., meaning:].sum(2)
    distances = {"meaning": by_meaning, "look": by_look, "both": weight * by_meaning + by_look}
    return (
        np.packbits(a, axis=1),
        np.packbits(b, axis=1),
        rng.integers(3, size=7),
        rng.integers(3, size=90),
        distances,
    )
