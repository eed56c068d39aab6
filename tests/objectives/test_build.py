"""From settings to what is minimised: each weight reaches the term that it is said to weigh."""

import numpy as np
import pytest
import torch

from pts3h import UserError
from pts3h.data.images import ImageArray
from pts3h.data.inputs import ImageInputs
from pts3h.data.known_pairs import LabelPairs, PairList
from pts3h.data.problem import Problem
from pts3h.losses.dpsh import DPSH
from pts3h.losses.dsh import DSH
from pts3h.objectives import bgdh, dish, dmdh, dsdh, dsh_gans, mean_teacher, pts3h, sntg, ssdh, temp_ens, vat
from pts3h.objectives.bgdh import anchor_graph

from ..systems import problems
from .steps import make_step
from .used import BITS, used


@pytest.fixture(scope="module")
def problem():
    return problems.make_problem()


@pytest.mark.parametrize("room", [mean_teacher, temp_ens, vat, sntg, bgdh, pts3h])
def test_the_shared_settings_of_semi_supervised_systems(problem, room):
    objective = room.build(problem, used(divide=False, pseudo="literal"))
    assert (objective.omega, objective.eta) == (0.37, 0.013)
    assert isinstance(objective.pairwise, DSH)
    assert objective.pairwise.margin == 2 * BITS, "the code length"
    assert objective.pairwise.scale == 1, "divide=False"
    assert objective.pairwise.pseudo_margin == 2 * BITS, "pseudo='literal'"
    assert isinstance(room.build(problem, used(loss="dpsh")).pairwise, DPSH)


@pytest.mark.parametrize("room", [ssdh, dsh_gans])
def test_the_shared_settings_of_systems_with_a_classifier(problem, room):
    objective = room.build(problem, used())
    assert (objective.omega, objective.eta) == (0.37, 0.013)
    layer = objective.classifier.layer
    assert (layer.in_features, layer.out_features) == (BITS, problems.CLASSES)
    assert not objective.classifier.several
    assert [id(one) for one in objective.parameters()] == [id(layer.weight), id(layer.bias)]


def test_gamma_and_the_share_of_similar_pairs(problem):
    smooth = sntg.build(problem, used())
    assert (smooth.smooth, smooth.similar_share) == (0.21, 0.3)
    own = pts3h.build(problem, used(consistency=False))
    assert (own.gamma, own.similar_share, own.consistency) == (0.21, 0.3, False)
    assert pts3h.build(problem, used(consistency=True)).consistency


class Near:
    """A neighbourhood that remembers what it was told."""

    def guide(self, known):
        return lambda positions: (known, positions)


def test_neighbours_and_how_long_they_teach(problem):
    with_near = Problem(problem.inputs, problem.known, problem.pool, Near())
    guided = pts3h.build(with_near, used(neighbours=0.7, fade=0.5, steps=51))
    assert (guided.neighbours, guided.fade) == (0.7, 26), "half of 51 steps, rounded"
    assert guided.guide("positions") == (problem.known, "positions")
    assert pts3h.build(with_near, used(neighbours=0.0)).guide is None, "they do not teach"
    assert pts3h.build(problem, used(neighbours=0.7)).guide is None, "there are none"


def test_classes_and_their_weight(problem):
    told = pts3h.build(problem, used(classes=0.4))
    assert told.class_weight == 0.4
    layer = told.classes.classifier.layer
    assert (layer.in_features, layer.out_features) == (BITS, problems.CLASSES)
    labelled = problem.known.labelled
    assert told.classes.targets[labelled].argmax(1).tolist() == problems.TRUTH[labelled].tolist()
    untold = pts3h.build(problem, used(classes=0.0))
    assert untold.classes is None and untold.class_weight == 0
    pairs = Problem(problem.inputs, PairList(4, [[0, 1, 1], [1, 2, 0]]), problem.pool)
    with pytest.raises(UserError, match="classes learns from labels"):
        pts3h.build(pairs, used(classes=0.4))


