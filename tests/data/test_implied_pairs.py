"""What follows from known pairs, against a closure by brute force."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pts3h import UserError
from pts3h.data import implied_pairs
from pts3h.data.implied_pairs import with_implied
from pts3h.data.known_pairs import PairList

NAMES = [f"{letter}.jpg" for letter in "abcdefgh"]


def known(*rows):
    return PairList(len(NAMES), list(rows))


def facts(pairs):
    return {(a, b): bool(s) for (a, b), s in zip(pairs.pairs.tolist(), pairs.similar, strict=True)}


def closure(pairs):
    """Apply both rules until nothing is new; None where a pair would be both."""
    found = facts(pairs)
    while True:
        new = {}
        for (a, b), (c, d) in itertools.permutations(found, 2):
            for shared, x, y in ((b == c, a, d), (b == d, a, c), (a == c, b, d), (a == d, b, c)):
                if shared and x != y and (found[a, b] or found[c, d]):
                    new[min(x, y), max(x, y)] = found[a, b] and found[c, d]
                    if (
                        found.get((min(x, y), max(x, y)), new[min(x, y), max(x, y)])
                        != new[min(x, y), max(x, y)]
                    ):
                        return None
        if new.keys() <= found.keys():
            return found
        found |= new


def test_alike_of_alike_is_alike_and_what_is_apart_stays_apart():
    implied = with_implied(known([0, 1, 1], [1, 2, 1], [3, 4, 1], [2, 3, 0]), NAMES)
    assert facts(implied) == {
        (0, 1): True,
        (0, 2): True,
        (1, 2): True,
        (3, 4): True,
        **{(a, b): False for a in (0, 1, 2) for b in (3, 4)},
    }


@given(
    st.lists(
        st.tuples(st.integers(0, 5), st.integers(0, 5), st.integers(0, 1)).filter(
            lambda row: row[0] != row[1]
        ),
        min_size=1,
        max_size=8,
        unique_by=lambda row: (min(row[:2]), max(row[:2])),
    ).filter(lambda rows: len({row[2] for row in rows}) == 2)
)
def test_the_same_as_by_brute_force(rows):
    pairs = known(*rows)
    expected = closure(pairs)
    if expected is None:
        with pytest.raises(UserError, match="a chain of alike pairs joins them"):
            with_implied(pairs, NAMES)
    else:
        assert facts(with_implied(pairs, NAMES)) == expected


def test_a_contradiction_is_named_by_its_chain():
    with pytest.raises(UserError) as caught:
        with_implied(known([0, 1, 1], [1, 2, 1], [2, 3, 1], [0, 3, 0]), NAMES)
    assert "a.jpg and d.jpg are not alike" in str(caught.value)
    assert "a.jpg - b.jpg - c.jpg - d.jpg" in str(caught.value) and "\n" not in str(caught.value)


def test_too_many_are_refused_before_they_are_made(monkeypatch):
    monkeypatch.setattr(implied_pairs, "MOST_PAIRS", 3)
    with pytest.raises(UserError, match="give labels instead"):
        with_implied(known([0, 1, 1], [1, 2, 1], [2, 3, 1], [4, 5, 0]), NAMES)


def test_what_was_known_stays_known():
    rng = np.random.default_rng(0)
    kinds = rng.integers(0, 3, len(NAMES))
    ends = [(a, b) for a, b in itertools.combinations(range(len(NAMES)), 2) if rng.random() < 0.4]
    pairs = known(*[(a, b, int(kinds[a] == kinds[b])) for a, b in ends])
    implied = facts(with_implied(pairs, NAMES))
    assert facts(pairs).items() <= implied.items()
    assert all(alike == (kinds[a] == kinds[b]) for (a, b), alike in implied.items())
