"""A small problem that every system should solve: classes that stand apart, a few labels, a pool."""

import numpy as np

from pts3h.codes import pack
from pts3h.data.inputs import VectorInputs
from pts3h.data.items import from_array
from pts3h.data.known_pairs import LabelPairs, PairList
from pts3h.data.problem import Problem
from pts3h.data.training_set import TrainingSet
from pts3h.data.views import VectorViews
from pts3h.evaluation import evaluate

CLASSES, TRAINED, COUNT, WIDTH = 4, 260, 360, 16
TRUTH = np.arange(COUNT) % CLASSES


def make_vectors(seed=0):
    """The classes differ in a few entries, and entries that say nothing vary more."""
    rng = np.random.default_rng(seed)
    vectors = rng.normal(size=(COUNT, WIDTH)).astype(np.float32)
    vectors[:, :CLASSES] += 3 * np.eye(CLASSES, dtype=np.float32)[TRUTH]
    vectors[:, CLASSES : 2 * CLASSES] *= 5
    return vectors


def make_training(known, *, seed=0):
    """The items from ``TRAINED`` on take no part."""
    return TrainingSet(
        from_array(make_vectors(seed)), known, np.setdiff1d(np.arange(TRAINED), known.labelled)
    )


def make_label_training(labelled=60, *, seed=0):
    labels = np.full(COUNT, -1)
    labels[:labelled] = TRUTH[:labelled]
    return make_training(LabelPairs(labels), seed=seed)


def make_pair_training(labelled=60, share=0.3, *, seed=0):
    """Only some pairs of the labelled items are known."""
    first, second = np.triu_indices(labelled, 1)
    chosen = np.random.default_rng(seed).random(len(first)) < share
    first, second = first[chosen], second[chosen]
    pairs = PairList(COUNT, np.column_stack([first, second, TRUTH[first] == TRUTH[second]]))
    return make_training(pairs, seed=seed)


def make_flags_training(labelled=60, *, seed=0):
    """Each item has its class and perhaps the next one: 0/1 rows."""
    flags = np.eye(CLASSES, dtype=np.int64)[TRUTH]
    flags[::3] |= np.eye(CLASSES, dtype=np.int64)[(TRUTH[::3] + 1) % CLASSES]
    flags[labelled:] = -1
    return make_training(LabelPairs(flags), seed=seed)


def make_problem(labelled=60, *, seed=0):
    """The same as tensors, for objectives."""
    training = make_label_training(labelled, seed=seed)
    views = VectorViews(noise=0.2, dropout=0.1)
    inputs = VectorInputs(np.asarray(training.items.content), views, training.members)
    return Problem(inputs, training.known, training.pool)


def score(encoder, training, bits):
    """MAP of items that took no part over those that did."""
    outputs, broken = encoder.outputs(training.items)
    assert outputs.shape == (COUNT, bits) and not broken
    codes = pack(outputs)
    labels = TRUTH[TRAINED:], TRUTH[:TRAINED]
    return evaluate(codes[TRAINED:], codes[:TRAINED], labels=labels, bits=bits).map
