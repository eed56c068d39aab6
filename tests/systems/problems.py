"""A small problem that every system should solve: classes that stand apart, a few labels, a pool."""

import numpy as np

from pts3h.data.inputs import VectorInputs
from pts3h.data.known_pairs import LabelPairs, PairList
from pts3h.data.views import VectorViews
from pts3h.evaluation import evaluate
from pts3h.systems.system import Problem

CLASSES, TRAINED, COUNT, WIDTH = 4, 260, 360, 16
TRUTH = np.arange(COUNT) % CLASSES


def make_vectors(seed=0):
    """The classes differ in a few entries, and entries that say nothing vary more."""
    rng = np.random.default_rng(seed)
    vectors = rng.normal(size=(COUNT, WIDTH)).astype(np.float32)
    vectors[:, :CLASSES] += 3 * np.eye(CLASSES, dtype=np.float32)[TRUTH]
    vectors[:, CLASSES : 2 * CLASSES] *= 5
    return vectors


def make_problem(labelled=60, *, seed=0):
    labels = np.full(COUNT, -1)
    labels[:labelled] = TRUTH[:labelled]
    inputs = VectorInputs(make_vectors(seed), VectorViews(noise=0.2, dropout=0.1), np.arange(TRAINED))
    return Problem(inputs, LabelPairs(labels), np.arange(labelled, TRAINED))


def make_pair_problem(labelled=60, share=0.3, *, seed=0):
    """Only some pairs of the labelled items are known."""
    problem = make_problem(labelled, seed=seed)
    first, second = np.triu_indices(labelled, 1)
    chosen = np.random.default_rng(seed).random(len(first)) < share
    first, second = first[chosen], second[chosen]
    pairs = PairList(COUNT, np.column_stack([first, second, TRUTH[first] == TRUTH[second]]))
    return Problem(problem.inputs, pairs, problem.pool)


def make_flags_problem(labelled=60, *, seed=0):
    """Each item has its class and perhaps the next one: 0/1 rows."""
    problem = make_problem(labelled, seed=seed)
    flags = np.eye(CLASSES, dtype=np.int64)[TRUTH]
    flags[::3] |= np.eye(CLASSES, dtype=np.int64)[(TRUTH[::3] + 1) % CLASSES]
    flags[labelled:] = -1
    return Problem(problem.inputs, LabelPairs(flags), problem.pool)


def score(encoder, problem, bits):
    """MAP of items that took no part over those that did."""
    database, queries = np.arange(TRAINED), np.arange(TRAINED, COUNT)
    parts = [encoder.codes(problem.inputs, part) for part in (queries, database)]
    return evaluate(*parts, labels=(TRUTH[queries], TRUTH[database]), bits=bits).map
