"""Ids in order, found by brute force."""

import numpy as np
import pytest

from pts3h.index.local.ids import LANDMARK, TextIds, encode_ids, sorted_ids


@pytest.mark.parametrize("count", [0, 1, 2, LANDMARK - 1, LANDMARK, LANDMARK + 1, 40 * LANDMARK, 5000])
def test_text_is_found_where_it_is(count):
    """Also before the first, after the last, and at both sides of every landmark."""
    rng = np.random.default_rng(count)
    everything = sorted(
        {f"{number:x}é{'z' * (number % 3)}" for number in rng.integers(1 << 30, size=2 * count)}
    )
    here, gone = everything[::2], everything[1::2]
    ids = TextIds(encode_ids(here))
    place = {one: row for row, one in enumerate(here)}
    wanted = [*here, *gone, "", "~", "0"]
    expected = [place.get(one, -1) for one in wanted]
    assert [ids._find(one.encode()) for one in wanted] == expected
    assert ids.find(wanted).tolist() == expected  # by a table, where many are asked for
    assert [ids.find([one])[0] for one in wanted[:: max(len(wanted) // 50, 1)]] == expected[
        :: max(len(wanted) // 50, 1)
    ]
    assert ids.take(np.arange(len(here))) == here


def test_numbers_are_found_where_they_are():
    ids = sorted_ids(encode_ids([-5, 0, 7, 2**62]), "int")
    assert ids.find([7, 8, -5, 2**62, -(2**62)]).tolist() == [2, -1, 0, 3, -1]
