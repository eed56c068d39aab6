"""What is asked: everything once, what says most first, and nothing that was answered."""

import threading

import numpy as np
import pytest

from pts3h.errors import UserError
from pts3h.teaching import draw, questions
from pts3h.teaching.answers import Answers
from pts3h.teaching.kept_back import kept_back
from pts3h.teaching.questions import Questions
from tests.teaching.worlds import blobs, place, teachable


@pytest.fixture
def answers(tmp_path):
    with Answers(tmp_path / "answers.db") as found:
        yield found


def cosines(one, other):
    one, other = np.float64(one), np.float64(other)
    return one @ other.T / np.linalg.norm(one, axis=-1)[..., None] / np.linalg.norm(other, axis=-1)


@pytest.mark.parametrize("sample", [draw.TAUGHT, 7])
def test_every_item_is_asked_about_once(answers, monkeypatch, sample):
    monkeypatch.setattr(draw, "TAUGHT", sample)
    monkeypatch.setattr(draw, "JUDGES", sample)
    ids, rows, kind_of = blobs(80, 5)
    asking, asked = Questions(answers, ids, rows), []
    while (question := asking.next_placing()) is not None:
        asked.append(question.item)
        if len(asked) % 7:
            place(answers, question.item, kind_of)
        else:
            answers.place(question.item, None)
    assert sorted(asked) == sorted(ids)
    assert Questions(answers, ids, rows).next_placing() is None, "also by another model"


def test_one_answer_in_ten_is_kept_back(answers):
    ids, rows, kind_of = blobs(900, 5)
    asking, asked = Questions(answers, ids, rows), []
    for _ in range(60):
        asked.append(asking.next_placing().item)
        place(answers, asked[-1], kind_of)
    assert [number for number, item in enumerate(asked, 1) if kept_back(item)] == [10, 20, 30, 40, 50, 60]


def test_every_kind_is_seen_before_one_is_seen_often(answers):
    ids, rows, kind_of = blobs(600, 8)
    asking, seen = Questions(answers, ids, rows), []
    for _ in range(9):
        item = asking.next_placing().item
        seen.append(kind_of[item])
        place(answers, item, kind_of)
    assert set(seen) == set(range(8))


def test_large_kinds_come_first(answers):
    ids, rows, kind_of = blobs([300, 30, 100], 3)
    asking, seen = Questions(answers, ids, rows), []
    for _ in range(2):
        item = asking.next_placing().item
        seen.append(kind_of[item])
        place(answers, item, kind_of)
    assert seen == [0, 2]


def test_what_is_skipped_or_undone(answers):
    ids, rows, kind_of = blobs(50, 3)
    asking = Questions(answers, ids, rows)
    first = asking.next_placing().item
    second = asking.next_placing(skip=[first]).item
    assert second != first and asking.next_placing().item == first
    place(answers, first, kind_of)
    assert asking.next_placing().item != first
    answers.undo()
    assert asking.next_placing().item == first
    assert asking.next_placing(skip=ids) is None


def test_the_nearest_groups_come_first_with_examples(answers):
    ids, rows, kind_of = blobs(600, 14, spread=0.3)
    items = [item for item in ids if not kept_back(item)][:200]
    for item in items:
        place(answers, item, kind_of)
    question = Questions(answers, ids, rows).next_placing()
    position = {item: number for number, item in enumerate(ids)}
    near = {
        group.number: cosines(rows[position[question.item]], rows[[position[one] for one in group.items]])
        for group in answers.groups()
    }
    expected = sorted(near, key=lambda number: -near[number].mean())[:9]
    assert [group.group for group in question.groups] == expected
    members = {group.number: group.items for group in answers.groups()}
    for group in question.groups:
        assert group.similarity == pytest.approx(near[group.group].mean(), abs=1e-5)
        assert len(group.examples) == len(set(group.examples)) == min(6, len(members[group.group]))
        closest = [members[group.group][at] for at in np.argsort(-near[group.group])[:3]]
        assert group.examples[:3] == closest


