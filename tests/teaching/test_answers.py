"""Answers are kept, taken back, and come to what the newest ones say."""

import sqlite3
import threading

import pytest

from pts3h.errors import UserError
from pts3h.teaching.answer import Counts
from pts3h.teaching.answers import Answers


@pytest.fixture
def answers(tmp_path):
    with Answers(tmp_path / "work" / "answers.db") as found:
        yield found


def items(answers):
    return {group.number: group.items for group in answers.groups()}


def test_what_is_said_is_there_when_opened_again(tmp_path):
    path = tmp_path / "answers.db"
    with Answers(path) as answers:
        answers.pair("b", "a", True, who="Ann", model="f00")
        answers.pair("a", "c", None)
        answers.place("x", None, new=True)
        answers.place("y", 1)
        answers.name_group(1, "cats")
        said = answers.list()
    with Answers(path) as again:
        assert again.list() == said
        assert again.groups()[0].name == "cats" and items(again) == {1: ["x", "y"]}
        assert again.counts() == Counts(
            answers=4, pairs=1, alike=1, not_alike=0, unsure=1, placed=2, groups=1
        )
    first = said[-1]
    assert (first.number, first.who, first.model, first.kind) == (1, "Ann", "f00", "pair")
    assert (first.a, first.b, first.similar) == ("b", "a", True) and first.at.endswith("+00:00")


def test_the_newest_answer_counts(answers):
    def said():
        return {pair: said.similar for pair, said in answers.standing().pairs.items()}

    answers.pair("a", "b", True)
    answers.pair("b", "a", False)
    assert said() == {("a", "b"): False}
    answers.pair("a", "b", None)
    assert said() == {("a", "b"): None} and answers.counts().unsure == 1
    answers.undo()
    assert said() == {("a", "b"): False}


def test_any_answer_can_be_undone(answers):
    for number in range(4):
        answers.pair("a", f"b{number}", True)
    assert answers.undo(2).b == "b1"
    assert answers.undo().b == "b3" and answers.undo().b == "b2"
    assert [one.undone for one in answers.list()] == [True, True, True, False]
    with pytest.raises(UserError, match="answer 2 was undone before"):
        answers.undo(2)
    with pytest.raises(UserError, match="there is no answer 99"):
        answers.undo(99)
    assert answers.undo().b == "b0" and answers.undo() is None


def test_groups_are_begun_merged_split_and_all_is_undone(answers):
    for name in "abc":
        answers.place(name, None, new=True)
    answers.place("d", 1)
    answers.name_group(2, "two")
    assert items(answers) == {1: ["a", "d"], 2: ["b"], 3: ["c"]}
    answers.merge(2, 1)
    assert items(answers) == {1: ["a", "d", "b"], 3: ["c"]} and answers.groups()[0].name == "two"
    assert answers.split(1, ["d", "b"]) == 4
    assert items(answers) == {1: ["a"], 3: ["c"], 4: ["d", "b"]}
    answers.undo()
    answers.undo()
    assert items(answers) == {1: ["a", "d"], 2: ["b"], 3: ["c"]}
    assert [group.name for group in answers.groups()] == ["", "two", ""]
    answers.undo(1)  # what came into its group later stays there
    assert items(answers) == {1: ["d"], 2: ["b"], 3: ["c"]}
    assert answers.place("e", None, new=True).group == 5, "a number is never used again"


