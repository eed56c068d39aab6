"""The guide: a metric from alike pairs, evidence of pairs along the graph, the share of alike pairs."""

import numpy as np
import pytest
import torch

from pts3h.data.known_pairs import LabelPairs, PairList
from pts3h.unsupervised import guide as module
from pts3h.unsupervised.guide import LOCALITY, TRUST, neighbourhood, says
from pts3h.unsupervised.metric import STAND_IN, blend, scatter, whitening
from pts3h.unsupervised.share import USUAL, alike_share, log_odds

COUNT = 240
RNG = np.random.default_rng(0)
CLASSES = RNG.integers(4, size=COUNT)
ROWS = (RNG.normal(size=(4, 10))[CLASSES] + 0.5 * RNG.normal(size=(COUNT, 10))).astype(np.float32)
NOTHING = PairList(COUNT, np.empty((0, 3), int))


def some_pairs(count, seed=0):
    rng = np.random.default_rng(seed)
    ends = {tuple(sorted(rng.choice(COUNT, 2, replace=False))) for _ in range(count)}
    return PairList(COUNT, [(a, b, int(CLASSES[a] == CLASSES[b])) for a, b in sorted(ends)])


def near(known=NOTHING, members=None):
    members = np.arange(COUNT) if members is None else members
    return neighbourhood(COUNT, members, known, lambda positions: ROWS[positions])


class TestMetric:
    def test_whitening_makes_differences_of_alike_pairs_round(self):
        rng = np.random.default_rng(1)
        difference = rng.normal(size=(4000, 3)) * [5, 1, 0.5]
        first = torch.from_numpy(difference).float()
        spread = scatter(first, torch.zeros_like(first))
        assert float(spread.trace()) == pytest.approx(1)
        after = difference @ whitening(spread).double().numpy()
        sizes = np.linalg.eigvalsh(after.T @ after)
        before = np.linalg.eigvalsh(difference.T @ difference)
        assert sizes[-1] / sizes[0] < 3 < before[-1] / before[0]

    def test_pairs_take_over_from_neighbours(self):
        none, all_ = torch.zeros(2, 2), torch.eye(2)
        assert torch.equal(blend(none, all_, 0), none)
        np.testing.assert_allclose(blend(none, all_, STAND_IN), all_ / 2)
        assert float(blend(none, all_, 10**6)[0, 0]) > 0.99


class TestShare:
    @pytest.mark.parametrize("truth", [0.02, 0.1, 0.3])
    @pytest.mark.parametrize("marked", [0.2, 0.5, 0.8])
    def test_how_people_mark_does_not_matter(self, truth, marked):
        rng = np.random.default_rng(0)

        def draw(alike):
            return np.where(alike, rng.normal(0.6, 0.2, len(alike)), rng.normal(0.0, 0.2, len(alike)))

        similar = np.arange(600) < marked * 600
        found = alike_share(draw(similar), similar, draw(rng.random(20_000) < truth))
        assert abs(log_odds(found) - log_odds(truth)) < 0.5

    @pytest.mark.parametrize("truth", [0.02, 0.1, 0.3])
    @pytest.mark.parametrize("least", [0.2, 0.4])
    def test_pairs_that_were_chosen_because_they_look_alike(self, truth, least):
        """Only pairs of some similarities were shown, so the marked ones are like no others."""
        rng = np.random.default_rng(int(100 * truth))

        def draw(alike):
            return np.where(alike, rng.normal(0.5, 0.2, len(alike)), rng.normal(0.0, 0.2, len(alike)))

        alike = rng.random(400_000) < truth
        shown = draw(alike)
        marked = np.flatnonzero((shown > least) & (shown < least + 0.2))[:300]
        found = alike_share(shown[marked], alike[marked], draw(rng.random(20_000) < truth))
        assert abs(log_odds(found) - log_odds(truth)) < 1.5

    def test_few_pairs_hardly_move_it(self):
        similar = np.array([True, False])
        assert 0.05 < alike_share(np.array([0.9, 0.1]), similar, np.full(100, 0.9)) < 0.2

    @pytest.mark.parametrize("kind", [True, False])
    def test_one_kind_says_nothing(self, kind):
        assert alike_share(np.ones(5), np.full(5, kind), np.zeros(9)) == USUAL

    def test_constant_similarities(self):
        assert 0 < alike_share(np.ones(80), np.arange(80) < 40, np.ones(50)) < 1

    def test_from_items_and_pairs(self):
        truth = (CLASSES[:, None] == CLASSES[None, :]).mean()
        known = some_pairs(400)
        found = near(known).similar_share(known)
        assert truth / 2 < found < truth * 2