def test_answers_about_items_that_are_gone_do_not_matter(answers):
    ids, rows, kind_of = blobs(40, 2)
    for item in ids[:10]:
        place(answers, item, kind_of)
    answers.pair("gone.jpg", ids[3], True)
    asking = Questions(answers, ids[5:], rows[5:])
    question = asking.next_placing()
    assert question.item in ids[10:]
    assert {item for group in question.groups for item in group.examples} <= set(ids[5:10])
    assert asking.next_pair() is not None and asking.helping().figure is None


def test_pairs_are_asked_once_and_one_in_ten_judges(answers):
    ids, rows, kind_of = blobs(60, 3)
    asking, asked = Questions(answers, ids, rows), []
    for _ in range(50):
        question = asking.next_pair()
        asked.append(frozenset((question.a, question.b)))
        similar = None if len(asked) % 9 == 0 else kind_of[question.a] == kind_of[question.b]
        answers.pair(question.a, question.b, similar)
    assert len(set(asked)) == 50
    judging = [number for number, pair in enumerate(asked, 1) if any(map(kept_back, pair))]
    assert judging == [10, 20, 30, 40, 50]


def test_pairs_are_hard_to_tell(answers):
    """Of random directions, a tenth are taken for alike until people have said more."""
    rng = np.random.default_rng(0)
    ids, rows = teachable(400), rng.standard_normal((400, 8))
    asking = Questions(answers, ids, rows)
    every = cosines(rows, rows)[np.triu_indices(400, 1)]
    for _ in range(20):
        question = asking.next_pair()
        assert np.quantile(every, 0.8) < question.similarity < np.quantile(every, 0.95)
        answers.pair(question.a, question.b, None)
    assert len({item for pair in answers.standing().pairs for item in pair}) == 40, "always of new items"


def test_pairs_follow_what_people_call_alike(answers):
    """Whoever calls alike what is nearer than some angle is asked about pairs at that angle."""
    rng = np.random.default_rng(0)
    ids, rows = teachable(400), rng.standard_normal((400, 3))
    asking, edge = Questions(answers, ids, rows), 0.6
    for _ in range(60):
        question = asking.next_pair()
        answers.pair(question.a, question.b, question.similarity > edge)
    assert abs(asking.next_pair().similarity - edge) < 0.1


def test_pairs_come_to_an_end(answers):
    ids = teachable(5)
    asking = Questions(answers, ids, np.eye(5))
    for _ in range(10):
        question = asking.next_pair()
        answers.pair(question.a, question.b, False)
    assert asking.next_pair() is None
    answers.undo()
    assert asking.next_pair() is not None and asking.next_pair(skip=ids) is None


def test_pairs_that_groups_tell_are_not_asked(answers):
    ids, rows, kind_of = blobs(30, 2)
    for item in ids[:28]:
        place(answers, item, kind_of)
    asking = Questions(answers, ids, rows)
    while (question := asking.next_pair()) is not None:
        assert not {question.a, question.b} <= set(ids[:28])
        answers.pair(question.a, question.b, None)


def test_few_items_or_none(answers):
    assert Questions(answers, [], np.empty((0, 4))).next_placing() is None
    assert Questions(answers, [], np.empty((0, 4))).next_pair() is None
    one = Questions(answers, ["a"], np.zeros((1, 4)))
    assert one.next_placing().item == "a" and one.next_pair() is None
    with pytest.raises(UserError, match="2 ids for 1 vectors"):
        Questions(answers, ["a", "b"], np.zeros((1, 4)))


def test_many_threads_ask_and_answer(answers):
    ids, rows, _ = blobs(200, 3)
    asking, wrong = Questions(answers, ids, rows), []

    def person():
        try:
            for _ in range(15):
                answers.place(asking.next_placing().item, None)
                question = asking.next_pair()
                answers.pair(question.a, question.b, None)
                asking.helping()
        except Exception as error:
            wrong.append(error)

    people = [threading.Thread(target=person) for _ in range(4)]
    for one in people:
        one.start()
    for one in people:
        one.join()
    assert not wrong and answers.counts().answers == 120


def test_helping_is_looked_at_again_after_some_answers(answers, monkeypatch):
    ids, rows, kind_of = blobs(300, 3)
    looks = []
    monkeypatch.setattr(questions, "helping", lambda standing, _: looks.append(standing.answers))
    asking = Questions(answers, ids, rows)
    for item in ids[:12]:
        asking.helping()
        place(answers, item, kind_of)
    assert looks == [0, 5, 10]
