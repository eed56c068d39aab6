"""Numbers at the edge, through fit, encode, an index and evaluate: see ``numbers.py``."""

from tests.faults.numbers import CASES


def test_numbers(zygote, full, tally):
    counted = tally("numbers: fit, encode, index, evaluate")
    for name in CASES if full else list(CASES)[::4]:
        with counted.trying(name):
            done = zygote.run("use_numbers", name)
            assert done.finished, done.raised or done.refused
