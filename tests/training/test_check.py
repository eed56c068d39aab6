"""A model that is worse than none is not handed over."""

import numpy as np
import pytest
import torch
from sklearn.metrics import roc_auc_score

import pts3h
from pts3h import Hasher
from pts3h.data.inputs import VectorInputs
from pts3h.data.known_pairs import LabelPairs, PairList
from pts3h.data.problem import Problem
from pts3h.nets.hash_network import HashNetwork
from pts3h.training.check import (
    Check,
    chance_error,
    check_training,
    crowding,
    keep_items_back,
    keep_pairs_back,
    told_apart,
    untrained_network,
)
from pts3h.unsupervised.guide import neighbourhood
from pts3h.unsupervised.itq import learn_itq
from tests.settings.situations import used

COUNT = 400
RNG = np.random.default_rng(0)
CLASSES = RNG.integers(4, size=COUNT)
ROWS = (RNG.normal(size=(4, 20))[CLASSES] + 0.7 * RNG.normal(size=(COUNT, 20))).astype(np.float32)
QUICK = {"bits": 16, "hidden": 32, "steps": 200}


def pairs(count, seed=0):
    rng = np.random.default_rng(seed)
    ends = sorted({tuple(sorted(rng.choice(COUNT, 2, replace=False))) for _ in range(count)})
    return PairList(COUNT, [(a, b, int(CLASSES[a] == CLASSES[b])) for a, b in ends])


def problem(known):
    pool = np.setdiff1d(np.arange(COUNT), known.labelled)
    near = neighbourhood(COUNT, np.arange(COUNT), known, lambda positions: ROWS[positions])
    return Problem(VectorInputs(ROWS), known, pool, near)


def constant(part):
    """A network that gives everything the same code."""
    network = HashNetwork(16, inputs=20, hidden=0, dropout=0.0)
    torch.nn.init.zeros_(network.hash.weight)
    return network.eval()


def test_the_share_told_apart_is_the_area_under_the_roc():
    known = pairs(300)
    network = untrained_network(problem(known), used(bits=16))
    with torch.no_grad():
        signs = np.where(network(torch.from_numpy(ROWS)).numpy() >= 0, 1, -1)
    closeness = (signs[known.pairs[:, 0]] * signs[known.pairs[:, 1]]).sum(axis=1)
    expected = roc_auc_score(known.similar, closeness)
    assert told_apart(network, problem(known), known.pairs, known.similar) == pytest.approx(expected)


def test_without_training_it_is_itq():
    found = untrained_network(problem(pairs(50)), used(bits=16, seed=3))
    expected = learn_itq(ROWS, 16, 3)(ROWS)
    with torch.no_grad():
        outputs = found(torch.from_numpy(ROWS)).numpy()
    np.testing.assert_allclose(outputs, expected, atol=1e-4)


def test_more_bits_than_numbers():
    network = untrained_network(problem(pairs(50)), used(bits=48))
    with torch.no_grad():
        outputs = network(torch.from_numpy(ROWS))
    assert outputs.shape == (COUNT, 48) and (outputs.std(dim=0) > 0).all()


def test_pairs_that_judge_are_not_learned_from():
    known = pairs(300)
    part, held, similar = keep_pairs_back(problem(known), np.random.default_rng(0))
    left = {tuple(pair) for pair in part.known.pairs.tolist()}
    assert not left & {tuple(pair) for pair in held.tolist()} and len(left) + len(held) == known.units
    np.testing.assert_array_equal(similar, CLASSES[held[:, 0]] == CLASSES[held[:, 1]])


def test_labelled_items_that_judge_are_not_learned_from():
    known = LabelPairs(np.where(np.arange(COUNT) < 100, CLASSES, -1))
    part, held, similar = keep_pairs_back(problem(known), np.random.default_rng(0))
    hidden = np.setdiff1d(known.labelled, part.known.labelled)
    assert len(hidden) == 10 and np.isin(held[:, 0], hidden).all() and not np.isin(held[:, 1], hidden).any()
    np.testing.assert_array_equal(similar, CLASSES[held[:, 0]] == CLASSES[held[:, 1]])


