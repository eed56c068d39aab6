"""Codes of two parts elsewhere: where the distance by both can be had exactly, what plain Hamming means."""

import duckdb
import faiss
import numpy as np
import pytest
from qdrant_client import QdrantClient, models

import pts3h
from pts3h.codes import Layout
from tests.exchange.targets import QUERIES, K, planted

LAYOUT = Layout(40, 24, 3)


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    codes, queries = planted(LAYOUT.bits, seed=1)
    address = tmp_path_factory.mktemp("parts") / "a.index"
    with pts3h.open_index(address, LAYOUT.meaning, look_bits=LAYOUT.look, weight=LAYOUT.weight) as index:
        index.add(range(len(codes)), codes)
        expected = {
            by: [list(hits) for hits in index.search(queries, K, by=by)] for by in ("meaning", "look", "both")
        }
    return address, codes, queries, expected


@pytest.mark.parametrize(("by", "weights"), [("both", (3, 1)), ("meaning", (1, 0)), ("look", (0, 1))])
def test_duckdb_weighs_both_parts(world, tmp_path, by, weights):
    address, _, queries, expected = world
    pts3h.export_index(address, tmp_path / "a.parquet")
    look = "bit_count(xor(code::BIT, $query::BLOB::BIT) & $look::BLOB::BIT)"
    meaning = "bit_count(xor(code::BIT, $query::BLOB::BIT) & $meaning::BLOB::BIT)"
    masks = {"meaning": LAYOUT.mask.tobytes(), "look": (~LAYOUT.mask).tobytes()}
    with duckdb.connect() as database:
        database.execute(f"CREATE TABLE items AS FROM '{tmp_path / 'a.parquet'}'")
        nearest = (
            f"SELECT id, {weights[0]} * {meaning} + {weights[1]} * {look} AS distance FROM items "
            "ORDER BY distance, id LIMIT $k"
        )
        found = [
            database.execute(nearest, {"query": query.tobytes(), "k": K, **masks}).fetchall()
            for query in queries
        ]
    assert found == expected[by]


@pytest.mark.parametrize(("by", "weights"), [("both", (3, 1)), ("meaning", (1, 0)), ("look", (0, 1))])
def test_qdrant_weighs_the_query(world, by, weights):
    """What is stored stays +1 and -1; the query alone says how much each part counts."""
    _, codes, queries, expected = world
    client = QdrantClient(":memory:")
    params = models.VectorParams(size=LAYOUT.bits, distance=models.Distance.DOT)
    client.create_collection("items", vectors_config=params)
    signs = pts3h.unpack(codes, LAYOUT.bits).astype(np.float32)
    client.upsert("items", models.Batch(ids=list(range(len(codes))), vectors=signs.tolist()))
    weight = np.repeat(weights, [LAYOUT.meaning, LAYOUT.look]).astype(np.float32)
    far = []
    for query in pts3h.unpack(queries, LAYOUT.bits) * weight:
        points = client.query_points("items", query=query.tolist(), limit=K).points
        far.append([(weight.sum() - point.score) / 2 for point in points])
    assert far == [[distance for _, distance in hits] for hits in expected[by]]
    client.close()


def test_plain_hamming_is_both_with_weight_1(world, tmp_path):
    address, codes, queries, _ = world
    pts3h.export_index(address, tmp_path / "a.faiss")
    far, _ = faiss.read_index_binary(str(tmp_path / "a.faiss")).search(queries, K)
    with pts3h.open_index(tmp_path / "even.index", LAYOUT.meaning, look_bits=LAYOUT.look, weight=1) as index:
        index.add(range(len(codes)), codes)
        expected = [hits.distances for hits in index.search(queries, K)]
    assert far.tolist() == expected and len(expected) == QUERIES


def test_meaning_alone_is_the_first_bytes(world):
    """Where the number of learned bits is a multiple of 8."""
    _, codes, queries, expected = world
    index = faiss.IndexBinaryFlat(LAYOUT.meaning)
    index.add(np.ascontiguousarray(codes[:, : LAYOUT.meaning // 8]))
    far, _ = index.search(np.ascontiguousarray(queries[:, : LAYOUT.meaning // 8]), K)
    assert far.tolist() == [[distance for _, distance in hits] for hits in expected["meaning"]]
