"""What a hasher is given: every pair that follows, or labels where many items are in groups."""

from itertools import combinations

import numpy as np
import pytest

from pts3h.teaching import lesson as lessons
from pts3h.teaching.answers import Answers
from pts3h.teaching.kept_back import kept_back
from pts3h.teaching.lesson import lesson

IDS = [name for name in (f"{number:03}.png" for number in range(60)) if not kept_back(name)][:40]
MANY = 12


@pytest.fixture
def answers(tmp_path, monkeypatch):
    monkeypatch.setattr(lessons, "MANY", MANY)
    with Answers(tmp_path / "answers.db") as opened:
        yield opened


def place(answers, count, kinds=3):
    """Put the first items into the group of their kind, in turn."""
    groups = {}
    for number, name in enumerate(IDS[:count]):
        kind = number % kinds
        said = answers.place(name, groups.get(kind), new=kind not in groups)
        groups.setdefault(kind, said.group)


def test_nothing_said_is_nothing_to_learn(answers):
    assert lesson(answers.standing(), IDS).arguments == {}


def test_few_items_teach_by_all_their_pairs(answers):
    place(answers, MANY - 1)
    learned = lesson(answers.standing(), IDS)
    expected = [(a, b, a % 3 == b % 3) for a, b in combinations(range(MANY - 1), 2)]
    assert sorted(map(tuple, learned.arguments["pairs"].tolist())) == sorted(expected)
    assert (learned.items, learned.pairs) == (MANY - 1, len(expected))


def test_many_items_teach_by_their_groups(answers):
    place(answers, MANY)
    learned = lesson(answers.standing(), IDS)
    labels = learned.arguments["labels"]
    assert (labels[MANY:] == -1).all()
    same = labels[:MANY, None] == labels[None, :MANY]
    assert np.array_equal(same, np.equal.outer(np.arange(MANY) % 3, np.arange(MANY) % 3))
    assert (learned.items, learned.pairs) == (MANY, MANY * (MANY - 1) // 2)


def test_one_group_says_nothing_by_itself(answers):
    """A label that all share keeps nothing apart: its pairs teach at least that they are alike."""
    place(answers, MANY, kinds=1)
    assert set(lesson(answers.standing(), IDS).arguments) == {"pairs"}


def test_more_single_pairs_than_items_in_groups_are_not_left_out(answers):
    """Labels cannot say what pairs say of items without a group."""
    place(answers, MANY)
    outside = list(combinations(IDS[MANY:], 2))[: MANY + 1]
    for a, b in outside[:MANY]:
        answers.pair(a, b, False)
    assert set(lesson(answers.standing(), IDS).arguments) == {"labels"}
    answers.pair(*outside[MANY], False)
    rows = lesson(answers.standing(), IDS).arguments["pairs"].tolist()
    position = {name: number for number, name in enumerate(IDS)}
    assert all([position[a], position[b], 0] in rows for a, b in outside)


def test_pairs_that_the_groups_say_too_are_not_left_out(answers):
    place(answers, MANY)
    for a, b in combinations(range(MANY), 2):
        answers.pair(IDS[a], IDS[b], a % 3 == b % 3)
    assert set(lesson(answers.standing(), IDS, transitive=False).arguments) == {"labels"}


def test_what_is_kept_back_and_what_is_gone_teach_nothing(answers):
    place(answers, MANY)
    judge = next(name for name in (f"{number:03}.png" for number in range(60)) if kept_back(name))
    answers.place(judge, 1)
    answers.place("gone.png", 1)
    ids = [*IDS, judge]
    learned = lesson(answers.standing(), ids)
    assert learned.items == MANY and learned.arguments["labels"][-1] == -1