def test_an_item_that_nobody_can_place_leaves_its_group(answers):
    answers.place("a", None, new=True)
    answers.place("b", 1)
    answers.place("b", None)
    assert items(answers) == {1: ["a"]} and answers.counts().unsure == 1


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda answers: answers.pair("a", "a", True), "paired with itself"),
        (lambda answers: answers.pair("", "a", True), "1 to 4096 characters"),
        (lambda answers: answers.place("a", 7), "there is no group 7"),
        (lambda answers: answers.place("a", 1, new=True), "leave out new"),
        (lambda answers: answers.merge(1, 1), "into itself"),
        (lambda answers: answers.merge(1, 9), "there is no group 9"),
        (lambda answers: answers.split(1, ["z"]), "'z' is not in group 1"),
        (lambda answers: answers.split(1, ["x"]), "not all or none"),
        (lambda answers: answers.name_group(1, "n" * 201), "at most 200"),
        (lambda answers: answers.list(-1), "0 or more"),
    ],
)
def test_what_cannot_be_meant_is_refused_and_nothing_is_written(answers, call, words):
    answers.place("x", None, new=True)
    before = answers.list()
    with pytest.raises(UserError, match=words):
        call(answers)
    assert answers.list() == before


def test_threads_and_other_connections_see_each_other(tmp_path):
    path = tmp_path / "answers.db"
    with Answers(path) as one, Answers(path) as other:
        threads = [
            threading.Thread(
                target=lambda n=n: [(one, other)[n % 2].pair("a", f"{n}-{k}", True) for k in range(20)]
            )
            for n in range(6)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        numbers = [answer.number for answer in one.list(limit=1000)]
        assert numbers == list(range(120, 0, -1))
        assert one.list(limit=1000) == other.list(limit=1000) and one.counts().alike == 120


def test_what_is_no_log_of_answers_is_one_clear_line(tmp_path):
    path = tmp_path / "answers.db"
    path.write_bytes(b"a photograph, say" * 100)
    with pytest.raises(UserError, match="is not a database of answers"):
        Answers(path)
    assert path.read_bytes() == b"a photograph, say" * 100
    path.unlink()
    with sqlite3.connect(path) as other:
        other.execute("CREATE TABLE mine (a)")
    other.close()
    with pytest.raises(UserError, match="is a database of something else"):
        Answers(path)


def test_another_format_and_damage_are_one_clear_line(tmp_path):
    path = tmp_path / "answers.db"
    Answers(path).close()
    database = sqlite3.connect(path)
    database.execute("PRAGMA user_version = 9")
    database.close()
    with pytest.raises(UserError, match="has format 9"):
        Answers(path)


@pytest.mark.parametrize(
    "change",
    [
        "UPDATE events SET said = replace(said, 'true', 'false') WHERE number = 2",
        "UPDATE events SET at = '' WHERE number = 2",
        "UPDATE events SET who = x'00' WHERE number = 2",
        "UPDATE events SET digest = x'00' WHERE number = 2",
        "DELETE FROM events WHERE number = 2",
        "DELETE FROM events WHERE number = 1",
        "UPDATE events SET number = 7 WHERE number = 3",
    ],
)
def test_what_nobody_has_said_is_one_clear_line(tmp_path, change):
    path = tmp_path / "answers.db"
    with Answers(path) as answers:
        for name in "bcd":
            answers.pair("a", name, True)
    database = sqlite3.connect(path)
    database.execute(change)
    database.commit()
    database.close()
    with pytest.raises(UserError, match="are damaged: restore the file from a backup"):
        Answers(path)


@pytest.mark.parametrize("length", [0, 1, 100, 511])
def test_a_file_that_was_cut_short_is_not_a_new_one(tmp_path, length):
    path = tmp_path / "answers.db"
    with Answers(path) as answers:
        answers.pair("a", "b", True)
    path.write_bytes(path.read_bytes()[:length])
    with pytest.raises(UserError, match=r"are damaged|not a database of answers"):
        Answers(path)


def test_who_removes_the_file_begins_anew(tmp_path):
    """Whatever a killed process left beside it."""
    path, log = tmp_path / "answers.db", tmp_path / "answers.db-wal"
    with Answers(path) as answers:
        answers.pair("a", "b", True)
        left = log.read_bytes()
    assert left
    path.unlink()
    log.write_bytes(left)
    with Answers(path) as answers:
        assert answers.counts().alike == 0
