"""The part of the contract that is about codes of two parts."""

import numpy as np
import pytest

from pts3h.errors import UserError

from .oracle import Oracle, as_pairs, assert_same, random_codes

# Learned bits, look bits, weight: boundaries between words, between bytes and inside of a byte.
LAYOUTS = ((32, 32, 3), (64, 32, 2), (48, 48, 4), (12, 20, 16), (5, 90, 1))
PARTS = ("both", "meaning", "look")


class PartsSuite:
    """See :class:`.contract_suite.ContractSuite`."""

    @pytest.mark.parametrize(("meaning", "look", "weight"), LAYOUTS)
    def test_two_parts_agree_with_brute_force(self, engine, meaning, look, weight):
        rng = np.random.default_rng(meaning)
        codes = random_codes(rng, 200, meaning + look, 0.1)
        codes[150:] = codes[:50]
        codes[100] = codes[0] ^ random_codes(rng, 1, meaning + look, 0.02)[0]
        metas = [{"n": n % 4} for n in range(200)]
        oracle = Oracle(meaning, weight)
        oracle.add(range(200), codes, metas)
        with engine.create(meaning, look_bits=look, weight=weight) as index:
            index.add(range(200), codes, meta=metas)
            index.add([7], codes[:1], meta=[{"n": 3}])
            oracle.add([7], codes[:1], [{"n": 3}])
            index.remove([9, 11])
            oracle.remove([9, 11])
            queries = np.concatenate([codes[:2], random_codes(rng, 1, meaning + look)])
            for by in PARTS:
                largest = index.layout.farthest(by)
                assert_same(index, oracle, queries, largest, by=by)
                assert_same(index, oracle, queries[:1], largest, {"n": {"in": [1, 3]}}, by=by)
                with pytest.raises(UserError, match=f"radius must be a whole number from 0 to {largest},"):
                    index.within(queries, largest + 1, by=by)
            assert as_pairs(index.search(queries, 9)) == oracle.search(queries, 9)  # by both
            index = engine.reopen(index)
            assert as_pairs(index.search(queries, 9, by="look")) == oracle.search(queries, 9, by="look")
            (item,) = index.get([100])
            np.testing.assert_array_equal(item.code, codes[100])
            scanned = {one: code for ids, some in index.scan() for one, code in zip(ids, some, strict=True)}
            assert {one: bytes(code) for one, code in scanned.items()} == {
                one: bytes(code) for one, (code, _) in oracle.items.items()
            }
            index.close()

    def test_an_index_keeps_its_layout(self, engine):
        codes = random_codes(np.random.default_rng(8), 3, 96)
        index = engine.create(64, look_bits=32, weight=4)
        index.add([1, 2, 3], codes)
        for more in ({}, {"bits": 64, "look_bits": 32, "weight": 4}):
            index = engine.reopen(index, **more)
            layout = index.layout
            assert (layout.meaning, layout.look, layout.weight, index.bits) == (64, 32, 4, 96)
        for more, message in [
            ({"bits": 64}, r"holds codes of 64 \+ 32 bits, not 64 bits; open it without bits="),
            ({"bits": 96}, r"holds codes of 64 \+ 32 bits, not 96 bits"),
            ({"bits": 64, "look_bits": 32, "weight": 5}, "weighs meaning 4, not 5; open it without bits="),
        ]:
            with pytest.raises(UserError, match=message) as caught:
                engine.reopen(index, **more)
            assert "\n" not in str(caught.value)

    def test_without_look_bits_both_is_meaning(self, engine):
        codes = random_codes(np.random.default_rng(9), 20, 48)
        with engine.create(48) as index:
            index.add(range(20), codes)
            assert index.search(codes[:3], 9, by="meaning") == index.search(codes[:3], 9)
            assert index.within(codes[:3], 20, by="meaning") == index.within(codes[:3], 20)
            for ask in (lambda: index.search(codes, by="look"), lambda: index.within(codes, 2, by="look")):
                with pytest.raises(UserError, match="these codes have no look bits: fit with look_bits="):
                    ask()
            with pytest.raises(UserError, match="by must be one of meaning, look, both, got 'sound'"):
                index.search(codes, by="sound")
