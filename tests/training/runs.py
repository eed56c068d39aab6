"""A small run of the loop on vectors, and ways to look into it and to stop it."""

import os
import signal
from dataclasses import replace

import numpy as np
import torch

from pts3h.data.batches import Batches
from pts3h.data.inputs import VectorInputs
from pts3h.data.items import read_items
from pts3h.data.known_pairs import LabelPairs
from pts3h.data.problem import Problem
from pts3h.data.training_set import TrainingSet
from pts3h.data.views import VectorViews
from pts3h.nets.hash_network import HashNetwork
from pts3h.nets.teacher import Teacher
from pts3h.objectives.objective import Objective
from pts3h.objectives.pts3h import build
from pts3h.settings.asked import Settings
from pts3h.settings.resolve import resolve
from pts3h.training.loop import Run


def make_vectors():
    """120 vectors of four kinds, of which the first 40 are labelled."""
    rng = np.random.default_rng(0)
    labels = np.full(120, -1)
    labels[:40] = np.arange(40) % 4
    vectors = rng.normal(size=(120, 16)).astype(np.float32)
    vectors[:, :4] += 3 * np.eye(4, dtype=np.float32)[np.arange(120) % 4]
    return vectors, labels


def make_used(**settings):
    vectors, labels = make_vectors()
    training = TrainingSet(read_items(vectors), LabelPairs(labels), np.arange(40, 120))
    return resolve(Settings(**{"bits": 12, "hidden": 24, "steps": 30, **settings}), training)


def make_run(folder=None, **settings):
    vectors, labels = make_vectors()
    used, known = make_used(**settings), LabelPairs(labels)
    torch.manual_seed(used.seed)
    student, network = (HashNetwork(used.bits, inputs=16, hidden=used.hidden, dropout=0.2) for _ in "st")
    inputs = VectorInputs(vectors, VectorViews(noise=0.2, dropout=0.1))
    pool = np.arange(40, 120)
    batches = Batches(known, pool, labelled=12, unlabelled=20, seed=used.seed)
    objective = build(Problem(inputs, known, pool), used)
    return Run(student, Teacher(student, network), inputs, batches, objective, used, folder)


def weights(run):
    return {
        f"{part}.{name}": value.clone()
        for part, network in (("student", run.student), ("teacher", run.teacher.network))
        for name, value in network.state_dict().items()
    }


def assert_same(run, other):
    for name, value in weights(run).items():
        assert torch.equal(value, weights(other)[name]), name


class Watched(Objective):
    """An objective whose steps are looked at."""

    def __init__(self, objective, look):
        self.objective, self.look = objective, look

    @property
    def needs_teacher(self):
        return self.objective.needs_teacher

    def parameters(self):
        return self.objective.parameters()

    def __call__(self, step):
        self.look(step)
        return self.objective(step)


def stopped_at(run, number):
    """A run in which Ctrl-C is pressed in the middle of a step."""

    def look(step):
        if step.number == number:
            os.kill(os.getpid(), signal.SIGINT)

    return replace(run, objective=Watched(run.objective, look))
