"""Whether more answers help, where it is known."""

import numpy as np
import pytest

from pts3h.teaching.answers import Answers
from pts3h.teaching.helping import helping
from tests.teaching.worlds import blobs, place


def after(tmp_path, count, spread, kinds=4):
    ids, rows, kind_of = blobs(count, kinds, spread=spread)
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    position = {item: number for number, item in enumerate(ids)}
    with Answers(tmp_path / "answers.db") as answers:
        for item in ids:
            place(answers, item, kind_of)
        return helping(answers.standing(), lambda some: rows[[position[item] for item in some]])


def test_the_first_answers_tell_nothing(tmp_path):
    found = after(tmp_path, 20, 0.3)
    assert found.figure is None and not found.stop and "kept back to judge by" in found.text


def test_easy_kinds_need_no_more(tmp_path):
    found = after(tmp_path, 150, 0.1)
    assert found.stop and found.figure > 0.99 and "You can stop here" in found.text


def test_hard_kinds_need_more(tmp_path):
    found = after(tmp_path, 100, 0.5, kinds=8)
    assert not found.stop and 0.5 < found.figure < 0.95 and found.error > 0


def test_one_group_tells_nothing(tmp_path):
    assert after(tmp_path, 100, 0.1, kinds=1).figure is None


@pytest.mark.parametrize("spread", [0.1, 0.5])
def test_the_figure_is_in_the_words(tmp_path, spread):
    found = after(tmp_path, 150, spread)
    assert f"in {found.figure:.0%} of cases" in found.text
