"""The teacher is the moving average of its student."""

import numpy as np
import torch

from pts3h.nets.teacher import Teacher
from tests.nets.networks import a_step, network


def test_starts_as_a_copy_that_shares_nothing():
    student, net = network(), network(seed=1)
    Teacher(student, net)
    for own, other in zip(net.state_dict().values(), student.state_dict().values(), strict=True):
        assert torch.equal(own, other) and own.data_ptr() != other.data_ptr()


def test_is_the_moving_average_in_double():
    student = network()
    teacher = Teacher(student, network(seed=1))
    optimizer = torch.optim.SGD(student.parameters(), lr=5.0)
    expected = [p.detach().double().numpy().copy() for p in student.parameters()]
    for step, decay in enumerate([0.5, 2 / 3, 0.75, 0.9, 0.995, 0.0, 0.9, 1.0], start=1):
        a_step(student, optimizer)
        teacher.update(decay)
        now = [p.detach().double().numpy() for p in student.parameters()]
        expected = [decay * e + (1 - decay) * s for e, s in zip(expected, now, strict=True)]
        for own, value in zip(teacher.network.parameters(), expected, strict=True):
            np.testing.assert_allclose(own, value, atol=1e-6, err_msg=f"step {step}")


def test_buffers_are_copied_not_averaged():
    student = network()
    teacher = Teacher(student, network(seed=1))
    a_step(student, torch.optim.SGD(student.parameters(), lr=1.0))
    teacher.update(0.9)
    buffers = dict(teacher.network.named_buffers())
    assert buffers["trunk.1.num_batches_tracked"] == 1
    for name, value in student.named_buffers():
        assert torch.equal(buffers[name], value)


def test_no_gradient_reaches_it():
    student = network()
    teacher = Teacher(student, network(seed=1))
    outputs = student(torch.randn(9, 7)) - teacher.network(torch.randn(9, 7))
    outputs.square().mean().backward()
    assert all(p.grad is None and not p.requires_grad for p in teacher.network.parameters())
    assert all(p.grad is not None for p in student.parameters())
    teacher.update(0.5)
    assert all(p.grad_fn is None for p in teacher.network.parameters())
