"""Retrieval metrics for codes, aware of ties.

Ranking is by distance of codes, which has few levels, so most items are tied. Every figure is by default the
expectation over random orders within ties; ``order="stable"`` breaks ties by database order, as many
implementations do, and "optimistic" and "pessimistic" are the bounds. It all follows from two histograms per
query: how many items, and how many relevant ones, at each distance.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .codes import DEFAULT_WEIGHT, By, Codes, Layout, check_codes, distances
from .errors import UserError
from .kernel import histograms

Order = Literal["expected", "stable", "optimistic", "pessimistic"]
Counts = NDArray[np.int64]
Floats = NDArray[np.float64]
STRIP = 64  # queries at a time, so that memory stays linear in the database


@dataclass(frozen=True)
class Report:
    """Retrieval figures of a set of queries.

    Attributes:
        items: (q, largest + 1) items at each distance.
        relevant: (q, largest + 1) relevant items at each distance.
        order: how ties are broken.
        ranked: with ``order="stable"`` (q, n) relevance in rank order, else None.
    """

    items: Counts
    relevant: Counts
    order: Order
    ranked: NDArray[np.bool_] | None = None

    @property
    def map(self) -> float:
        """Mean average precision over all ranks."""
        return float(self.average_precisions().mean())

    def map_at(self, k: int) -> float:
        """Mean average precision over the first ``k`` ranks; divided by the relevant items among them."""
        return float(self.average_precisions(k).mean())

    def average_precisions(self, k: int | None = None) -> Floats:
        """(q,) average precision of each query; 0 for one without a relevant item in ``k`` ranks."""
        total = int(self.items[0].sum())
        k = total if k is None else min(check_rank(k), total)
        if self.ranked is not None:
            return ranked_average_precision(self.ranked[:, :k])
        if self.order == "expected":
            return expected_average_precision(self.items, self.relevant, k)
        return bound_average_precision(self.items, self.relevant, k, best=self.order == "optimistic")

    def without_self(self) -> "Report":
        """The same where the queries are the database, in its order, and nobody is to find itself."""
        if self.ranked is not None:
            raise UserError("a stable order ranks each query beside itself: leave out order")
        itself = np.eye(1, self.items.shape[1], dtype=np.int64)  # at distance 0, and relevant
        return replace(self, items=self.items - itself, relevant=self.relevant - itself)

    def precision_within(self, radius: int = 2) -> float:
        """Relevant share of what lies within a radius, mean over queries; 0 where nothing does."""
        if radius < 0:
            raise UserError(f"a radius is 0 or more, got {radius}")
        returned = self.items[:, : radius + 1].sum(axis=1)
        found = self.relevant[:, : radius + 1].sum(axis=1)
        return float((found / np.maximum(returned, 1)).mean())

    def precision_at(self, ranks: int | Sequence[int]) -> Floats:
        """Relevant share of the first k ranks, for each k; mean over queries."""
        counts = np.atleast_1d(np.asarray(ranks))
        return np.array([self._found_in_first(check_rank(int(k))).mean() / k for k in counts])

    def recall_at(self, ranks: int | Sequence[int]) -> Floats:
        """Share of the relevant items found in the first k ranks, for each k; mean over queries."""
        everything = np.maximum(self.relevant.sum(axis=1), 1)
        counts = np.atleast_1d(np.asarray(ranks))
        return np.array([(self._found_in_first(check_rank(int(k))) / everything).mean() for k in counts])

    def pr_curve(self) -> tuple[Floats, Floats]:
        """Recall and precision within each radius, mean over queries (precision: those with any)."""
        returned, found = self.items.cumsum(axis=1), self.relevant.cumsum(axis=1)
        recall = (found / np.maximum(self.relevant.sum(axis=1, keepdims=True), 1)).mean(axis=0)
        some = returned > 0
        precision = np.where(some, found / np.maximum(returned, 1), 0).sum(axis=0) / np.maximum(
            some.sum(axis=0), 1
        )
        return recall, precision

    def _found_in_first(self, k: int) -> Floats:
        """(q,) relevant items in the first ``k`` ranks."""
        if self.ranked is not None:
            return np.asarray(self.ranked[:, :k].sum(axis=1), float)
        if self.order == "expected":
            return np.asarray(expected_relevant(self.items, self.relevant, k).sum(axis=1))
        taken = taken_of_each_group(self.items, k)
        if self.order == "optimistic":
            return np.asarray(np.minimum(taken, self.relevant).sum(axis=1), float)
        return np.asarray(np.maximum(taken - (self.items - self.relevant), 0).sum(axis=1), float)

    def summary(self, *, map_at: int | None = None) -> dict[str, float]:
        """The figures most tables show."""
        figures = {"map": self.map, "precision_within_2": self.precision_within(2)}
        if map_at:
            figures[f"map_at_{map_at}"] = self.map_at(map_at)
        for k in (100, 1000):
            if k <= self.items[0].sum():
                figures[f"precision_at_{k}"] = float(self.precision_at(k)[0])
        return figures


def evaluate(
    query_codes: ArrayLike,
    database_codes: ArrayLike,
    relevant: ArrayLike | None = None,
    *,
    bits: int,
    look_bits: int = 0,
    weight: int = DEFAULT_WEIGHT,
    by: By = "both",
    labels: tuple[ArrayLike, ArrayLike] | None = None,
    order: Order = "expected",
) -> Report:
    """Compare queries with a database.

    Args:
        query_codes: (q, bytes) packed codes.
        database_codes: (n, bytes) packed codes.
        relevant: (q, n) bool, which database items each query should find.
        bits: number of learned bits.
        look_bits: number of look bits behind them, if the codes have any.
        weight: how much a learned bit counts beside a look bit.
        by: which bits count: "meaning", "look" or "both". Radii are in distances of this kind.
        labels: instead of ``relevant``: labels of queries and of the database, class numbers or rows of 0/1;
            an item is relevant where it shares a class with the query.
        order: how ties are broken: "expected", "stable", "optimistic" or "pessimistic".
    """
    layout = Layout(bits, look_bits, weight)
    queries, database = check_codes(query_codes, layout.bits), check_codes(database_codes, layout.bits)
    if queries.ndim != 2 or database.ndim != 2 or not len(queries) or not len(database):
        raise UserError(
            f"evaluate needs codes of queries and of a database, got {queries.shape}, {database.shape}"
        )
    if order not in get_args(Order):
        raise UserError(f"order must be one of {', '.join(get_args(Order))}, got {order!r}")
    matrix = None if relevant is None else as_flags(relevant)
    classes = None if labels is None else (refuse_unknown(labels[0]), refuse_unknown(labels[1]))
    items, found = histograms(queries, database, layout, by=by, relevant=matrix, labels=classes)
    ranked = None
    if order == "stable":
        ranked = stable_ranking(queries, database, layout, by, matrix, classes)
    return Report(items, found, order, ranked)


def as_flags(relevant: ArrayLike) -> NDArray[np.bool_]:
    """Relevance as booleans, also where it was given as 0 and 1."""
    flags = np.asarray(relevant)
    if flags.dtype.kind not in "biu":
        raise UserError(f"relevant must be a matrix of booleans, got {flags.dtype}")
    return flags.astype(bool, copy=False)


def refuse_unknown(labels: ArrayLike) -> NDArray[np.int64]:
    """Labels, refused where one is unknown: two unknown items are not alike for that."""
    labels = np.asarray(labels)
    if labels.dtype.kind in "if" and labels.size and labels.min() < 0:
        raise UserError("some labels are negative (unknown): evaluate only items whose labels are known")
    return labels


def stable_ranking(
    queries: Codes,
    database: Codes,
    layout: Layout,
    by: By,
    matrix: NDArray[np.bool_] | None,
    labels: tuple[NDArray[np.int64], NDArray[np.int64]] | None,
) -> NDArray[np.bool_]:
    """(q, n) relevance of each query's items, ranked by (distance, database order)."""
    ranked = np.empty((len(queries), len(database)), bool)
    for start in range(0, len(queries), STRIP):
        chosen = slice(start, start + STRIP)
        order = np.argsort(distances(queries[chosen], database, layout, by), axis=1, kind="stable")
        ranked[chosen] = np.take_along_axis(relevance_of(chosen, matrix, labels), order, axis=1)
    return ranked


