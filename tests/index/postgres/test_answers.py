"""What the contract's suite leaves open: long ids, hostile text, large numbers, many rows, other programs."""

import json
import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pts3h.codes import hamming
from pts3h.index.postgres import items
from pts3h.index.postgres.conditions import exact_numbers

from ..any_filter import assert_filters_mean_what_they_mean_in_python
from ..oracle import METAS, WHERES, Oracle, as_pairs, assert_same, random_codes
from .checks import name_of

pytestmark = pytest.mark.postgres

HOSTILE = [
    "a'b",
    'a"b',
    "a\\",
    "\\.",
    "\\N",
    "a\tb\nc\rd",
    "'; DROP TABLE pg_class; --",
    "%s",
    "%(x)s",
    "{x}",
    "$1",
    "NULL",
    "{a,b}",
    '{"a"',
    "é",
    "日本",
    "\U0001f600",
    "\u2028",
    "\ufeff",
    "\x01\x7f",
    "e+5",
    " ",
    "a" * 4096,
    "\U0001f600" * 1024,
]


@pytest.mark.parametrize(
    ("bits", "look", "weight"),
    [(1, 0, 1), (7, 0, 1), (9, 0, 1), (4096, 0, 1), (1, 1, 16), (4095, 1, 1), (1, 4095, 16), (2000, 90, 16)],
)
def test_every_length_of_code(postgres, bits, look, weight):
    rng = np.random.default_rng(bits)
    codes = random_codes(rng, 30, bits + look)
    oracle = Oracle(bits, weight)
    oracle.add(range(30), codes)
    with postgres.open(postgres.address(), bits=bits, look_bits=look, weight=weight) as index:
        index.add(range(30), codes)
        for by in ("both", "meaning", *(["look"] if look else [])):
            assert_same(index, oracle, codes[:2], index.layout.farthest(by), by=by)
        for item, code in zip(index.get(range(30)), codes, strict=True):
            np.testing.assert_array_equal(item.code, code)


def test_hostile_text_is_only_text(postgres):
    code = np.zeros((len(HOSTILE), 8), np.uint8)
    with postgres.open(postgres.address(), bits=64) as index:
        index.add(HOSTILE, code, meta=[{"text": text, "deep": {text: [text]}} for text in HOSTILE])
        assert index.within(code[0], 0)[0].ids == sorted(HOSTILE)
        for text in HOSTILE:
            assert index.search(code[0], 50, {"text": text})[0].ids == [text]
            assert index.within(code[0], 0, {"text": {"in": [text, "other"]}})[0].ids == [text]
            assert index.within(code[0], 0, {"text": {">=": text, "<=": text}})[0].ids == [text]
            (item,) = index.get([text])
            assert item.id == text and item.meta == {"text": text, "deep": {text: [text]}}
        index.add(HOSTILE, code)  # each is replaced, none is doubled
        assert index.count == len(HOSTILE)
        for number, text in enumerate(HOSTILE, 1):
            index.remove([text])
            assert index.count == len(HOSTILE) - number


def test_long_ids_that_do_not_compress(postgres):
    rng = np.random.default_rng(0)
    letters = np.array(list("abcdefghijklmnopqrstuvwxyz0123456789"))
    names = ["".join(rng.choice(letters, 4096)) for _ in range(20)]
    names += [name[:-1] + "!" for name in names]  # alike up to the last letter
    codes = np.zeros((40, 8), np.uint8)
    with postgres.open(postgres.address(), bits=64) as index:
        index.add(names, codes)
        index.add(names[:30], codes[:30], meta=[{"n": 1}] * 30)
        assert index.search(codes[0], 40)[0].ids == sorted(names)
        assert index.search(codes[0], 40, {"n": 1})[0].ids == sorted(names[:30])


def test_strange_keys(postgres):
    keys = ["a b", "a/b", "%s", "%", "é", "日本", "\U0001f600", "{x}", "a'b", "a]", "a.b", "$meta", "1", "id"]
    code = np.zeros((len(keys), 8), np.uint8)
    with postgres.open(postgres.address(), bits=64) as index:
        index.add(keys, code, meta=[{key: 1} for key in keys])
        for key in keys:
            assert index.search(code[0], 50, {key: 1})[0].ids == [key]
            assert len(index.search(code[0], 50, {"not": {key: 1}})[0]) == len(keys) - 1


VALUES = [
    0,
    1,
    -1,
    1.0,
    0.5,
    -0.5,
    0.1,
    1e16,
    1e22,
    1e23,
    -1e23,
    1e300,
    5e-324,
    1.7976931348623157e308,
    2**53 - 1,
    2**53 + 1,
    2.0**53,
    2.0**53 + 2,
    2**60,
    2**60 + 1,
    2.0**60,
    2**63 - 1,
    -(2**63),
    2.0**63,
    True,
    False,
    None,
    "",
    "a",
    "b",
    "A",
    "é",
    "日",
    "\uffff",
    "\U0001f600",
    "1",
    "true",
    "null",
    "1e+23",
    '"1e+23',
    '"',
    "\\",
    [1],
    ["a"],
    {"a": 1},
]


def test_metadata_comes_back_as_it_was(postgres):
    metas = [{"x": value, "list": [value, {"deep": value}]} for value in VALUES]
    codes = np.zeros((len(metas), 8), np.uint8)
    with postgres.open(postgres.address(), bits=64) as index:
        index.add(range(len(metas)), codes, metas)
        for item, meta in zip(index.get(range(len(metas))), metas, strict=True):
            assert item.meta == meta
            assert type(item.meta["x"]) is type(meta["x"])


