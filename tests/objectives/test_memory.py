"""Codes that an objective infers for itself: who has one, and when they are inferred anew."""

import numpy as np
import pytest
import torch

from pts3h.objectives.memory import CodeMemory, signs

BITS = 8


def test_items_without_a_code_are_not_pulled():
    memory = CodeMemory(np.array([2, 5, 9]), BITS, steps=1)
    memory.remember(np.array([5]), torch.ones(1, BITS))
    assert not memory.due, "two items were not seen yet"
    memory.infer(lambda rows, codes: -codes)
    assert memory.codes[1].tolist() == [-1.0] * BITS
    assert memory.codes[[0, 2]].abs().sum() == 0
    assert memory.pull(np.array([2, 9]), torch.ones(2, BITS)).item() == 0
    assert memory.pull(np.array([5]), torch.ones(1, BITS)).item() == 4


@pytest.mark.parametrize("rounds", [20, 80])
def test_codes_are_inferred_so_many_times_in_a_run(rounds):
    memory, times = CodeMemory(np.arange(4), BITS, steps=400, rounds=rounds), 0
    for _ in range(400):
        memory.remember(np.arange(4), torch.ones(4, BITS))
        if memory.due:
            memory.infer(lambda rows, codes: codes)
            times += 1
    assert times == rounds


def test_it_is_due_after_the_pause_and_a_pass_and_not_before():
    memory = CodeMemory(np.arange(4), BITS, steps=60)
    assert memory.pause == 3 and not memory.due
    assert CodeMemory(np.arange(4), BITS, steps=19).pause == 1
    due = []
    for _ in range(8):
        memory.remember(np.array([0, 1]), torch.ones(2, BITS))
        due.append(memory.due)
        if memory.due:
            memory.infer(lambda rows, codes: codes)
    assert due == [False, False, True] * 2 + [False] * 2, "three steps, though four items are seen in two"
    slow = CodeMemory(np.arange(9), BITS, steps=20)
    due = []
    for _ in range(4):
        slow.remember(np.array([0, 1, 2]), torch.ones(3, BITS))
        due.append(slow.due)
    assert due == [False, False, True, True], "a pass of nine items takes three steps"
    almost = CodeMemory(np.arange(9), BITS, steps=20)
    almost.remember(np.arange(8), torch.ones(8, BITS))
    assert not almost.due, "one item is missing"
    almost.remember(np.array([8]), torch.ones(1, BITS))
    assert almost.due


def test_outputs_are_kept_by_position_and_without_a_gradient():
    memory = CodeMemory(np.array([2, 5, 9]), BITS, steps=1)
    assert memory.rows(np.array([9, 2])).tolist() == [2, 0]
    outputs = torch.randn(2, BITS, dtype=torch.float64, requires_grad=True)
    memory.remember(np.array([9, 2]), outputs)
    assert torch.equal(memory.outputs[[2, 0]], outputs.detach().float())
    assert not memory.outputs.requires_grad and memory.seen.tolist() == [True, False, True]


def test_the_first_codes_are_signs_and_later_ones_are_handed_on():
    memory = CodeMemory(np.array([2, 5, 9]), 2, steps=1)
    memory.remember(np.array([2, 9]), torch.tensor([[0.5, -0.5], [0.0, -2.0]]))
    calls = []

    def solve(rows, codes):
        calls.append((rows.tolist(), codes.tolist()))
        return -codes

    memory.infer(solve)
    memory.remember(np.array([2, 9]), torch.full((2, 2), 7.0))
    memory.infer(solve)
    assert calls == [([0, 2], [[1, -1], [1, -1]]), ([0, 2], [[-1, 1], [-1, 1]])]


def test_the_pull_is_a_mean_over_items_and_bits():
    memory = CodeMemory(np.arange(2), 2, steps=1)
    memory.codes[:] = torch.tensor([[1.0, -1.0], [-1.0, -1.0]])
    outputs = torch.tensor([[0.5, 1.0], [-1.0, 0.0]], requires_grad=True)
    pull = memory.pull(np.array([0, 1]), outputs)
    assert pull.item() == pytest.approx((0.25 + 4 + 0 + 1) / 4)
    pull.backward()
    np.testing.assert_allclose(outputs.grad, np.array([[-0.5, 2.0], [0.0, 1.0]]) * 2 / 4)


def test_signs_of_zero_and_types():
    assert signs(torch.tensor([0.0, -0.0, -1e-30, 3.0])).tolist() == [1, 1, -1, 1]
    assert signs(torch.zeros(1, dtype=torch.float64)).dtype == torch.float64
