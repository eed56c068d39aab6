"""What answers say together, against a brute force that tries whether each answer agrees with newer ones."""

from itertools import combinations, product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pts3h.errors import UserError
from pts3h.teaching import knowledge
from pts3h.teaching.agreement import Agreement
from pts3h.teaching.kept_back import kept_back
from pts3h.teaching.knowledge import contradictions, known_pairs, to_learn_from
from pts3h.teaching.standing import Place, Said, Standing

NAMES = "abcdef"
PAIRS = list(combinations(NAMES, 2))


@st.composite
def standings(draw):
    """Some pairs and places, said in any order."""
    pairs = draw(st.lists(st.sampled_from(PAIRS), unique=True, max_size=9))
    placed = draw(st.lists(st.sampled_from(NAMES), unique=True, max_size=5))
    numbers = draw(st.permutations(range(1, len(pairs) + len(placed) + 1)))
    said = {
        pair: Said(draw(st.sampled_from([True, False, None])), number)
        for pair, number in zip(pairs, numbers, strict=False)
    }
    rest = numbers[len(pairs) :]
    places = {
        item: Place(draw(st.sampled_from([1, 2, 3, None])), number)
        for item, number in zip(placed, rest, strict=True)
    }
    return Standing(said, places)


def said_newest_first(standing):
    """(number, alike, node, node)"""
    said = [(s.number, s.similar, *pair) for pair, s in standing.pairs.items() if s.similar is not None]
    said += [(p.number, True, item, p.group) for item, p in standing.places.items() if p.group is not None]
    return sorted(said, key=lambda one: -one[0])


def closure(statements):
    """Every pair of nodes that follows: True for alike, False for not; None if they contradict each other."""
    nodes = {node for one in statements for node in one[2:]}
    alike = {(node, node) for node in nodes}
    alike |= {ends for _, same, a, b in statements if same for ends in ((a, b), (b, a))}
    for middle, one, other in product(nodes, repeat=3):  # Warshall: the middle changes slowest
        if (one, middle) in alike and (middle, other) in alike:
            alike.add((one, other))
    differ = [(a, b) for _, same, a, b in statements if not same]
    differ += combinations([node for node in nodes if isinstance(node, int)], 2)
    if any(pair in alike for pair in differ):
        return None
    found = dict.fromkeys(alike, True)
    for a, b in differ:
        for one, other in product(nodes, repeat=2):
            if (one, a) in alike and (other, b) in alike:
                found[one, other] = found[other, one] = False
    return found


@given(standings())
def test_newer_answers_win_through_chains(standing):
    agreed, left_out = [], []
    for one in said_newest_first(standing):
        if closure([*agreed, one]) is None:
            left_out.append(one[0])
        else:
            agreed.append(one)
    follows = closure(agreed)
    expected = [(a, b, follows[a, b]) for a, b in PAIRS if (a, b) in follows]
    assert known_pairs(standing, transitive=True) == expected
    assert [one.number for one in contradictions(standing)] == left_out


@given(standings())
def test_without_transitivity_the_newer_answer_about_a_pair_counts(standing):
    expected = []
    for a, b in PAIRS:
        said, one, other = standing.pairs.get((a, b)), standing.places.get(a), standing.places.get(b)
        heard = [] if said is None else [(said.number, said.similar)]
        if one is not None and other is not None and None not in (one.group, other.group):
            heard.append((max(one.number, other.number), one.group == other.group))
        if heard and max(heard)[1] is not None:
            expected.append((a, b, max(heard)[1]))
    assert known_pairs(standing, transitive=False) == expected


def test_a_contradiction_is_named_with_its_chain():
    pairs = {
        ("a", "d"): Said(False, 1),
        ("a", "b"): Said(True, 2),
        ("b", "c"): Said(True, 3),
        ("c", "d"): Said(True, 4),
    }
    (found,) = contradictions(Standing(pairs))
    assert found.number == 1
    assert found.text == "a is not like d, but a chain of alike pairs joins them: a - b - c - d"


def test_a_contradiction_of_groups_is_named_with_its_chain():
    places = {"a": Place(1, 2), "b": Place(2, 3), "c": Place(2, 1)}
    pairs = {("a", "c"): Said(True, 4)}
    (found,) = contradictions(Standing(pairs, places, {2: "dogs"}))
    assert found.number == 1
    assert found.text == "c belongs to group 2 (dogs), but c - a - group 1 and group 2 (dogs) are not alike"


@given(standings())
def test_what_is_kept_back_teaches_nothing(standing):
    left = to_learn_from(standing)
    named = {item for pair in left.pairs for item in pair} | set(left.places)
    assert not any(kept_back(item) for item in named)
    for transitive in (True, False):
        assert {item for a, b, _ in known_pairs(left, transitive=transitive) for item in (a, b)} <= named


def test_one_item_in_ten_is_kept_back_for_ever():
    share = sum(kept_back(f"photos/{number}.jpg") for number in range(10_000)) / 10_000
    assert 0.09 < share < 0.11
    first = [number for number in range(100) if kept_back(str(number))]
    assert first == [0, 7, 9, 10, 33, 40, 44, 51, 57, 59, 70, 71, 74, 90], (
        "on every machine, in every version"
    )


def test_too_many_pairs_are_refused(monkeypatch):
    places = {str(number): Place(1 + number % 2, number) for number in range(20)}
    assert len(known_pairs(Standing({}, places), transitive=True)) == 190
    monkeypatch.setattr(knowledge, "MOST_PAIRS", 150)
    for transitive in (True, False):
        with pytest.raises(UserError, match="more than 150: train on their groups"):
            known_pairs(Standing({}, places), transitive=transitive)


@given(standings())
def test_every_item_is_of_one_kind(standing):
    kinds = Agreement(standing).kinds.values()
    items = [item for kind in kinds for item in kind.items]
    assert len(items) == len(set(items))
    assert all(sum(isinstance(node, int) for node in kind.nodes) <= 1 for kind in kinds)
