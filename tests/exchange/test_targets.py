"""Each target searches what was exported, with its own engine: 200 queries, equal to brute force."""

import apsw
import duckdb
import faiss
import numpy as np
import pyarrow.parquet
import pytest
import sqlite_vec
from qdrant_client import QdrantClient, models

import pts3h
from tests.exchange.targets import K, check, distances, planted

IDS = {"int": [3 * number + 1 for number in range(1_500)], "text": [f"p/{n}.jpg" for n in range(1_500)]}


@pytest.fixture(params=[("int", 64), ("text", 64), ("int", 12)], ids=lambda given: f"{given[0]} {given[1]}")
def world(request, tmp_path):
    """An index, its ids, queries, and their distances by brute force."""
    kind, bits = request.param
    codes, queries = planted(bits)
    with pts3h.open_index(tmp_path / "a.index", bits) as index:
        index.add(IDS[kind], codes)
    return tmp_path / "a.index", IDS[kind], queries, distances(queries, codes)


def test_the_kernel_agrees(world):
    address, ids, queries, expected = world
    with pts3h.open_index(address) as index:
        found = [list(hits) for hits in index.search(queries, K)]
    check(found, expected, ids)


def test_faiss(world, tmp_path):
    address, ids, queries, expected = world
    pts3h.export_index(address, tmp_path / "a.faiss")
    index = faiss.read_index_binary(str(tmp_path / "a.faiss"))
    assert isinstance(index, faiss.IndexBinaryIDMap2)
    far, numbers = index.search(queries, K)
    names = ids
    if isinstance(ids[0], str):
        lines = (tmp_path / "a.faiss.ids.txt").read_text().splitlines()
        numbers, names = np.array(lines)[numbers], lines
        assert sorted(names) == sorted(ids)
    found = [
        list(zip(row, far_row, strict=True))
        for row, far_row in zip(numbers.tolist(), far.tolist(), strict=True)
    ]
    check(found, expected, ids)
    number = 17 if isinstance(ids[0], str) else ids[17]
    with pts3h.open_index(address) as held:
        (item,) = held.get([names[17]])
    np.testing.assert_array_equal(index.reconstruct(number), item.code)  # what IDMap2 is for


def test_sqlite_vec(world, tmp_path):
    address, ids, queries, expected = world
    pts3h.export_index(address, tmp_path / "a.sqlite")
    database = apsw.Connection(str(tmp_path / "a.sqlite"))
    database.enable_load_extension(True)
    database.load_extension(sqlite_vec.loadable_path())
    nearest = "SELECT id, distance FROM items WHERE code MATCH vec_bit(?) AND k = ? ORDER BY distance"
    check([list(database.execute(nearest, (query.tobytes(), K))) for query in queries], expected, ids)
    database.close()


def test_parquet_by_duckdb(world, tmp_path):
    """SQL says how ties are broken, so these are our own answers to the last tie."""
    address, ids, queries, expected = world
    pts3h.export_index(address, tmp_path / "a.parquet")
    with duckdb.connect() as database:
        database.execute(f"CREATE TABLE items AS FROM '{tmp_path / 'a.parquet'}'")
        nearest = (
            "SELECT id, bit_count(xor(code::BIT, $query::BLOB::BIT)) AS distance FROM items "
            "ORDER BY distance, id LIMIT $k"
        )
        found = [database.execute(nearest, {"query": q.tobytes(), "k": K}).fetchall() for q in queries]
    check(found, expected, ids)
    with pts3h.open_index(address) as index:
        assert found == [list(hits) for hits in index.search(queries, K)]


def test_parquet_by_arrow(world, tmp_path):
    address, ids, queries, expected = world
    pts3h.export_index(address, tmp_path / "a.parquet")
    table = pyarrow.parquet.read_table(tmp_path / "a.parquet")
    codes = np.frombuffer(b"".join(table["code"].to_pylist()), np.uint8).reshape(len(table), -1)
    far, names = distances(queries, codes), table["id"].to_pylist()
    nearest = np.argsort(far, axis=1, kind="stable")[:, :K]
    check(
        [[(names[n], row[n]) for n in order] for row, order in zip(far, nearest, strict=True)], expected, ids
    )


def test_npy(world, tmp_path):
    address, ids, queries, expected = world
    pts3h.export_index(address, tmp_path / "a.npy")
    lines = (tmp_path / "a.ids.txt").read_text().splitlines()
    index = faiss.IndexBinaryFlat(8 * queries.shape[1])
    index.add(np.load(tmp_path / "a.npy"))
    far, rows = index.search(queries, K)
    found = [
        [(type(ids[0])(lines[n]), d) for n, d in zip(*both, strict=True)]
        for both in zip(rows, far, strict=True)
    ]
    check(found, expected, ids)


def test_qdrant():
    """+1 and -1 under the dot product: distance = (bits - score) / 2. Its local mode, without a server."""
    codes, queries = planted(64)
    ids = list(range(len(codes)))
    client = QdrantClient(":memory:")
    size = models.VectorParams(size=64, distance=models.Distance.DOT)
    client.create_collection("items", vectors_config=size)
    signs = pts3h.unpack(codes, 64).astype(np.float32)
    client.upsert("items", models.Batch(ids=ids, vectors=signs.tolist()))
    found = []
    for query in pts3h.unpack(queries, 64).astype(np.float32):
        points = client.query_points("items", query=query.tolist(), limit=K).points
        found.append([(point.id, (64 - point.score) / 2) for point in points])
    check(found, distances(queries, codes), ids)
    client.close()
