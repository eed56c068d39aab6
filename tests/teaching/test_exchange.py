"""Answers go out as a CSV that a fit reads, and come in from one."""

import csv
import io

import numpy as np
import pytest

from pts3h.data.items import Items
from pts3h.data.pair_files import read_pairs, read_supervision
from pts3h.errors import UserError
from pts3h.teaching.answers import Answers

NAMES = ["one", "two,", 'th"ree', "four", "été 5", "-1"]


@pytest.fixture
def answers(tmp_path):
    with Answers(tmp_path / "answers.db") as found:
        for name in NAMES[:2]:
            found.place(name, None, new=True)
        found.place(NAMES[2], 1)
        found.place(NAMES[3], 1)
        found.pair(NAMES[4], NAMES[0], True)
        found.pair(NAMES[4], NAMES[5], None)
        yield found


def exported(answers, path, *, implied):
    with path.open("w", newline="", encoding="utf-8") as out:
        return answers.export(out, implied=implied)


def as_names(pairs):
    ends = [tuple(sorted(NAMES[at] for at in pair)) for pair in pairs.pairs]
    return dict(zip(ends, pairs.similar.tolist(), strict=True))


def test_a_fit_reads_every_pair_that_follows(answers, tmp_path):
    path = tmp_path / "pairs.csv"
    items = Items(np.eye(6), NAMES)
    assert exported(answers, path, implied=True) == 10  # five items, of which four are alike
    everything = as_names(read_pairs(path, items))
    assert sum(everything.values()) == 6
    assert exported(answers, path, implied=False) == 4
    assert as_names(read_supervision(items, path, None, transitive=True)) == everything


def test_as_said_it_keeps_what_is_not_transitive(tmp_path):
    out = io.StringIO()
    with Answers(tmp_path / "answers.db") as answers:
        answers.pair("a", "b", True)
        answers.pair("b", "c", True)
        answers.pair("a", "c", False)
        assert answers.export(out, implied=False) == 3
    assert out.getvalue() == "a,b,similar\na,b,1\nb,c,1\na,c,0\n"


def test_a_newer_pair_overrules_a_group(tmp_path):
    out = io.StringIO()
    with Answers(tmp_path / "answers.db") as answers:
        answers.pair("a", "b", False)
        answers.place("a", None, new=True)
        answers.place("b", 1)
        answers.place("c", 1)
        answers.pair("a", "c", False)
        answers.export(out, implied=False)
    assert out.getvalue() == "a,b,similar\na,b,1\na,c,0\n"


def test_what_was_exported_comes_in(answers, tmp_path):
    out = io.StringIO()
    answers.export(out, implied=True)
    with Answers(tmp_path / "other.db") as other:
        other.pair(NAMES[0], NAMES[1], True)  # the file says otherwise, and is newer
        rows = list(csv.reader(io.StringIO(out.getvalue())))
        assert other.import_pairs(rows, ids=NAMES, who="a file") == 10
        assert other.import_pairs(rows) == 0, "what is known is not said twice"
        again = io.StringIO()
        other.export(again, implied=True)
        assert again.getvalue() == out.getvalue()
        assert {one.who for one in other.list()} == {"", "a file"}


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        ([["a", "b", "1"], ["a", "b"]], "row 2 has 2 columns"),
        ([["a", "b", "perhaps"]], "row 1 has similarity 'perhaps'"),
        ([["a", "b", "1"], ["b", "a", "no"]], "row 2 contradicts row 1"),
        ([["a", "b", "1"], ["a", "a", "1"]], "'a' is paired with itself"),
        ([["a", "zebra", "1"]], "row 1 names 'zebra', which is not among the items"),
    ],
)
def test_a_wrong_row_is_named_and_none_comes_in(tmp_path, rows, words):
    with Answers(tmp_path / "answers.db") as answers:
        with pytest.raises(UserError, match=words):
            answers.import_pairs(rows, ids={"a", "b"})
        assert answers.list() == []