def test_a_temporal_ensemble_has_a_place_for_every_member(problem):
    objective = temp_ens.build(problem, used())
    last = int(problem.members.max())
    outputs = torch.randn(2, BITS)
    step = make_step(outputs, ~np.eye(2, dtype=bool), np.eye(2) > 1, positions=np.array([0, last]))
    objective.regulariser(step)
    loss, _ = objective.regulariser(step)
    assert loss.item() == pytest.approx(0, abs=1e-6), "the average of one output is that output"
    with pytest.raises(IndexError):
        objective.regulariser(make_step(outputs, step.known, step.similar, positions=np.array([0, last + 1])))


def test_the_graph_of_bgdh_is_of_the_members_and_of_the_seed(problem):
    objective = bgdh.build(problem, used(seed=5))
    graph, count = anchor_graph(problem.inputs, problem.members, seed=5)
    assert np.array_equal(objective.anchors, graph)
    assert objective.count == count == len(problem.members), "there are fewer members than anchors at most"
    assert objective.contexts.shape == (count, BITS)
    assert not np.array_equal(bgdh.build(problem, used(seed=6)).anchors, graph)


def test_dmdh_ties_by_eta(problem):
    objective = dmdh.build(problem, used(loss="dpsh"))
    assert objective.tie == 0.013 and isinstance(objective.pairwise, DPSH)


def test_discrete_codes_of_the_labelled_items(problem):
    shapes = (len(problem.known.labelled), BITS)
    own = dsdh.build(problem, used(loss="dpsh", steps=80))
    assert own.eta == 0.013 and isinstance(own.pairwise, DPSH)
    inferred = dish.build(problem, used(steps=80, seed=5))
    for objective in (own, inferred):
        assert objective.memory.codes.shape == shapes
        assert np.array_equal(objective.memory.labelled, problem.known.labelled)
    assert inferred.memory.pause == 4, "twenty times in 80 steps"
    assert own.memory.pause == 1, "150 times, were there as many steps"
    assert own.targets.argmax(1).tolist() == problems.TRUTH[problem.known.labelled].tolist()
    assert inferred.known is problem.known
    same, other = (dish.build(problem, used(steps=80, seed=seed)).memory.codes for seed in (5, 6))
    assert torch.equal(inferred.memory.codes, same) and not torch.equal(same, other)


def test_items_of_several_classes(problem):
    flags = problems.make_flags_training().known
    several = Problem(problem.inputs, flags, problem.pool)
    assert ssdh.build(several, used()).classifier.several
    made = dsh_gans.build(several, used())
    assert made.classifier.several and made.gan.classifier.several
    assert made.gan.classifier.layer.out_features == problems.CLASSES


def test_the_gan_makes_vectors_like_the_members(problem):
    gan = dsh_gans.build(problem, used()).gan
    rows = problem.inputs.rows(problem.members).astype(float)
    np.testing.assert_allclose(gan.center.numpy(), rows.mean(axis=0), atol=1e-4)
    np.testing.assert_allclose(gan.spread.numpy(), rows.std(axis=0), rtol=1e-2)
    assert gan.make(torch.eye(problems.CLASSES)).shape == (problems.CLASSES, problems.WIDTH)
    assert not gan.classifier.several


def test_dsh_gans_refuses_pictures():
    pictures = ImageArray(np.zeros((4, 8, 8, 3), np.uint8))
    known = LabelPairs(np.array([0, 0, 1, 1]))
    with pytest.raises(UserError, match="makes vectors here, not pictures: leave out --fine-tune"):
        dsh_gans.build(Problem(ImageInputs(pictures, 8), known, np.arange(0)), used())


@pytest.mark.parametrize(("room", "name"), [(ssdh, "ssdh"), (dsh_gans, "dsh-gans"), (dsdh, "dsdh")])
def test_systems_that_learn_from_labels_refuse_pairs(problem, room, name):
    pairs = Problem(problem.inputs, PairList(4, [[0, 1, 1], [1, 2, 0]]), problem.pool)
    with pytest.raises(UserError, match=f"{name} learns from labels, and only pairs are known"):
        room.build(pairs, used(loss="dpsh"))