def relevance_of(
    chosen: slice,
    matrix: NDArray[np.bool_] | None,
    labels: tuple[NDArray[np.int64], NDArray[np.int64]] | None,
) -> NDArray[np.bool_]:
    """(rows, n) relevance for some queries."""
    if labels is None:
        assert matrix is not None
        return matrix[chosen]
    queries, database = labels
    if queries.ndim == 1:
        return np.asarray(queries[chosen, None] == database[None, :])
    return queries[chosen].astype(np.float32) @ database.T.astype(np.float32) > 0


def ranked_average_precision(ranked: NDArray[np.bool_]) -> Floats:
    """(q, k) relevance in rank order → (q,) average precision."""
    found = ranked.cumsum(axis=1)
    precision = found / np.arange(1, ranked.shape[1] + 1)
    return np.asarray((precision * ranked).sum(axis=1) / np.maximum(found[:, -1], 1))


def taken_of_each_group(items: Counts, k: int) -> Counts:
    """How many of each tie group are in the first ``k`` ranks."""
    before = items.cumsum(axis=1) - items
    return np.clip(k - before, 0, items)


def expected_relevant(items: Counts, relevant: Counts, k: int) -> Floats:
    """Expected number of relevant items of each tie group in the first ``k`` ranks."""
    return taken_of_each_group(items, k) * (relevant / np.maximum(items, 1))


