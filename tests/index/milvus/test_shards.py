"""Shards into a collection: what items make of it, and again nothing new."""

import numpy as np
import pytest

from pts3h.data.items import read_items
from pts3h.exchange.shards import read_shards
from pts3h.indexing import index_items
from pts3h.spread.into_index import index_shards
from pts3h.spread.job import HERE, encode_on
from pts3h.util.places import Place
from tests.spread.conftest import vector_model  # noqa: F401  (fixture)
from tests.spread.sources import vectors

pytestmark = pytest.mark.milvus


def held(index):
    return {item.id: (item.code.tobytes(), item.meta) for ids, _ in index.scan() for item in index.get(ids)}


def test_shards_make_the_collection_that_items_make(milvus, tmp_path, vector_model):  # noqa: F811
    folder, model = vector_model
    np.save(tmp_path / "v.npy", vectors(230))
    encode_on(HERE, folder, tmp_path / "v.npy", tmp_path / "codes", size=50)
    parts = {"look_bits": model.layout.look, "weight": model.layout.weight, "model": model.fingerprint}
    options = {"bits": model.layout.meaning, "consistency": "session", **parts}
    with milvus.open(milvus.address(), **options) as by_items:
        index_items(model, read_items(tmp_path / "v.npy"), by_items)
        expected = held(by_items)
    with milvus.open(milvus.address(), **options) as by_shards:
        first = index_shards(read_shards(Place(tmp_path / "codes")), by_shards)
        again = index_shards(read_shards(Place(tmp_path / "codes")), by_shards)
        assert (first.added, again.unchanged, by_shards.count) == (230, 230, 230)
        assert held(by_shards) == expected
