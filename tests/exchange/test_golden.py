"""Bytes written by hand, for each target: another order of bits finds something too, only not the same."""

import io
import json

import apsw
import faiss
import numpy as np
import pyarrow.parquet
import pytest
import sqlite_vec

import pts3h
from pts3h.codes import BIT_ORDER
from tests.exchange.targets import by_hand

# 20 bits, two codes: "+" is 1. The last byte ends in four zeros.
SIGNS = ["+------- --++++++ -+-+", "-------+ ++------ +---"]
BYTES = [[0x80, 0x3F, 0x50], [0x01, 0xC0, 0x80]]
IDS, MODEL = [9, 4], "00ff00ff00ff00ff"


@pytest.fixture
def address(tmp_path):
    with pts3h.open_index(tmp_path / "a.index", bits=12, look_bits=8, weight=2, model=MODEL) as index:
        index.add(IDS, np.array(BYTES, np.uint8), [{"b": 1, "a": [True, None]}, None])
    return tmp_path / "a.index"


def signs(text):
    return np.array([1.0 if sign == "+" else -1.0 for sign in text.replace(" ", "")])


def test_packing():
    packed = pts3h.pack([signs(text) for text in SIGNS])
    assert packed.tolist() == BYTES and BIT_ORDER == "big"
    assert (
        by_hand(np.array([signs(text) > 0 for text in SIGNS])).tolist() == BYTES
    )  # the oracle of this folder
    assert pts3h.unpack(packed, 20).tolist() == [signs(text).tolist() for text in SIGNS]


def test_parquet(address, tmp_path):
    pts3h.export_index(address, tmp_path / "a.parquet")
    file = pyarrow.parquet.ParquetFile(tmp_path / "a.parquet")
    assert [(field.name, str(field.type)) for field in file.schema_arrow] == [
        ("id", "int64"),
        ("code", "fixed_size_binary[3]"),
        ("meta", "string"),
    ]
    assert sorted(file.read().to_pylist(), key=lambda row: row["id"]) == [
        {"id": 4, "code": b"\x01\xc0\x80", "meta": None},
        {"id": 9, "code": b"\x80\x3f\x50", "meta": '{"b": 1, "a": [true, null]}'},
    ]
    about = json.loads(file.metadata.metadata[b"pts3h"])
    about.pop("checksum")
    assert about == {
        "format": 1,
        "bits": 12,
        "look_bits": 8,
        "weight": 2,
        "bit_order": "big",
        "model": MODEL,
        "ids": "int",
    }


def test_faiss_writes_the_same_file(address, tmp_path):
    pts3h.export_index(address, tmp_path / "a.faiss")
    index = faiss.IndexBinaryIDMap2(faiss.IndexBinaryFlat(24))
    index.add_with_ids(np.array(BYTES[::-1], np.uint8), np.array(IDS[::-1]))
    assert (tmp_path / "a.faiss").read_bytes() == faiss.serialize_index_binary(index).tobytes()


def test_sqlite_vec(address, tmp_path):
    pts3h.export_index(address, tmp_path / "a.sqlite")
    database = apsw.Connection(str(tmp_path / "a.sqlite"))
    database.enable_load_extension(True)
    database.load_extension(sqlite_vec.loadable_path())
    rows = database.execute("SELECT id, hex(code), meta FROM items ORDER BY id").fetchall()
    assert rows == [(4, "01C080", None), (9, "803F50", '{"b": 1, "a": [true, null]}')]
    ((about,),) = database.execute("SELECT json FROM about").fetchall()
    assert json.loads(about)["bits"] == 12
    # its own quantisation begins with the least significant bit: not to be mixed with codes of ours
    own = database.execute("SELECT hex(vec_quantize_binary('[1, 1, -1, -1, -1, -1, -1, -1]'))").fetchall()
    assert own == [("03",)] and pts3h.pack([[1.0, 1.0, *[-1.0] * 6]]).tolist() == [[0xC0]]
    database.close()


def test_npy_is_what_numpy_writes(address, tmp_path):
    pts3h.export_index(address, tmp_path / "a.npy")
    plain = io.BytesIO()
    np.save(plain, np.array(BYTES[::-1], np.uint8))
    assert (tmp_path / "a.npy").read_bytes() == plain.getvalue()
    assert (tmp_path / "a.ids.txt").read_bytes() == b"4\n9\n"
    assert json.loads((tmp_path / "a.about.json").read_text())["look_bits"] == 8


def test_sentence_transformers():
    """``quantize_embeddings`` packs what is above 0, and moves its signed bytes by 128 (6.2.0 gave these)."""
    embedding = np.array([[-1.5, 0.0, 2, -3, 4, 5, -6, 7, 0.1, -0.1, 0, 0, 0, 0, 0, -1]], np.float32)
    ubinary, binary = np.array([[45, 128]], np.uint8), np.array([[-83, 0]], np.int8)
    assert pts3h.pack(embedding > 0).tolist() == ubinary.tolist()
    assert (binary.view(np.uint8) ^ 0x80).tolist() == ubinary.tolist()
    assert pts3h.pack(embedding).tolist() != ubinary.tolist()  # an output of exactly 0 is positive in ours


def test_faiss_packs_the_other_way_round():
    """Its own packing of floats, and how to turn it into ours, as docs/exports.md has it."""
    embedding = np.array([signs(SIGNS[0].replace(" ", "")[:16])], np.float32)
    packed = np.zeros((1, 2), np.uint8)
    faiss.real_to_binary(16, faiss.swig_ptr(embedding), faiss.swig_ptr(packed))
    assert packed.tolist() == [[0x01, 0xFC]]
    turned = np.packbits(np.unpackbits(packed, axis=1, bitorder="little"), axis=1)
    assert turned.tolist() == [BYTES[0][:2]]


def test_elasticsearch():
    """Its manual: these two vectors of 40 bits, as signed bytes and as hex, have the score 0.55."""
    first, second = np.array([[127, -127, 0, 1, 42]], np.int8).view(np.uint8), bytes.fromhex("8100012a7f")
    codes = np.concatenate([first, np.frombuffer(second, np.uint8)[None]])
    assert codes.view(np.int8).tolist() == [[127, -127, 0, 1, 42], [-127, 0, 1, 42, 127]]
    assert [code.tobytes().hex() for code in codes] == ["7f8100012a", "8100012a7f"]
    assert (40 - pts3h.hamming(codes[0], codes[1])) / 40 == 0.55


@pytest.mark.parametrize(
    ("bits", "signed"),
    [("0000011100001000", [7, 8]), ("0000101000001011", [10, 11]), ("0110110010001100", [108, -116])],
)
def test_opensearch(bits, signed):
    """The bits and bytes of its own introduction to binary vectors."""
    code = pts3h.pack(np.array([bit == "1" for bit in bits]))
    assert code.view(np.int8).tolist() == signed


def test_qdrant():
    """Its vectors are +1 and -1, one number a bit, in the order of the bits."""
    codes = np.array(BYTES, np.uint8)
    first, second = pts3h.unpack(codes, 20).astype(np.float32)
    assert first.tolist() == signs(SIGNS[0]).tolist()
    assert (20 - first @ second) / 2 == pts3h.hamming(codes[0], codes[1]) == 13
