"""Files that other programs wrote."""

import apsw
import duckdb
import faiss
import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest
import sqlite_vec

from pts3h import UserError, export_index, import_index, open_index
from pts3h.codes import Layout
from pts3h.exchange import items
from tests.exchange.collections import contents, make_index

CODES = np.random.default_rng(0).integers(0, 256, (30, 4), np.uint8)
BITS_32 = Layout(32)


def codes_in(address):
    with open_index(address) as index:
        return index.layout, {
            one: code.tolist() for ids, codes in index.scan() for one, code in zip(ids, codes, strict=True)
        }


def test_parquet_by_duckdb(tmp_path):
    """Its bytes have any width, and it drops the metadata of the file."""
    make_index(tmp_path / "a.index", Layout(32), "text")
    export_index(tmp_path / "a.index", tmp_path / "a.parquet")
    with duckdb.connect() as database:
        query = f"SELECT meta, code, id, 1 AS more FROM '{tmp_path / 'a.parquet'}'"
        database.execute(f"COPY ({query}) TO '{tmp_path / 'b.parquet'}' (FORMAT parquet)")
    import_index(tmp_path / "b.parquet", tmp_path / "b.index", bits=32)
    assert contents(tmp_path / "b.index")[2] == contents(tmp_path / "a.index")[2]


@pytest.mark.parametrize("kind", [pa.int8(), pa.uint32(), pa.int64(), pa.large_string()], ids=str)
def test_parquet_with_other_ids_and_no_metadata(tmp_path, kind):
    ids = [f"i{n}" for n in range(30)] if pa.types.is_large_string(kind) else list(range(30))
    table = pa.table({"id": pa.array(ids, kind), "code": pa.array([code.tobytes() for code in CODES])})
    pa.parquet.write_table(table, tmp_path / "a.parquet")
    import_index(tmp_path / "a.parquet", tmp_path / "a.index", bits=24, look_bits=8, weight=5)
    assert codes_in(tmp_path / "a.index") == (Layout(24, 8, 5), dict(zip(ids, CODES.tolist(), strict=True)))


@pytest.mark.parametrize("wrapped", [None, faiss.IndexBinaryIDMap, faiss.IndexBinaryIDMap2])
def test_faiss(tmp_path, wrapped):
    flat = faiss.IndexBinaryFlat(32)
    index, ids = flat, list(range(30))
    if wrapped is None:
        flat.add(CODES)
    else:
        index, ids = wrapped(flat), [7 * n - 50 for n in range(30)]
        index.add_with_ids(CODES, np.array(ids))
    faiss.write_index_binary(index, str(tmp_path / "a.faiss"))
    import_index(tmp_path / "a.faiss", tmp_path / "a.index")
    assert codes_in(tmp_path / "a.index") == (BITS_32, dict(zip(ids, CODES.tolist(), strict=True)))


def test_faiss_with_fewer_bits_than_bytes_hold(tmp_path):
    flat = faiss.IndexBinaryFlat(32)
    flat.add(CODES & np.array([255, 255, 255, 0xF0], np.uint8))
    faiss.write_index_binary(flat, str(tmp_path / "a.faiss"))
    assert import_index(tmp_path / "a.faiss", tmp_path / "a.index", bits=28).layout == Layout(28)


@pytest.mark.parametrize(
    "declared", ["id TEXT PRIMARY KEY, code bit[32]", "code  BIT[32], id text, +more text"]
)
def test_sqlite_vec(tmp_path, declared):
    database = apsw.Connection(str(tmp_path / "a.db"))
    database.enable_load_extension(True)
    database.load_extension(sqlite_vec.loadable_path())
    database.execute(f"CREATE VIRTUAL TABLE items USING vec0({declared})")
    rows = ((f"i{n}", code.tobytes()) for n, code in enumerate(CODES))
    database.executemany("INSERT INTO items (id, code) VALUES (?, vec_bit(?))", rows)
    database.close()
    import_index(tmp_path / "a.db", tmp_path / "a.index")
    assert codes_in(tmp_path / "a.index") == (
        BITS_32,
        {f"i{n}": code for n, code in enumerate(CODES.tolist())},
    )


def test_npy(tmp_path):
    """As earlier versions of pts3h encode wrote it, and with the line ends of Windows."""
    np.save(tmp_path / "a.npy", CODES)
    (tmp_path / "a.ids.txt").write_bytes(b"".join(b"%d.jpg\r\n" % n for n in range(30)))
    import_index(tmp_path / "a.npy", tmp_path / "a.index", bits=32)
    assert codes_in(tmp_path / "a.index") == (
        BITS_32,
        {f"{n}.jpg": code for n, code in enumerate(CODES.tolist())},
    )


def test_an_id_that_is_there_twice(tmp_path, monkeypatch):
    """In one batch it is refused; in two of them the later one counts, and the numbers show it."""
    np.save(tmp_path / "a.npy", CODES)
    (tmp_path / "a.ids.txt").write_text("".join(f"{number % 20}\n" for number in range(30)))
    with pytest.raises(UserError, match=r"id '0' is given twice .* \(0 items before that are in the index\)"):
        import_index(tmp_path / "a.npy", tmp_path / "a.index", bits=32)
    monkeypatch.setattr(items, "SCAN_BATCH", 15)
    done = import_index(tmp_path / "a.npy", tmp_path / "b.index", bits=32)
    assert (done.items, done.count) == (30, 20)
    assert codes_in(tmp_path / "b.index")[1]["3"] == CODES[23].tolist()