def test_filters_mean_what_they_mean_in_python(postgres):
    with postgres.open(postgres.address(), bits=64) as index:
        assert_filters_mean_what_they_mean_in_python(index, VALUES, most=12, examples=300)


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=9), max_size=4))
def test_exact_numbers_are_the_same_json(value):
    text = exact_numbers(json.dumps(value))
    assert json.loads(text) == value
    assert "e+" not in re.sub(r'"(?:[^"\\]|\\.)*"', "", text)


@pytest.mark.parametrize("kind", [int, str])
def test_a_long_history_in_small_requests(postgres, monkeypatch, kind):
    monkeypatch.setattr(items, "ROWS_PER_REQUEST", 7)
    rng = np.random.default_rng(1)
    oracle = Oracle()
    with postgres.open(postgres.address(), bits=20) as index:
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
            queries = random_codes(rng, 2, 20)
            where = WHERES[step % len(WHERES)]
            assert as_pairs(index.search(queries, 9, where)) == oracle.search(queries, 9, where)
            assert index.count == len(oracle.items)
        assert_same(index, oracle, queries[:1], 20)
        wanted = [*oracle.items, kind(-1)]
        assert [item and item.id for item in index.get(wanted)] == [*oracle.items, None]
        assert {one for some, _ in index.scan() for one in some} == set(oracle.items)


def test_more_than_one_request_holds(postgres):
    n = 40_000
    rng = np.random.default_rng(0)
    codes = random_codes(rng, n, 64, 0.02)
    codes[: n // 2] = codes[0]
    ids = rng.permutation(n) * 7 - n
    with postgres.open(postgres.address(), bits=64) as index:
        index.add(ids, codes)
        distances = hamming(codes[0], codes)
        order = np.lexsort((ids, distances))
        hits = index.within(codes[0], 64)[0]
        assert hits.ids == ids[order].tolist() and hits.distances == distances[order].tolist()
        assert index.search(codes[0], 25_000)[0].ids == ids[order[:25_000]].tolist()
        assert index.search(codes[0], 2**70)[0].ids == ids[order].tolist()
        scanned = {}
        for some, part in index.scan(9_000):
            assert len(some) <= 9_000
            scanned.update(zip(some, map(bytes, part), strict=True))
        assert scanned == dict(zip(ids.tolist(), map(bytes, codes), strict=True))


def test_a_scan_that_is_left_lets_go_of_its_connection(postgres):
    codes = random_codes(np.random.default_rng(5), 50, 64)
    own = "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'pts3h'"
    with postgres.open(postgres.address(), bits=64) as index:
        index.add(range(50), codes)
        scan = index.scan(10)
        next(scan)
        index.add([0], codes[1:2])  # others go on meanwhile
        assert postgres.sql(own) == [(2,)]
        scan.close()
        while postgres.sql(own) != [(1,)]:  # a server takes a moment to notice
            pass
    while postgres.sql(own) != [(0,)]:
        pass


def test_own_columns_and_indexes_of_a_user_are_no_trouble(postgres):
    address = postgres.address()
    name = name_of(address)
    codes = random_codes(np.random.default_rng(6), 4, 64)
    with postgres.open(address, bits=64) as index:
        index.add(["a", "b", "c"], codes[:3])
        postgres.sql(f"ALTER TABLE {name} ADD COLUMN mine int DEFAULT 7")
        postgres.sql(f"CREATE INDEX ON {name} ((meta -> 'colour'))")
        postgres.sql(f"CREATE INDEX ON {name} USING hnsw (meaning bit_hamming_ops)")
        index.add(["d"], codes[3:], meta=[{"colour": "red"}])
        assert index.search(codes[3], 1, {"colour": "red"})[0].ids == ["d"]
    with postgres.open(address) as index:
        assert index.count == 4
    assert postgres.sql(f"SELECT sum(mine) FROM {name}") == [(28,)]


def test_ids_are_ordered_by_code_point_whatever_the_database_prefers(postgres):
    address = postgres.address()
    with postgres.open(address, bits=64) as index:
        index.add(["a"], np.zeros((1, 8), np.uint8))
    asked = (
        "SELECT collname FROM pg_attribute JOIN pg_collation ON pg_collation.oid = attcollation "
        "WHERE attrelid = %s::regclass AND attname = 'id'"
    )
    assert postgres.sql(asked, name_of(address)) == [("C",)]


def test_a_schema_of_its_own_and_pgvector_elsewhere(postgres):
    name = postgres.prefix
    codes = random_codes(np.random.default_rng(7), 5, 64)
    postgres.sql(f"CREATE SCHEMA {name}")
    postgres.sql(f"CREATE SCHEMA {name}_vectors")
    try:
        with postgres.open(f"{postgres.database}/{name}.shop", bits=64) as index:
            index.add(range(5), codes)
        (before,) = postgres.sql(
            "SELECT nspname FROM pg_extension JOIN pg_namespace AS place ON place.oid = extnamespace "
            "WHERE extname = 'vector'"
        )[0]
        postgres.sql(f"ALTER EXTENSION vector SET SCHEMA {name}_vectors")
        try:
            with postgres.open(f"{postgres.database}/{name}.shop") as index:
                assert index.search(codes, 1)[4].ids == [4]
        finally:
            postgres.sql(f"ALTER EXTENSION vector SET SCHEMA {before}")
    finally:
        postgres.sql(f"DROP SCHEMA {name} CASCADE")
        postgres.sql(f"DROP SCHEMA {name}_vectors")
