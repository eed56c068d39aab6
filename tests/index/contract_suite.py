"""One suite for every engine, against a brute-force oracle in numpy and Python.

An engine's test file subclasses :class:`ContractSuite` and provides the fixture ``engine``, an object with
``create(bits, **more)`` (a new, empty index) and ``reopen(index, bits=None, **more)`` (close it and open the
same place again); ``more`` are arguments of ``open_index``. ``examples`` is the number of random histories
that hypothesis tries per width.
"""

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pts3h.errors import UserError

from .oracle import METAS, WHERES, Oracle, as_pairs, assert_same, random_codes
from .parts_suite import PartsSuite

WIDTHS = (12, 32, 48, 64, 100, 128, 256)


class ContractSuite(PartsSuite):
    examples = 10

    @pytest.mark.parametrize("bits", WIDTHS)
    @pytest.mark.parametrize("spread", [None, 0.03])
    def test_search_and_within_agree_with_brute_force(self, engine, bits, spread):
        rng = np.random.default_rng(bits)
        codes = random_codes(rng, 300, bits, spread)
        codes[200:] = codes[:100]  # duplicates under other ids
        ids = rng.permutation(1000)[:300].tolist()
        oracle = Oracle()
        oracle.add(ids, codes)
        with engine.create(bits) as index:
            index.add(ids, codes)
            queries = np.concatenate([codes[:4], random_codes(rng, 4, bits)])
            assert_same(index, oracle, queries, bits)
            assert index.count == len(index) == 300

    @pytest.mark.parametrize("bits", WIDTHS)
    def test_any_history_agrees_with_brute_force(self, engine, bits):
        width = (bits + 7) // 8
        padding = width * 8 - bits

        def code(raw):
            array = np.frombuffer(raw, np.uint8).copy()
            array[-1] = (array[-1] >> padding) << padding
            return array

        # Few ids and a few different codes, so that histories replace, remove again and tie.
        a_code = st.one_of(
            st.sampled_from([bytes(width), b"\xff" * width, b"\x80" + bytes(width - 1)]),
            st.binary(min_size=width, max_size=width),
        ).map(code)

        @settings(
            max_examples=self.examples,
            deadline=None,
            derandomize=True,
            database=None,
            suppress_health_check=list(HealthCheck),
        )
        @given(st.data())
        def check(data):
            numbers, words = [-(2**63), -1, 0, 1, 7, 2**63 - 1], ["a", "b", "B", "é", "ab", "日本"]
            names = data.draw(st.sampled_from([numbers, words]))
            some = st.lists(st.sampled_from(names), unique=True, min_size=1)
            oracle = Oracle()
            index = engine.create(bits)
            try:
                for _ in range(data.draw(st.integers(1, 6))):
                    step = data.draw(st.sampled_from(["add", "add", "remove", "search", "reopen"]))
                    ids = data.draw(some)
                    if step == "add":
                        codes = np.stack([data.draw(a_code) for _ in ids])
                        meta = [data.draw(st.sampled_from(METAS)) for _ in ids]
                        index.add(ids, codes, meta=meta)
                        oracle.add(ids, codes, meta)
                    elif step == "remove" and oracle.items:
                        index.remove(ids)
                        oracle.remove(ids)
                    elif step == "search":
                        queries = data.draw(a_code)[None]
                        assert as_pairs(index.search(queries, k=3)) == oracle.search(queries, 3)
                    elif step == "reopen":
                        index = engine.reopen(index)
                assert index.count == len(oracle.items)
                queries = np.stack([data.draw(a_code), data.draw(a_code)])
                where = data.draw(st.one_of(st.none(), st.sampled_from(WHERES)))
                assert as_pairs(index.search(queries, 4, where)) == oracle.search(queries, 4, where)
                radius = data.draw(st.integers(0, bits))
                assert as_pairs(index.within(queries, radius, where)) == oracle.within(queries, radius, where)
            finally:
                index.close()

        check()

    def test_where_means_the_same_everywhere(self, engine):
        rng = np.random.default_rng(3)
        metas = METAS * 3
        ids = [f"item {number}" for number in range(len(metas))]
        codes = random_codes(rng, len(ids), 32)
        oracle = Oracle()
        oracle.add(ids, codes, metas)
        with engine.create(32) as index:
            index.add(ids, codes, meta=metas)
            for where in WHERES:
                found, expected = index.search(codes[:2], 7, where), oracle.search(codes[:2], 7, where)
                assert as_pairs(found) == expected, where
                found, expected = index.within(codes[:2], 16, where), oracle.within(codes[:2], 16, where)
                assert as_pairs(found) == expected, where

    def test_replacing_and_removing_take_the_metadata_along(self, engine):
        codes = random_codes(np.random.default_rng(0), 2, 64)
        with engine.create(64) as index:
            index.add([1, 2], codes, meta=[{"colour": "red"}, {"colour": "red"}])
            index.add([1], codes[1:])
            assert index.search(codes, where={"colour": "red"})[0].ids == [2]
            assert index.get([1])[0].meta == {}
            index.remove([2, 99])
            assert index.search(codes, where={"colour": "red"})[0].ids == []
            index.add([2], codes[1:], meta=[{"colour": "blue"}])
            assert index.search(codes, where={"not": {"colour": "red"}})[0].distances[0] >= 0
            assert index.count == 2

    def test_ties_come_in_id_order(self, engine):
        code = random_codes(np.random.default_rng(1), 1, 48)
        names = ["b", "a", "B", "é", "z", "日本", "aa", "10", "9", "\U0001f600", "\uff5e"]
        with engine.create(48) as index:
            index.add(names, np.repeat(code, len(names), 0))
            assert index.search(code, k=20)[0].ids == sorted(names)
            assert index.search(code, k=4)[0].ids == sorted(names)[:4]
        numbers = [5, -3, 0, 2**63 - 1, -(2**63), 10, 9]
        with engine.create(48) as index:
            index.add(np.array(numbers), np.repeat(code, len(numbers), 0))
            assert index.within(code, 0)[0].ids == sorted(numbers)
            assert index.search(code, k=3)[0].ids == sorted(numbers)[:3]

    def test_empty_index_and_no_match_give_no_hits(self, engine):
        codes = random_codes(np.random.default_rng(2), 3, 64)
        with engine.create(64) as index:
            assert index.count == 0
            assert [len(hits) for hits in index.search(codes, k=5)] == [0, 0, 0]
            assert [len(hits) for hits in index.within(codes, 64)] == [0, 0, 0]
            assert index.get(["a"]) == [None]
            assert list(index.scan()) == []
            index.remove(["a"])
            index.add([], np.empty((0, 8), np.uint8))
            index.add(["a"], codes[:1], meta=[{"x": 1}])
            assert len(index.search(codes[:1], k=5, where={"x": 2})[0]) == 0
            assert index.search(codes[0], k=5)[0].ids == ["a"]  # one code is one query
            assert index.search(np.empty((0, 8), np.uint8), k=5) == []
            index.remove(["a"])
            assert len(index.search(codes[:1], k=5)[0]) == 0

    def test_get_and_scan_return_what_was_added(self, engine):
        codes = random_codes(np.random.default_rng(4), 50, 100)
        metas = [{"n": n, "list": [1, {"deep": None}], "text": "ü"} for n in range(50)]
        with engine.create(100) as index:
            index.add([f"i{n}" for n in range(50)], codes, meta=metas)
            found = index.get(["i7", "nobody", "i3", "i7"])
            assert [item and item.id for item in found] == ["i7", None, "i3", "i7"]
            assert found[2].meta == metas[3]
            np.testing.assert_array_equal(found[2].code, codes[3])
            index.remove(["i3"])
            scanned = {}
            for ids, part in index.scan(batch=16):
                assert 1 <= len(ids) <= 16 and part.shape == (len(ids), 13)
                scanned.update(zip(ids, part, strict=True))
            assert set(scanned) == {f"i{n}" for n in range(50)} - {"i3"}
            np.testing.assert_array_equal(scanned["i9"], codes[9])

    def test_it_is_all_there_after_reopening(self, engine):
        codes = random_codes(np.random.default_rng(5), 20, 12)
        index = engine.create(12, model="model-one")
        index.add(range(20), codes, meta=[{"n": n} for n in range(20)])
        before = index.search(codes, k=5, where={"n": {"<": 10}})
        index = engine.reopen(index)
        assert (index.bits, index.model, index.count) == (12, "model-one", 20)
        assert index.search(codes, k=5, where={"n": {"<": 10}}) == before
        index = engine.reopen(index, bits=12, model="model-one")
        with pytest.raises(UserError, match="another model"):
            engine.reopen(index, model="model-two")
        with pytest.raises(UserError, match="holds codes of 12 bits, not 16 bits"):
            engine.reopen(index, bits=16)

    def test_mistakes_are_named(self, engine):
        codes = random_codes(np.random.default_rng(6), 2, 64)
        with engine.create(64) as index:
            index.add([1, 2], codes)
            for mistake, message in [
                (lambda: index.add([3], codes[:1, :4]), "8 bytes wide"),
                (lambda: index.add([3], codes[:1].astype(float) * np.nan), "packed uint8"),
                (lambda: index.add([3], codes), "one code for each id"),
                (lambda: index.add([3, 3], codes), "given twice"),
                (lambda: index.add(["a", "b"], codes), "ids that are integers"),
                (lambda: index.add([1, "b"], codes), "all integers or all text"),
                (lambda: index.add([1.5, 2.5], codes), "all integers or all text, got 1.5"),
                (lambda: index.add([True, False], codes), "all integers or all text"),
                (lambda: index.add([2**63, 1], codes), "fit in 64 bits"),
                (lambda: index.add("ab", codes), "must be a list"),
                (lambda: index.add([3, 4], codes, meta=[{}]), "one meta dict for each id"),
                (lambda: index.add([3, 4], codes, meta={"a": 1}), "meta must be a list"),
                (lambda: index.add([3, 4], codes, meta=[{"a": float("nan")}, {}]), "finite number"),
                (lambda: index.add([3, 4], codes, meta=[{'a"b': 1}, {}]), "metadata keys"),
                (lambda: index.add([3, 4], codes, meta=[{"or": 1}, {}]), "metadata keys"),
                (lambda: index.remove(["a"]), "ids that are integers"),
                (lambda: index.get(["a"]), "ids that are integers"),
                (lambda: index.search(codes[:, :4]), "8 bytes wide"),
                (lambda: index.search(codes.astype(float)), "packed uint8"),
                (lambda: index.search(codes, k=-1), "k must be a whole number of 1 or more"),
                (lambda: index.search(codes, k=0), "k must be"),
                (lambda: index.search(codes, k=1.5), "k must be"),
                (lambda: index.within(codes, 65), "radius must be a whole number from 0 to 64, got 65"),
                (lambda: index.within(codes, -1), "radius must be"),
                (lambda: index.search(codes, where={}), "empty dict"),
                (lambda: index.search(codes, where="x == 1"), "must be a dict"),
                (lambda: index.search(codes, where={"a": {"~": 1}}), "unknown operator"),
                (lambda: index.search(codes, where={"a": None}), "not with None"),
                (lambda: index.search(codes, where={"or": []}), "one or more filters"),
                (lambda: index.search(codes, where={"a": {"<": True}}), "true or false"),
                (lambda: index.search(codes, where={'a"] == 1 or meta["b': 1}), "metadata keys"),
            ]:
                with pytest.raises(UserError, match=message) as caught:
                    mistake()
                assert "\n" not in str(caught.value)
            assert index.count == 2  # nothing was added
            assert index.get([1, 2])[1].meta == {}
        with pytest.raises(UserError, match="closed"):
            index.search(codes)
        index.close()

    def test_codes_with_bits_beyond_their_length_are_refused(self, engine):
        with engine.create(12) as index, pytest.raises(UserError, match="beyond bit 12"):
            index.add([1], np.full((1, 2), 255, np.uint8))

    def test_text_that_is_not_text_is_refused(self, engine):
        code = np.zeros((1, 8), np.uint8)
        with engine.create(64) as index:
            for bad in ("", "a\0b", "\ud800", "x" * 5000):
                with pytest.raises(UserError):
                    index.add([bad], code)
            assert index.count == 0