def expected_average_precision(items: Counts, relevant: Counts, k: int) -> Floats:
    """(q,) average precision expected over random orders within ties, in closed form.

    Rank N + t of a group of n items with r relevant ones, after N items with R relevant ones, is relevant
    with probability r / n, and then R + 1 + (t - 1) c relevant items stand up to it, c = (r - 1) / (n - 1).
    Summed over t = 1..m, with H the harmonic numbers: (r / n) [c m + (R + 1 - c (N + 1)) (H[N + m] - H[N])].
    """
    before, relevant_before = items.cumsum(axis=1) - items, relevant.cumsum(axis=1) - relevant
    taken = taken_of_each_group(items, k)
    harmonic = np.concatenate([[0.0], np.cumsum(1.0 / np.arange(1, items[0].sum() + 1))])
    share = relevant / np.maximum(items, 1)
    slope = np.where(items > 1, (relevant - 1) / np.maximum(items - 1, 1), 0.0)
    ranks = harmonic[before + taken] - harmonic[before]
    gain = share * (slope * taken + (relevant_before + 1 - slope * (before + 1)) * ranks)
    expected = (share * taken).sum(axis=1)
    return np.where(
        expected > 0, np.where(taken > 0, gain, 0).sum(axis=1) / np.where(expected > 0, expected, 1), 0.0
    )


def bound_average_precision(items: Counts, relevant: Counts, k: int, *, best: bool) -> Floats:
    """(q,) average precision with the relevant items first (best) or last in each tie group."""
    result = np.empty(len(items))
    for row, (counts, hits) in enumerate(zip(items, relevant, strict=True)):
        blocks = np.stack([hits, counts - hits] if best else [counts - hits, hits], axis=1).ravel()
        flags = np.tile([best, not best], len(counts))
        ranked = np.repeat(flags, blocks)[:k]
        result[row] = ranked_average_precision(ranked[None])[0]
    return result


def check_rank(k: int) -> int:
    """A rank to cut at, 1 or more."""
    if k < 1:
        raise UserError(f"a cut-off rank is 1 or more, got {k}")
    return k
