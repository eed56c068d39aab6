import numpy as np
import pytest
import torch

from pts3h.losses.table import LOSSES
from pts3h.objectives.bgdh import BGDH, anchor_graph, skip_gram

from ..systems import problems
from .steps import make_step

BITS = 6


def test_skip_gram_is_the_mean_of_log_sigmoids():
    rng = np.random.default_rng(0)
    embeddings, contexts = rng.normal(size=(5, BITS)), rng.normal(size=(7, BITS))
    own, others = rng.integers(7, size=(5, 2)), rng.integers(7, size=(5, 4))
    is_other = rng.random((5, 4)) < 0.7
    loss = skip_gram(*map(torch.from_numpy, (embeddings, contexts, own, others, is_other)))

    def cost(score):
        return -np.log(1 / (1 + np.exp(-score)))

    each = []
    for i in range(5):
        near = np.mean([cost(embeddings[i] @ contexts[c]) for c in own[i]])
        far = [cost(-embeddings[i] @ contexts[c]) for c in others[i][is_other[i]]]
        each.append(near + (np.mean(far) if far else 0.0))
    assert loss.item() == pytest.approx(np.mean(each))


def test_the_graph_joins_each_member_with_its_nearest_anchors():
    problem = problems.make_problem()
    members = np.arange(10, 200)
    graph, count = anchor_graph(problem.inputs, members, count=20, links=2, seed=1)
    chosen = np.random.default_rng((1, 31)).choice(members, 20, replace=False)
    assert count == 20 and (graph[:10] == -1).all()
    vectors, anchors = problem.inputs.rows(members), problem.inputs.rows(chosen)
    square = ((vectors[:, None].astype(float) - anchors[None]) ** 2).sum(axis=2)
    assert np.array_equal(np.sort(graph[members], axis=1), np.sort(np.argsort(square, axis=1)[:, :2], axis=1))


def test_both_outputs_and_contexts_are_learned():
    torch.manual_seed(0)
    objective = BGDH(
        pairwise=LOSSES.find("dpsh").build(BITS),
        omega=0.5,
        eta=0.0,
        bits=BITS,
        anchors=np.arange(12).reshape(6, 2),
        count=12,
    )
    outputs = torch.randn(6, BITS, requires_grad=True)
    known = ~np.eye(3, dtype=bool)
    loss, _ = objective.regulariser(make_step(outputs, known, known))
    loss.backward()
    assert outputs.grad.abs().sum() > 0
    assert objective.contexts.grad.abs().sum() > 0
    assert objective.parameters()[0] is objective.contexts
    assert objective.needs_unlabelled and not objective.needs_teacher