class TestGuide:
    def test_what_pairs_say_by_hand(self):
        known = some_pairs(30)
        guide = near(known).guide(known)
        positions = np.array([3, 50, 7, 200, 121])
        coordinates = guide.rows.double().numpy()
        pairs, similar = known.sample_pairs(10**6, np.random.default_rng(0))
        weights = says(similar).numpy()
        expected = np.empty((5, 5))
        for i, a in enumerate(positions):
            for j, b in enumerate(positions):
                said, weight = TRUST * coordinates[a] @ coordinates[b], TRUST
                for (first, second), value in zip(pairs, weights, strict=True):
                    for x, y in ((first, second), (second, first)):
                        close = max(coordinates[a] @ coordinates[x], 0) ** LOCALITY
                        close *= max(coordinates[b] @ coordinates[y], 0) ** LOCALITY
                        said, weight = said + value * close, weight + abs(value) * close
                expected[i, j] = said / weight
        np.testing.assert_allclose(guide(positions), expected, atol=1e-4)

    def test_known_pairs_are_told_apart_better_than_without(self):
        known = some_pairs(60)
        first, second = known.pairs.T
        alone, taught = (np.asarray(near(known).guide(which)(np.arange(COUNT))) for which in (NOTHING, known))
        gaps = [
            similar[first, second][known.similar].mean() - similar[first, second][~known.similar].mean()
            for similar in (alone, taught)
        ]
        assert gaps[1] > gaps[0]
        np.testing.assert_allclose(taught, taught.T, atol=1e-5)
        assert np.abs(taught).max() <= 1 + 1e-4

    def test_both_kinds_weigh_the_same(self):
        values = says(np.array([True, False, False, False])).numpy()
        assert values[0] == pytest.approx(2) and values[1:].sum() == pytest.approx(-2)
        np.testing.assert_array_equal(says(np.ones(3, bool)), np.ones(3))
        np.testing.assert_array_equal(says(np.zeros(2, bool)), -np.ones(2))

    def test_labels_guide_too(self):
        labels = np.where(np.arange(COUNT) < 40, CLASSES, -1)
        known = LabelPairs(labels)
        similar = near(known).guide(known)(np.arange(40)).numpy()
        same = CLASSES[:40, None] == CLASSES[None, :40]
        assert similar[same].mean() > similar[~same].mean() + 0.5

    def test_large_collections_are_sampled_and_the_rest_is_placed(self, monkeypatch):
        monkeypatch.setattr(module, "LARGEST_GRAPH", 120)
        monkeypatch.setattr(module, "FARTHEST", 200)
        known = some_pairs(20)
        found = near(known)
        assert len(found.members) == 200 and len(found.chosen) == 120
        assert np.isin(known.labelled, found.members).all()
        members = found.members
        similar = found.guide(known)(members).numpy()
        same = CLASSES[members][:, None] == CLASSES[members][None, :]
        assert similar[same].mean() > similar[~same].mean() + 0.3

    def test_who_takes_no_part_is_not_in_it(self):
        members = np.arange(0, COUNT, 2)
        found = near(members=members)
        assert found.members.tolist() == members.tolist() and (found.places[1::2] == -1).all()

    def test_nearest_pairs_by_brute_force(self):
        found = near()
        chosen = np.arange(5, 80)
        coordinates = found.coordinates[chosen].numpy()
        similar = coordinates @ coordinates.T
        np.fill_diagonal(similar, -np.inf)
        best = [set(np.argsort(-row)[:4]) for row in similar]
        expected = {
            (int(chosen[i]), int(chosen[j])) for i in range(75) for j in best[i] if i < j and i in best[j]
        }
        assert {tuple(pair) for pair in found.nearest_pairs(chosen, 4).tolist()} == expected
