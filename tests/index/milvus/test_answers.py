"""What Milvus itself does not promise: complete answers beyond its window, ties in order, exact filters."""

import time

import numpy as np
import pytest

from pts3h.codes import hamming
from pts3h.index.milvus import index as engine
from pts3h.index.milvus.expressions import literal

from ..any_filter import assert_filters_mean_what_they_mean_in_python
from ..oracle import METAS, WHERES, Oracle, as_pairs, assert_same, random_codes

pytestmark = pytest.mark.milvus

HOSTILE = [
    'a"b',
    "a'b",
    "a\\",
    '\\"',
    '" or id >= 0 or "',
    '"] or meta["x"] == "',
    "]) or (1 == 1",
    "{x}",
    "a\nb\r\t",
    "%_*",
    "é",
    "日本",
    "\U0001f600",
    "\u2028",
    "\ufeff",
    "\x7f",
    "\x01",
    "\\u0041",
    "\\x41",
    "id",
    "a" * 3000,
]


def flush(index):
    """Seal what was written into segments, as a server does by itself when they are large."""
    index._collection._call("flush", index._collection._name)


def test_more_hits_than_a_window_holds(milvus):
    n = 40_000
    rng = np.random.default_rng(0)
    codes = random_codes(rng, n, 64, 0.02)
    codes[: n // 2] = codes[0]  # 20,000 at one distance: more than a window even there
    ids = rng.permutation(n) * 7 - n
    with milvus.open(milvus.address(), bits=64) as index:
        index.add(ids, codes)
        distances = hamming(codes[0], codes)
        order = np.lexsort((ids, distances))
        for radius in (0, 64):
            hits = index.within(codes[0], radius)[0]
            inside = order[distances[order] <= radius]
            assert len(inside) > 16_384
            assert hits.ids == ids[inside].tolist()
            assert hits.distances == distances[inside].tolist()
        for k in (100, 25_000):
            hits = index.search(codes[0], k)[0]
            assert hits.ids == ids[order[:k]].tolist()
            assert hits.distances == distances[order[:k]].tolist()
        scanned = {}
        for some, part in index.scan(10_000):
            assert len(some) <= 10_000
            scanned.update(zip(some, map(bytes, part), strict=True))
        assert scanned == dict(zip(ids.tolist(), map(bytes, codes), strict=True))


@pytest.mark.parametrize(
    ("kind", "options"),
    [
        (int, {}),
        (str, {"index_type": "BIN_IVF_FLAT", "nlist": 8}),
    ],
    ids=["integers-flat", "text-ivf"],
)
def test_a_long_history_through_a_small_window(milvus, monkeypatch, kind, options):
    monkeypatch.setattr(engine, "ROWS_PER_REQUEST", 40)
    rng = np.random.default_rng(1)
    oracle = Oracle()
    with milvus.open(milvus.address(), bits=20, window=13, **options) as index:
        for step in range(15):
            ids = [kind(one) for one in rng.permutation(400)[: rng.integers(1, 80)]]
            if step % 3 == 2:
                index.remove(ids)
                oracle.remove(ids)
            else:
                codes = random_codes(rng, len(ids), 20, 0.1)
                meta = [METAS[one] for one in rng.integers(0, len(METAS), len(ids))]
                index.add(ids, codes, meta)
                oracle.add(ids, codes, meta)
            if step in (5, 9):
                flush(index)
            queries = random_codes(rng, 2, 20)
            where = WHERES[step % len(WHERES)]
            assert as_pairs(index.search(queries, 9, where)) == oracle.search(queries, 9, where)
            assert index.count == len(oracle.items)
        assert_same(index, oracle, queries[:1], 20)
        assert {one for some, _ in index.scan() for one in some} == set(oracle.items)


@pytest.mark.parametrize("by", ["meaning", "look", "both"])
def test_two_parts_through_a_small_window(milvus, by):
    """Few bits, so that many items tie at every distance, and more of them than a window holds."""
    rng = np.random.default_rng(7)
    codes = random_codes(rng, 120, 12, 0.2)
    oracle = Oracle(7, 3)
    oracle.add(range(120), codes)
    with milvus.open(milvus.address(), bits=7, look_bits=5, weight=3, window=13) as index:
        index.add(range(120), codes)
        flush(index)
        assert_same(index, oracle, codes[:2], index.layout.farthest(by), by=by)


def test_ivf_with_few_probes_finds_a_part(milvus):
    rng = np.random.default_rng(2)
    codes = random_codes(rng, 5000, 32)
    address = milvus.address()
    with milvus.open(address, bits=32, index_type="BIN_IVF_FLAT", nlist=32) as index:
        index.add(range(5000), codes)
        flush(index)
        call, name = index._collection._call, index._collection._name
        while call("describe_index", name, "code")["indexed_rows"] < len(codes):
            time.sleep(0.1)
        call("release_collection", name)  # opening loads it again, now with its clusters
    oracle = hamming(codes[:20], codes)
    with milvus.open(address) as index:  # the collection says that there are clusters; all are searched
        hits = index.search(codes[:20], 50)
        assert [one.distances for one in hits] == np.sort(oracle, 1)[:, :50].tolist()
    with milvus.open(address, nprobe=1) as index:
        found = sum(len(one) for one in index.within(codes[:20], 10))
        assert 20 <= found < (oracle <= 10).sum()


def test_hostile_text_is_only_text(milvus):
    code = np.zeros((len(HOSTILE), 8), np.uint8)
    with milvus.open(milvus.address(), bits=64) as index:
        index.add(HOSTILE, code, meta=[{"text": text, "deep": {text: [text]}} for text in HOSTILE])
        for text in HOSTILE:
            assert index.search(code[0], 50, {"text": text})[0].ids == [text]
            assert index.within(code[0], 0, {"text": {"in": [text, "other"]}})[0].ids == [text]
            assert index.within(code[0], 0, {"text": {">=": text, "<=": text}})[0].ids == [text]
            (item,) = index.get([text])
            assert item.id == text and item.meta == {"text": text, "deep": {text: [text]}}
        for number, text in enumerate(HOSTILE, 1):
            index.remove([text])
            assert index.count == len(HOSTILE) - number


def test_strange_keys(milvus):
    keys = [
        "a b",
        "a/b",
        "~0",
        "a~1b",
        "é",
        "日本",
        "\U0001f600",
        "{x}",
        "a'b",
        "a]",
        "a[0]",
        "a.b",
        "$meta",
        "1",
        "id",
    ]
    code = np.zeros((len(keys), 8), np.uint8)
    with milvus.open(milvus.address(), bits=64) as index:
        index.add(keys, code, meta=[{key: 1} for key in keys])
        for key in keys:
            assert index.search(code[0], 50, {key: 1})[0].ids == [key]
            assert len(index.search(code[0], 50, {"not": {key: 1}})[0]) == len(keys) - 1


def test_filters_mean_what_they_mean_in_python(milvus):
    values = [
        0,
        1,
        -1,
        1.0,
        0.5,
        -0.5,
        1e300,
        1e-300,
        2**53 - 1,
        -(2**53) + 1,
        2**62,
        -(2**63),
        2**53 + 1,
        2**60,
        2**60 + 1,
        2**63 - 1,
        True,
        False,
        None,
        "",
        "a",
        "b",
        "A",
        "é",
        "日",
        "\U0001f600",
        "1",
        "true",
        '"',
        "\\",
        [1],
        ["a"],
        {"a": 1},
    ]
    with milvus.open(milvus.address(), bits=64) as index:
        assert_filters_mean_what_they_mean_in_python(
            index, values, also=(2.0**60, 2.0**53), most=6, examples=100
        )


def test_literals_are_plain_ascii():
    assert literal("a\"\\'é\U0001f600\n") == r'"a\u0022\u005c\u0027\u00e9\U0001f600\u000a"'
    assert [literal(value) for value in (True, 1, 2.0, -1.5, 1e300)] == ["true", "1", "2", "-1.5", "1e+300"]


def test_own_writes_are_seen_in_a_session(milvus):
    codes = random_codes(np.random.default_rng(3), 30, 64)
    with milvus.open(milvus.address(), bits=64, consistency="session") as index:
        for row in range(30):
            index.add([row], codes[row : row + 1])
            assert index.search(codes[row], 1)[0].ids == [row]
            assert index.count == row + 1


def test_bounded_is_the_default(milvus, monkeypatch):
    address = milvus.address()
    codes = random_codes(np.random.default_rng(4), 30, 64)
    with milvus.open(address, bits=64) as index:
        index.add(range(30), codes)
        assert index.count == 30
    monkeypatch.setenv("MILVUS_TOKEN", milvus.token)
    with engine.open_milvus(address) as index:
        calls = []
        call = index._collection._call
        monkeypatch.setattr(index._collection, "_call", lambda *a, **n: calls.append(n) or call(*a, **n))
        assert index.search(codes[:1], 1)[0].ids == [0]
        assert index.count == 30
    assert {one["consistency_level"] for one in calls} == {"Bounded"}
