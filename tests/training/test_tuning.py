"""Choosing settings on knowledge held out of training."""

import numpy as np
import pytest
import torch

from pts3h import Diverged, UserError
from pts3h.data.known_pairs import LabelPairs
from pts3h.data.problem import Problem
from pts3h.training.learning import Learned
from pts3h.training.tuning import GRID, TUNABLE, Trial, Tuning, attempt
from tests.settings.situations import COLD, PICTURES, WARM, used
from tests.training.runs import make_run, make_used, make_vectors


def make_problem():
    run = make_run()
    return Problem(run.inputs, LabelPairs(make_vectors()[1]), np.arange(40, 120))


def learner(seen=None, *, diverges_at=None):
    """Training whose codes tell the four kinds apart where eta is 0.5, and say nothing elsewhere."""

    class Network(torch.nn.Linear):
        width = 12

    def learn(problem, used):
        if seen is not None:
            seen.append((problem, used))
        if used.eta == diverges_at:
            raise Diverged("no number")
        network = Network(16, 12)
        with torch.no_grad():
            network.weight.zero_()
            network.bias.fill_(-1.5)
            if used.eta == 0.5:
                network.weight[:4, :4] = torch.eye(4)
            else:
                network.weight[0, 15] = 2.0
        return Learned(network, network, [])

    return learn


class TestSelect:
    def test_every_combination_is_tried_and_the_best_chosen(self):
        seen = []
        tuning = Tuning(0.25, {"omega": [0.1, 0.2], "eta": [0.0, 0.5, 1.0]})
        chosen, trials = tuning.select(make_problem(), make_used(), learner(seen), progress=False)
        tried = [trial.settings for trial in trials]
        assert tried == [{"omega": o, "eta": e} for o in (0.1, 0.2) for e in (0.0, 0.5, 1.0)]
        assert [(used.omega, used.eta) for _, used in seen] == [tuple(one.values()) for one in tried]
        assert chosen == {"omega": 0.1, "eta": 0.5}  # the first of the equally good
        assert all((trial.score > 0.9) == (trial.settings["eta"] == 0.5) for trial in trials)

    def test_what_is_held_out_is_not_learned_from(self):
        seen, problem = [], make_problem()
        Tuning(0.25, {"eta": [0.5]}).select(problem, make_used(), learner(seen), progress=False)
        (part, _), before = seen[0], problem.known.labelled
        held = np.setdiff1d(before, part.known.labelled)
        assert len(held) == 10 and not np.isin(held, part.pool).any()
        assert problem.known.labelled is before

    def test_a_run_that_diverges_loses(self):
        tuning = Tuning(0.25, {"eta": [0.1, 0.5, 0.2]})
        chosen, trials = tuning.select(make_problem(), make_used(), learner(diverges_at=0.1), progress=False)
        assert trials[0] == Trial({"eta": 0.1}, 0.0) and chosen == {"eta": 0.5}

    def test_the_score_is_that_of_the_codes_of_what_was_held_out(self):
        problem = make_problem()
        known, held = problem.known.hold_out(0.25, np.random.default_rng(0))
        score = attempt(Problem(problem.inputs, known, problem.pool), make_used(eta=0.5), learner(), held)
        vectors = make_vectors()[0]
        codes = vectors[:, :4] >= 1.5
        precisions = []
        for query, label in zip(held.queries, held.query_labels, strict=True):
            others = held.queries != query
            distances = (codes[held.queries[others]] != codes[query]).sum(axis=1)
            relevant = held.query_labels[others] == label
            if not relevant.any():
                continue  # it has nothing to find
            # the expected precision over all orders of ties, by drawing many
            rng, drawn = np.random.default_rng(0), []
            for _ in range(400):
                order = np.lexsort((rng.random(len(distances)), distances))
                hits = relevant[order]
                ranks = np.flatnonzero(hits) + 1
                drawn.append((np.arange(1, len(ranks) + 1) / ranks).mean())
            precisions.append(np.mean(drawn))
        assert score == pytest.approx(np.mean(precisions), abs=0.01)


class TestRefused:
    @pytest.mark.parametrize("share", [0.0, 1.0, -0.1, float("nan")])
    def test_a_share_that_is_none(self, share):
        with pytest.raises(UserError, match="share of labelled items to hold out, between 0 and 1"):
            Tuning(share)

    @pytest.mark.parametrize(
        ("grid", "match"),
        [
            ({"bits": [8, 16]}, "the grid can vary omega, .*, not 'bits'"),
            ({"omega": []}, "the grid has no values for omega"),
        ],
    )
    def test_a_grid_that_cannot_be(self, grid, match):
        with pytest.raises(UserError, match=match):
            Tuning(0.1, grid)

    @pytest.mark.parametrize("name", ["learning_rate", "alpha"])
    def test_what_a_warm_start_would_drop(self, name):
        """The head that the grid is tried on has its own; without a warm start whole runs are tried."""
        tuning = Tuning(0.1, {name: [0.1, 0.2]})
        with pytest.raises(UserError, match=f"the grid would choose {name} on a frozen head") as caught:
            tuning.check(used(PICTURES, **WARM))
        assert "\n" not in str(caught.value)
        for situation in (used(PICTURES, **COLD), used(PICTURES), used()):
            tuning.check(situation)

    @pytest.mark.parametrize(
        ("name", "settings"),
        [
            ("omega", {"omega": 0.0}),
            ("gamma", {"omega": 0.0}),
            ("gamma", {"gamma": 0.0, "consistency": False}),
            ("similar_share", {"gamma": 0.0}),
        ],
    )
    def test_what_the_settings_turn_off(self, name, settings):
        """Batches are made for the settings: a grid that turned omega on would find no unlabelled items."""
        tuning = Tuning(0.1, {name: [0.1, 0.2]})
        with pytest.raises(UserError, match=f"the grid varies {name}, and the settings turn off") as caught:
            tuning.check(used(**settings))
        assert "\n" not in str(caught.value)
        tuning.check(used())


def test_what_is_tried_by_default_can_be_varied():
    assert Tuning().values is GRID and set(GRID) <= set(TUNABLE)
    for situation in (used(), used(PICTURES), used(PICTURES, **WARM), used(PICTURES, **COLD)):
        Tuning().check(situation)
