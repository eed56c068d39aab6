"""Vectors for codes of two parts: plain Hamming distance between them is every distance of the codes."""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pts3h.codes import Layout, distances, hamming
from pts3h.index.held import Held
from pts3h.index.milvus.vectors import Vectors

layouts = st.builds(Layout, st.integers(1, 70), st.integers(1, 70), st.integers(1, 16))


def some_codes(layout, seed, n=5):
    return np.packbits(np.random.default_rng(seed).random((n, layout.bits)) < 0.5, axis=1)


@given(layouts, st.integers(0, 2**32 - 1))
def test_one_vector_serves_every_distance(layout, seed):
    codes, queries = some_codes(layout, seed), some_codes(layout, seed + 1, 3)
    vectors = Vectors(layout)
    stored = vectors.stored(codes)
    assert stored.shape[1] * 8 == vectors.dimension
    for by in ("meaning", "look", "both"):
        scale = vectors.scale(by)
        found, near = hamming(vectors.asked(queries, by), stored), distances(queries, codes, layout, by)
        assert found.tolist() == [[scale.of_vectors(d) for d in row] for row in near.tolist()]
        assert [[scale.of_codes(d) for d in row] for row in found.tolist()] == near.tolist()


@given(st.one_of(layouts, st.builds(Layout, st.integers(1, 70))), st.integers(0, 2**32 - 1))
def test_a_vector_gives_its_code_back(layout, seed):
    codes = some_codes(layout, seed)
    vectors = Vectors(layout)
    for code, vector in zip(codes, vectors.stored(codes), strict=True):
        np.testing.assert_array_equal(vectors.code(vector.tobytes()), code)


@pytest.mark.parametrize("by", ["meaning", "both"])
def test_a_plain_code_is_its_own_vector(by):
    vectors, codes = Vectors(Layout(12)), some_codes(Layout(12), 0)
    assert vectors.dimension == 16 and vectors.scale(by).of_vectors(7) == vectors.scale(by).of_codes(7) == 7
    np.testing.assert_array_equal(vectors.stored(codes), codes)
    np.testing.assert_array_equal(vectors.asked(codes, by), codes)


def test_plain_collections_are_described_as_ever():
    before = '{"bits": 64, "model": "m", "ids": "int", "pts3h": 1}'
    assert Held(**json.loads(before)).layout == Layout(64)
    assert Held.of(Layout(64), "m", "int").described() == before
    described = Held.of(Layout(64, 32, 3), "m", "int").described()
    assert Held(**json.loads(described)).layout == Layout(64, 32, 3)
