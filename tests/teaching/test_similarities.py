"""Coordinates along the graph: neighbours are alike, and those who must take part do."""

import numpy as np

from pts3h.teaching import similarities
from pts3h.teaching.similarities import along_graph
from tests.teaching.worlds import blobs


def test_items_of_a_cluster_are_alike():
    _, rows, kind_of = blobs(120, 3)
    places, found = along_graph(rows)
    kinds = np.array(list(kind_of.values()))
    assert places.tolist() == list(range(120))
    np.testing.assert_allclose(np.linalg.norm(found, axis=1), 1, rtol=1e-5)
    cosines, same = found @ found.T, kinds[:, None] == kinds
    assert cosines[same].min() > cosines[~same].max()


def test_of_many_items_some_take_part(monkeypatch):
    monkeypatch.setattr(similarities, "FARTHEST", 40)
    _, rows, _ = blobs(120, 3)
    places, found = along_graph(rows, also=[119, 3])
    assert len(places) == len(found) == 40
    assert {3, 119} <= set(places.tolist()) and places.tolist() == sorted(places)
