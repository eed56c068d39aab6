"""Progress: nothing, lines for a log, a bar on a terminal."""

import pytest

from pts3h.util import progress
from pts3h.util.progress import SECONDS_BETWEEN_LINES, bar, spoken


class Clock:
    """Time that passes when a test says so."""

    def __init__(self):
        self.now = 1000.0

    def monotonic(self):
        return self.now


@pytest.fixture
def clock(monkeypatch):
    clock = Clock()
    monkeypatch.setattr(progress, "time", clock)
    return clock


def run(clock, moves, total=100, **options):
    """Advance by so many after so many seconds each."""
    with bar("reading", total, progress="lines", **options) as advance:
        for seconds, more in moves:
            clock.now += seconds
            advance(more)


@pytest.mark.parametrize("mode", [False, None])  # standard error of a test is no terminal
def test_silence(capsys, mode):
    with bar("reading", 10, unit="images", progress=mode) as advance:
        for _ in range(10):
            advance(1)
    assert capsys.readouterr() == ("", "")


def test_a_bar_is_drawn_on_standard_error(capsys):
    with bar("reading", 10, unit="images", progress=True) as advance:
        advance(10)
    out, err = capsys.readouterr()
    assert out == "" and "reading" in err and "10/10" in err


def test_a_terminal_gets_a_bar_by_default(capsys, monkeypatch):
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    with bar("reading", 4) as advance:
        advance(4)
    assert "4/4" in capsys.readouterr().err


def test_lines_say_how_far_and_how_long_still(capsys, clock):
    run(clock, [(10, 20), (10, 20), (30, 60)], unit="images")
    out, err = capsys.readouterr()
    assert out == ""
    assert err.splitlines() == [
        "reading: 20 of 100 images, about 40 s left",  # 20 in 10 s: 80 more take 40 s
        "reading: 40 of 100 images, about 30 s left",  # 40 in 20 s: 60 more take 30 s
        "reading: 100 of 100 images, done in 50 s",
    ]


def test_a_line_now_and_then_and_always_a_last_one(capsys, clock):
    run(clock, [(1, 1)] * 35, total=35)
    lines = capsys.readouterr().err.splitlines()
    assert SECONDS_BETWEEN_LINES == 10
    assert [line.split(",")[0] for line in lines] == [f"reading: {done} of 35" for done in (10, 20, 30, 35)]
    assert lines[-1] == "reading: 35 of 35, done in 35 s"


def test_what_was_done_before_the_start_does_not_count_for_the_rate(capsys, clock):
    run(clock, [(0, 900), (10, 10), (90, 90)], total=1000, unit="runs")
    assert capsys.readouterr().err.splitlines() == [
        "reading: 910 of 1,000 runs, about 1 min 30 s left",  # 10 in 10 s
        "reading: 1,000 of 1,000 runs, done in 1 min 40 s",
    ]


@pytest.mark.parametrize(
    ("seconds", "words"), [(0.2, "0 s"), (59.4, "59 s"), (59.6, "1 min 0 s"), (75, "1 min 15 s")]
)
def test_spoken(seconds, words):
    assert spoken(seconds) == words
