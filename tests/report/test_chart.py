"""Charts read back: by their own numbers, points stand where their values are."""

import re
from xml.etree import ElementTree

import numpy as np
import pytest

from pts3h.report.chart import Chart, Line, ticks


def read_back(chart):
    """Values of each path, by its class; places are turned into values by the numbers along the axes."""
    svg = ElementTree.fromstring(chart.svg())
    words = [(float(t.get("x")), float(t.get("y")), t.text) for t in svg.iter("text") if t.get("x")]
    numbers = [
        (x, y, float(text.replace(",", ""))) for x, y, text in words if re.fullmatch(r"[-\d.,e]+", text)
    ]
    left = min(x for x, _, _ in numbers)
    up = [(y - 4, value) for x, y, value in numbers if x == left]  # numbers are centred beside their line
    across = [(x, value) for x, _, value in numbers if x != left]
    fit_x, fit_y = (np.polyfit(*np.array(scale).T, deg=1) for scale in (across, up))
    found = {}
    for path in svg.iter("path"):
        if "line" in path.get("class") or path.get("class") == "mark":
            places = np.array([float(n) for n in re.findall(r"-?[\d.]+", path.get("d"))])
            x, y = (places[::2], places[1::2]) if "line" in path.get("class") else (places[:1], places[1:])
            found[path.get("class")] = np.polyval(fit_x, x), np.polyval(fit_y, y)
    return found


def test_points_stand_where_their_values_are():
    x, y = [0.0, 10.0, 20.0, 48.0], [0.5, 12.0, 3.0, 7.5]
    chart = Chart("says", [Line("alike", x, y), Line("apart", x, y[::-1])], "x", "y", mark=(11.7, "thr"))
    found = read_back(chart)
    for name, values in (("alike line", y), ("apart line", y[::-1])):
        assert found[name][0] == pytest.approx(x, abs=0.05)
        assert found[name][1] == pytest.approx(values, abs=0.05)
    assert found["mark"][0] == pytest.approx([11.7], abs=0.05)


def test_a_mark_outside_is_left_out():
    chart = Chart("says", [Line("alike", [0.0, 5.0], [1.0, 2.0])], "x", "y", mark=(6.0, "thr"))
    assert "mark" not in read_back(chart) and "thr" not in chart.svg()


@pytest.mark.parametrize("y", [[0.0], [3.0, 3.0, 3.0], [-2.0, 1e-9], [1e-14, 2e-14], [1e9, 1e9 + 1]])
def test_odd_values(y):
    chart = Chart("says", [Line("alike", list(range(len(y))), y, filled=True)], "x", "y", from_zero=False)
    svg = chart.svg()
    assert "nan" not in svg and "inf" not in svg
    ElementTree.fromstring(svg)


@pytest.mark.parametrize("seed", range(20))
def test_ticks_are_few_round_and_enclose(seed):
    rng = np.random.default_rng(seed)
    values = (rng.normal(size=10) * 10 ** rng.uniform(-4, 4)).tolist()
    found = ticks(values)
    steps = np.diff(found)
    assert found[0] <= min(values) and max(values) <= found[-1] and 2 <= len(found) <= 8
    assert steps == pytest.approx(np.full(len(steps), steps[0]))
    assert float(f"{steps[0]:.2g}") == pytest.approx(steps[0])


def test_words_are_escaped():
    chart = Chart('<b>"', [Line("alike", [0.0, 1.0], [0.0, 1.0])], "<i>", "&")
    svg = ElementTree.fromstring(chart.svg())
    assert svg.get("aria-label") == '<b>"' and {"<i>", "&"} <= {text.text for text in svg.iter("text")}
