import numpy as np
import pytest
import torch

from pts3h.losses.table import LOSSES
from pts3h.objectives import bgdh
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


def test_the_graph_term_of_a_batch_with_one_vector_for_all_other_anchors():
    """Then it does not matter which of the others are drawn; an item's own anchors are never among them."""
    torch.manual_seed(0)
    rng = np.random.default_rng(3)
    anchors = np.array([[0, 1], [2, 3], [4, 5]])
    objective = BGDH(
        pairwise=LOSSES.find("dpsh").build(BITS), omega=0.5, eta=0.0, bits=BITS, anchors=anchors, count=6
    )
    near, far = rng.normal(size=(2, BITS))
    outputs = rng.normal(size=(2, BITS)) * 3
    with torch.no_grad():
        objective.contexts[:] = torch.from_numpy(far)
        objective.contexts[2:4] = torch.from_numpy(near)
    objective.contexts.data = objective.contexts.data.double()
    known = ~np.eye(2, dtype=bool)
    step = make_step(outputs, known, known, positions=np.array([1, 1]))
    loss, parts = objective.regulariser(step)
    unit = outputs / np.linalg.norm(outputs, axis=1, keepdims=True)
    expected = np.mean(np.logaddexp(0, -unit @ near) + np.logaddexp(0, unit @ far))
    assert loss.item() == pytest.approx(expected, abs=1e-6)
    assert parts == {"graph": loss}


def test_an_item_for_which_only_its_own_anchors_are_drawn():
    """There is nothing to push away from; the loss is that of the own anchors, and finite."""
    objective = BGDH(
        pairwise=LOSSES.find("dpsh").build(BITS),
        omega=0.5,
        eta=0.0,
        bits=BITS,
        anchors=np.array([[0, 1]]),
        count=2,
    )
    outputs = torch.ones(1, BITS)
    nothing = np.zeros((1, 1), bool)
    loss, _ = objective.regulariser(make_step(outputs, nothing, nothing))
    scores = objective.contexts.detach().numpy().astype(float).sum(axis=1) / np.sqrt(BITS)
    assert loss.item() == pytest.approx(np.logaddexp(0, -scores).mean(), rel=1e-5)


def test_contexts_start_as_long_as_unit_vectors():
    torch.manual_seed(0)
    objective = BGDH(
        pairwise=LOSSES.find("dpsh").build(16),
        omega=0.5,
        eta=0.0,
        bits=16,
        anchors=np.zeros((1, 1), np.int64),
        count=3000,
    )
    assert objective.contexts.square().sum(1).mean().item() == pytest.approx(1, rel=0.05)
    assert objective.contexts.mean().item() == pytest.approx(0, abs=0.01)


def test_a_graph_made_in_parts_is_the_same(monkeypatch):
    problem = problems.make_problem()
    members = np.arange(10, 200)
    whole, _ = anchor_graph(problem.inputs, members, count=20, seed=1)
    assert whole.shape == (200, 2), "two anchors an item, up to the last member"
    monkeypatch.setattr(bgdh, "CHUNK", 7)
    parts, _ = anchor_graph(problem.inputs, members, count=20, seed=1)
    assert np.array_equal(parts, whole)


def test_a_graph_of_few_members_has_few_anchors():
    problem = problems.make_problem()
    graph, count = anchor_graph(problem.inputs, np.array([4]))
    assert count == 1 and graph.tolist() == [[-1]] * 4 + [[0]]
    first, second = (anchor_graph(problem.inputs, np.arange(50))[0] for _ in range(2))
    assert np.array_equal(first, second), "the same seed, the same graph"
