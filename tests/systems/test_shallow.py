"""The shallow systems as methods: from pairs alone, repeatable, better than chance."""

import numpy as np
import pytest

import pts3h
from pts3h.data.inputs import VectorInputs
from pts3h.data.known_pairs import LabelPairs, PairList
from pts3h.data.views import VectorViews
from pts3h.systems.shallow.shallow import LEARNERS
from pts3h.systems.system import Problem
from pts3h.systems.table import METHODS, make_method

KINDS = np.arange(300) % 3
SUPERVISED = ("ksh-kernel", "fasth", "splh")


def vectors():
    """Three kinds whose centres lie close together, in directions of small variance."""
    rng = np.random.default_rng(0)
    noise = rng.normal(size=(300, 20)) * np.linspace(0.5, 3, 20)
    return (np.eye(3, 20)[KINDS] * 3 + noise).astype(np.float32)


def problem(known=None):
    labels = np.where(np.arange(300) < 120, KINDS, -1)
    known = LabelPairs(labels) if known is None else known
    pool = np.setdiff1d(np.arange(240), known.labelled)
    return Problem(VectorInputs(vectors(), VectorViews(noise=0.0, dropout=0.0)), known, pool)


def quality(codes, bits):
    queries, database = codes[240:], codes[:240]
    return pts3h.evaluate(queries, database, labels=(KINDS[240:], KINDS[:240]), bits=bits).map


def codes_of(name, task, bits=12, seed=0):
    encoder = make_method(name, {}).fit(task, bits=bits, seed=seed, show=False)
    return encoder.codes(task.inputs, np.arange(300))


@pytest.mark.parametrize("name", LEARNERS)
class TestEach:
    def test_codes_repeat_and_have_their_length(self, name):
        codes = codes_of(name, problem())
        assert codes.shape == (300, 2) and codes.dtype == np.uint8
        np.testing.assert_array_equal(codes, codes_of(name, problem()))
        assert len(np.unique(codes, axis=0)) > 3

    def test_is_listed(self, name):
        method = make_method(name, {})
        assert (method.name, method.needs_labels) == (name, False) and METHODS[name].module == "shallow"

    def test_queries_take_no_part(self, name):
        """Whatever stands at positions outside of the problem changes no code."""
        task = problem()
        other = vectors()
        other[240:] *= 100
        changed = Problem(VectorInputs(other, VectorViews(noise=0.0, dropout=0.0)), task.known, task.pool)
        np.testing.assert_array_equal(codes_of(name, task)[:240], codes_of(name, changed)[:240])


@pytest.mark.parametrize("name", SUPERVISED)
class TestSupervised:
    def test_beats_lsh_and_itq_where_classes_hide_in_small_directions(self, name):
        rivals = max(quality(codes_of(rival, problem()), 12) for rival in ("lsh", "itq"))
        assert quality(codes_of(name, problem()), 12) > rivals + 0.1

    def test_from_a_pair_list(self, name):
        rng = np.random.default_rng(1)
        ends = np.array([rng.choice(120, 2, replace=False) for _ in range(2000)])
        pairs = np.column_stack([ends, KINDS[ends[:, 0]] == KINDS[ends[:, 1]]])
        assert quality(codes_of(name, problem(PairList(300, pairs))), 12) > 0.5

    def test_seed_zero_and_one_are_both_fine(self, name):
        assert min(quality(codes_of(name, problem(), seed=seed), 12) for seed in (0, 1)) > 0.5


@pytest.mark.parametrize("name", ("itq", "fasth"))
def test_more_bits_than_directions(name):
    if name == "itq":
        with pytest.raises(pts3h.UserError, match="only 20: choose fewer bits"):
            codes_of(name, problem(), bits=24)
    else:
        assert codes_of(name, problem(), bits=24).shape == (300, 3)
