"""Mean, deviation and significance on numbers made by hand."""

import numpy as np
import pytest
from scipy.stats import t, ttest_rel

from pts3h.bench.paper import paper_map, paper_precision
from pts3h.bench.summary import paired_p, summarise
from tests.bench.cells import result

OURS, BASE = [0.61, 0.66, 0.63, 0.68, 0.64], [0.58, 0.61, 0.62, 0.63, 0.60]


def matrix():
    own = [result("pts3h-dsh", value, seed=seed) for seed, value in enumerate(OURS)]
    return own + [result("dsh", value, seed=seed) for seed, value in enumerate(BASE)]


def test_mean_and_deviation():
    first, second = summarise(matrix(), "")
    assert (first.method, second.method, first.seeds) == ("pts3h-dsh", "dsh", 5)
    assert first.map == pytest.approx(0.644) and first.map_deviation == pytest.approx(np.std(OURS, ddof=1))
    assert second.against is None


def test_significance_is_scipys_and_the_textbooks():
    against = summarise(matrix(), "")[0].against
    assert against.base == "dsh" and against.gain == pytest.approx(0.036)
    assert against.base_map == pytest.approx(0.608)
    assert against.p == pytest.approx(ttest_rel(OURS, BASE).pvalue)
    difference = np.subtract(OURS, BASE)
    statistic = difference.mean() / (difference.std(ddof=1) / np.sqrt(5))
    assert against.p == pytest.approx(2 * t.sf(statistic, 4)) and against.p < 0.01


def test_only_seeds_that_both_have_run_are_compared():
    cells = [*matrix(), result("pts3h-dsh", 0.99, seed=7)]
    assert summarise(cells, "")[0].against.gain == pytest.approx(0.036)


def test_cells_of_other_labels_or_lengths_are_not_compared():
    cells = [result("pts3h-dsh", 0.7), result("dsh", 0.6, bits=24), result("dsh", 0.5, labels=500)]
    assert all(summary.against is None for summary in summarise(cells, ""))


def test_varied_cells_are_left_out():
    assert len(summarise([*matrix(), result("pts3h-dsh", 0.1, varied=("omega", 0.1))], "")) == 2


def test_too_little_for_a_p():
    assert paired_p(np.array([0.5]), np.array([0.4])) is None
    assert paired_p(np.array([0.5, 0.5]), np.array([0.25, 0.25])) is None


class TestPaper:
    @pytest.mark.parametrize(
        ("method", "dataset", "bits", "labels", "expected"),
        [
            ("pts3h-dsh", "cifar10", 48, 5000, 0.843),
            ("pts3h-dpsh", "nuswide21", 12, 10500, 0.803),
            ("dsh", "imagenet100", 64, 13000, 0.662),
            ("hashnet", "cifar10", 16, 5000, 0.686),
            ("hashnet", "cifar10", 24, 5000, None),
            ("pts3h-q", "cifar10", 32, 5000, 0.817),
            ("ssdh", "imagenet100", 16, 13000, None),
            ("itq", "cifar10", 48, 5000, None),
            ("pts3h-dsh", "cifar10", 48, 500, None),
            ("pts3h-dsh", "mosaic", 48, 5000, None),
        ],
    )
    def test_map(self, method, dataset, bits, labels, expected):
        assert paper_map(method, dataset, bits, labels) == expected

    def test_precision(self):
        assert paper_precision("pts3h-s", "nuswide21", 48, 10500) == 0.739
        assert paper_precision("dsh", "cifar10", 48, 5000) is None

    def test_it_stands_beside_ours(self):
        cells = [result("dsh", 0.5, bits=48, labels=5000)]
        assert [summarise(cells, name)[0].paper for name in ("cifar10", "")] == [0.820, None]
