"""Figures on answers that were kept back, against scikit-learn and a jackknife by hand."""

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

from pts3h import hamming, pack
from pts3h.teaching import judging
from pts3h.teaching.answers import Answers
from pts3h.teaching.judging import area, gain, judge
from pts3h.teaching.kept_back import kept_back
from tests.teaching.worlds import blobs, place


@pytest.fixture
def world(tmp_path):
    """A hundred placed items, of which some are kept back, and a few single pairs."""
    ids, rows, kind_of = blobs(100, 3, spread=0.4)
    with Answers(tmp_path / "answers.db") as answers:
        for item in ids:
            place(answers, item, kind_of)
        yield answers.standing(), dict(zip(ids, rows, strict=True)), kind_of


def by_hand(rows, kind_of, near, without=None):
    items = sorted(rows)
    pairs = [
        (a, b)
        for at, a in enumerate(items)
        for b in items[at + 1 :]
        if (kept_back(a) or kept_back(b)) and without not in (a, b)
    ]
    return roc_auc_score(
        [kind_of[a] == kind_of[b] for a, b in pairs], [near(rows[a], rows[b]) for a, b in pairs]
    )


def cosine(one, other):
    one, other = np.float64(one), np.float64(other)
    return round(one @ other / np.linalg.norm(one) / np.linalg.norm(other), 9)


@pytest.mark.parametrize("codes", [False, True])
def test_the_area_and_its_error(world, codes):
    standing, rows, kind_of = world
    near = cosine
    if codes:
        rows = {item: pack(np.where(row - 0.3 >= 0, 1, -1)) for item, row in rows.items()}
        near = lambda a, b: -int(hamming(a[None], b[None])[0, 0])  # noqa: E731
    found = judge(standing, rows)
    kept = [item for item in sorted(rows) if kept_back(item)]
    assert found.auc == pytest.approx(by_hand(rows, kind_of, near))
    without = [by_hand(rows, kind_of, near, item) for item in kept]
    assert sorted(found.without) == pytest.approx(sorted(without))
    count = len(kept)
    assert found.error == pytest.approx(np.sqrt((count - 1) * np.var(without)))
    assert (found.items, found.pairs) == (count, count * (100 - count) + count * (count - 1) // 2)
    assert found.to_json() == {
        "auc": round(found.auc, 4),
        "error": round(found.error, 4),
        "pairs": found.pairs,
        "items": count,
    }


def test_a_better_model_gains(world):
    standing, rows, _ = world
    blurred = {
        item: row + 3 * np.random.default_rng(int(item[:-4])).standard_normal(8) for item, row in rows.items()
    }
    before, after = judge(standing, blurred), judge(standing, rows)
    more, error = gain(before, after)
    assert more == pytest.approx(after.auc - before.auc) and more > error > 0
    assert gain(after, after) == (0, 0)


def test_items_without_a_row_do_not_judge(world):
    standing, rows, kind_of = world
    some = {item: rows[item] for item in sorted(rows)[:90]}
    assert judge(standing, some).auc == pytest.approx(by_hand(some, kind_of, cosine))


def test_too_few_judge_nothing(tmp_path):
    ids, rows, kind_of = blobs(100, 3)
    rows = dict(zip(ids, rows, strict=True))
    with Answers(tmp_path / "answers.db") as answers:
        assert judge(answers.standing(), rows) is None
        for item in [item for item in ids if kept_back(item)][:3] + [i for i in ids if not kept_back(i)]:
            place(answers, item, kind_of)
        assert judge(answers.standing(), rows) is None, "three items are kept back"
        place(answers, [item for item in ids if kept_back(item)][3], kind_of)
        assert judge(answers.standing(), rows) is not None


def test_the_number_of_judges_is_bounded_and_they_are_always_the_same(world, monkeypatch):
    standing, rows, _ = world
    monkeypatch.setattr(judging, "MOST_KEPT", 6)
    monkeypatch.setattr(judging, "MOST_OTHERS", 20)
    found = judge(standing, rows)
    assert (found.items, found.pairs) == (6, 6 * 20 + 15)
    assert judge(standing, dict(reversed(rows.items()))) == found


def test_pairs_of_their_own_judge_too(tmp_path):
    rng = np.random.default_rng(0)
    names = [f"{number}" for number in range(1000)]
    kept, others = [n for n in names if kept_back(n)][:20], [n for n in names if not kept_back(n)][:20]
    rows = {name: rng.standard_normal(4) for name in (*kept, *others)}
    similar = [True, False] * 10
    with Answers(tmp_path / "answers.db") as answers:
        for a, b, alike in zip(kept, others, similar, strict=True):
            answers.pair(a, b, alike)
            answers.pair(others[0], others[int(alike) + 1], alike)  # these teach
        found = judge(answers.standing(), rows, transitive=False)
    near = [cosine(rows[a], rows[b]) for a, b in zip(kept, others, strict=True)]
    assert found.auc == pytest.approx(roc_auc_score(similar, near)) and found.pairs == 20


def test_ties_count_half():
    assert area(np.array([1.0, 1.0, 2.0, 1.0]), np.array([True, False, True, False])) == 0.75
    assert area(np.array([1.0]), np.array([True])) == 0.5
