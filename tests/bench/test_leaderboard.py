"""Who wins, and how sure that is: corrected p values against closed testing, places against plain sorting."""

from itertools import combinations

import numpy as np
import pytest
from scipy.stats import ttest_rel

from pts3h.bench.leaderboard import leaderboard, rivals
from pts3h.bench.summary import holm, summarise
from pts3h.bench.tables import significance_table
from tests.bench.cells import result


def closed_testing(tests):
    """Holm's p by its definition: the largest Bonferroni p of all families that hold the test."""
    places = range(len(tests))
    families = [family for size in places for family in combinations(places, size + 1)]
    bonferroni = {family: min(1.0, len(family) * min(tests[i] for i in family)) for family in families}
    return [max(p for family, p in bonferroni.items() if place in family) for place in places]


@pytest.mark.parametrize("seed", range(5))
def test_holm_is_closed_testing_by_bonferroni(seed):
    tests = list(np.random.default_rng(seed).random(6) ** 3)
    assert holm(tests) == pytest.approx(closed_testing(tests))


def test_what_has_no_p_is_no_test():
    assert holm([0.01, None, 0.04]) == [pytest.approx(0.02), None, pytest.approx(0.04)]
    assert holm([]) == []


MAPS = {
    "pts3h-dsh": [0.60, 0.64, 0.63],
    "pts3h-ksh": [0.61, 0.60, 0.62],
    "dsh": [0.50, 0.52, 0.54],
    "ssdh": [0.65, 0.70, 0.66],
}


def cells(labels, shift=0.0):
    return [
        result(method, value + (shift if method == "ssdh" else 0), bits=48, labels=labels, seed=seed)
        for method, values in MAPS.items()
        for seed, value in enumerate(values)
    ]


class TestPlaces:
    def test_everyone_is_placed_by_map_at_each_number_of_labels(self):
        table = leaderboard(summarise([*cells(100, shift=-0.2), *cells(5000)], ""))
        assert table.header == ["place", "100 labels", "5,000 labels"]
        assert [row[0] for row in table.rows] == ["1", "2", "3", "4"]
        assert [row[2].rsplit(" ", 2)[0] for row in table.rows] == ["SSDH", "PTS3H-DSH", "PTS3H-KSH", "DSH"]
        assert [row[1].rsplit(" ", 2)[0] for row in table.rows] == ["PTS3H-DSH", "PTS3H-KSH", "DSH", "SSDH"]
        assert table.rows[0][2] == "SSDH 0.670 ±0.026"

    def test_two_systems_need_no_board(self):
        assert leaderboard(summarise([result("dsh", 0.5), result("itq", 0.3)], "")) is None


class TestRivals:
    def test_the_best_of_ours_meets_the_best_of_the_others_and_may_lose(self):
        table = rivals(summarise([*cells(100, shift=-0.2), *cells(5000)], ""))
        few, many = table.rows
        assert few[:4] == ["100", "48", "PTS3H-DSH", "DSH"] and many[:4] == [
            "5,000",
            "48",
            "PTS3H-DSH",
            "SSDH",
        ]
        assert many[4:7] == ["0.6233", "0.6700", "-0.0467"]
        plain = [ttest_rel(MAPS["pts3h-dsh"], MAPS[name]).pvalue for name in ("dsh", "ssdh")]
        assert [float(row[7]) for row in table.rows] == pytest.approx(plain, abs=5e-5)
        assert [float(row[8]) for row in table.rows] == pytest.approx(closed_testing(plain), abs=5e-5)

    def test_one_kind_alone_has_no_rival(self):
        assert rivals(summarise([result("dsh", 0.5), result("itq", 0.3)], "")) is None


def test_gains_are_corrected_over_their_table():
    table = significance_table(summarise(cells(100), ""))
    assert table.header[-2:] == ["p", "Holm"]
    (row,) = (row for row in table.rows if row[1] == "DSH")
    plain = float(row[-2])
    assert plain == pytest.approx(ttest_rel(MAPS["pts3h-dsh"], MAPS["dsh"]).pvalue, abs=5e-5)
    tests = [float(row[-2]) for row in table.rows if row[-2]]
    assert [float(row[-1]) for row in table.rows if row[-1]] == pytest.approx(closed_testing(tests), abs=2e-4)
