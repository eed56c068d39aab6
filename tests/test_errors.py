"""Whatever a message quotes, it is one printable line of limited length."""

import pickle

import pytest

from pts3h.errors import MOST, BrokenImage, UserError


@pytest.mark.parametrize(
    ("given", "line"),
    [
        ("there is no a  b.png: look again", "there is no a  b.png: look again"),
        ("cannot read it:\n  line 3\n  column 7", "cannot read it: line 3 column 7"),
        ("a\r\nb\x85c\u2028d", "a b c d"),
        ("\x1b[31mred\0", "\\x1b[31mred\\x00"),
        ("caf\udce9 ä 猫", "caf\\udce9 ä 猫"),
    ],
)
def test_one_line(given, line):
    assert str(UserError(given)) == line


def test_a_long_one_is_cut():
    assert str(UserError("x" * MOST)) == "x" * MOST
    cut = str(UserError("x" * 10**7))
    assert len(cut) == MOST and cut.endswith("...")


def test_it_comes_through_another_process_as_it_is():
    error = pickle.loads(pickle.dumps(BrokenImage("a\nb")))
    assert type(error) is BrokenImage and str(error) == "a b"