def test_items_that_judge_take_no_part():
    nothing = PairList(COUNT, np.empty((0, 3), int))
    part, held, similar = keep_items_back(problem(nothing), np.random.default_rng(0))
    assert not np.isin(held, part.members).any() and len(part.pool) == 360
    assert similar.sum() > 0 and abs(similar.mean() - 0.5) < 0.05


@pytest.mark.parametrize(("known", "by"), [(pairs(300), "pairs"), (pairs(8), "neighbours")])
def test_the_better_is_kept(known, by):
    whole = problem(known)
    good = check_training(whole, used(bits=16), lambda part: untrained_network(part, used(bits=16)))
    bad = check_training(whole, used(bits=16), constant)
    assert good.by == bad.by == by and good.kept == "trained" and good.trained == good.untrained
    assert bad.kept == "untrained" and bad.trained == 0.5 < bad.untrained


def test_chance_does_not_decide():
    assert Check("pairs", 12, 0.6, 0.8, 0.35).kept == "trained"
    assert Check("pairs", 2000, 0.6, 0.8, 0.03).kept == "untrained"
    few, many = (chance_error(np.arange(count) % 2 == 0) for count in (12, 2000))
    assert few > 0.3 and many < 0.03


def test_nothing_can_judge():
    whole = problem(pairs(8))
    alone = Problem(whole.inputs, whole.known, whole.pool)
    assert check_training(alone, used(bits=16), constant) is None


def test_crowding_by_numpy():
    network = untrained_network(problem(pairs(50)), used(bits=4))
    with torch.no_grad():
        codes = (network(torch.from_numpy(ROWS)) >= 0).numpy()
    _, counts = np.unique(codes, axis=0, return_counts=True)
    expected = {"items": COUNT, "distinct": len(counts), "largest": counts.max()}
    assert crowding(network, problem(pairs(50))) == expected


def test_a_fit_that_goes_wrong_hands_over_codes_without_training(tmp_path, monkeypatch):
    monkeypatch.setattr("pts3h.training.stages.check_training", lambda *_: Check("pairs", 60, 0.5, 0.9, 0.1))
    known = pairs(200)
    hasher = Hasher(**QUICK).fit(ROWS, pairs=known, out=tmp_path / "model")
    assert hasher.model.summary["check"]["kept"] == "untrained" and hasher.history == []
    expected = pts3h.pack(learn_itq(ROWS, 16, 0)(ROWS))
    assert (hasher.encode(ROWS) != expected).mean() < 0.01
    again = pts3h.load_model(tmp_path / "model")
    np.testing.assert_array_equal(again.encode(ROWS).codes, hasher.encode(ROWS))
    assert "Training did not help" in (tmp_path / "model" / "README.md").read_text()


def test_a_fit_says_what_it_found():
    hasher = Hasher(**QUICK).fit(ROWS, pairs=pairs(200))
    found = hasher.model.summary["check"]
    assert found["by"] == "pairs" and found["kept"] == "trained" and found["trained"] > 0.8
    codes = hasher.encode(ROWS)
    assert found["distinct"] == len(np.unique(codes, axis=0))
    unchecked = Hasher(**QUICK).fit(ROWS, pairs=pairs(200), check=False)
    assert "check" not in unchecked.model.summary
    np.testing.assert_array_equal(unchecked.encode(ROWS), codes)


def test_no_pairs_at_all():
    hasher = Hasher(**QUICK).fit(ROWS)
    codes = hasher.encode(ROWS)
    untrained = pts3h.pack(learn_itq(ROWS, 16, 0)(ROWS))
    found, other = (
        pts3h.evaluate(each[:100], each[100:], labels=(CLASSES[:100], CLASSES[100:]), bits=16).map
        for each in (codes, untrained)
    )
    assert found > other and hasher.model.summary["check"]["by"] == "neighbours"
