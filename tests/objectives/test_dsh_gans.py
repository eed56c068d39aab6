import numpy as np
import pytest
import torch

from pts3h.nets.hash_network import HashNetwork
from pts3h.objectives.conditional_gan import ConditionalGAN
from pts3h.objectives.dsh_gans import DSHGANs, run_aside

from .steps import make_step

BITS, WIDTH = 6, 8


def test_the_generator_learns_what_the_classes_look_like():
    torch.manual_seed(0)
    means = 4 * torch.eye(2, WIDTH) + 10
    gan = ConditionalGAN(means.mean(0), torch.ones(WIDTH), 2, several=False)
    for _ in range(300):
        classes = torch.randint(2, (32,))
        targets = torch.nn.functional.one_hot(classes, 2).float()
        gan.update(means[classes] + torch.randn(32, WIDTH), targets)
    with torch.no_grad():
        made = [gan.make(torch.eye(2)[c].expand(200, 2)) for c in range(2)]
    for own in range(2):
        distances = [(made[own].mean(0) - means[c]).norm().item() for c in range(2)]
        assert distances[own] < distances[1 - own]


def test_made_items_enter_the_loss_but_no_statistics():
    torch.manual_seed(0)
    labels = np.array([0, 0, 1, 1, -1, -1])
    student = HashNetwork(BITS, inputs=WIDTH, hidden=8, dropout=0.0).train()
    inputs = torch.randn(6, WIDTH)
    outputs = student(inputs)
    before = {name: buffer.clone() for name, buffer in student.named_buffers()}
    known = ~np.eye(4, dtype=bool)
    similar = (labels[:4, None] == labels[None, :4]) & known
    step = make_step(outputs, known, similar, inputs=inputs, student=student, weight=0.5)
    gan = ConditionalGAN(inputs.mean(0), inputs.std(0), 2, several=False)
    objective = DSHGANs(labels, BITS, gan, omega=0.4, eta=0.0)
    terms = objective(step)
    expected = terms.named["supervised"] + 0.4 * 0.5 * terms.named["made"]
    assert terms.total.item() == pytest.approx(expected.item(), rel=1e-6)
    for name, buffer in student.named_buffers():
        assert torch.equal(buffer, before[name])
    terms.total.backward()
    assert student.hash.weight.grad.abs().sum() > 0
    made = gan.make(torch.eye(2))
    assert run_aside(student, made).shape == (2, BITS)


def test_without_omega_there_is_no_gan():
    labels = np.array([0, 0, 1])
    objective = DSHGANs(labels, BITS, None, omega=0.0, eta=0.0)
    assert not objective.needs_unlabelled
    known = ~np.eye(3, dtype=bool)
    terms = objective(make_step(torch.randn(3, BITS), known, labels[:, None] == labels[None, :]))
    assert "made" not in terms.named
