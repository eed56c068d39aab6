"""Mean Teacher, TempEns, VAT and SNTG in the place of R_u."""

import numpy as np
import pytest
import torch

from pts3h.losses.table import LOSSES
from pts3h.nets.hash_network import HashNetwork
from pts3h.objectives.mean_teacher import MeanTeacher
from pts3h.objectives.sntg import SNTG
from pts3h.objectives.temp_ens import TempEns
from pts3h.objectives.vat import VAT

from ..losses import oracles
from .steps import make_step

BITS, LABELLED, COUNT = 6, 4, 9
SHARED = {"pairwise": LOSSES.find("dsh").build(BITS), "omega": 0.5, "eta": 0.0}


@pytest.fixture
def batch():
    rng = np.random.default_rng(3)
    outputs, teacher = rng.normal(size=(2, COUNT, BITS))
    return outputs, teacher, *oracles.masks(rng, LABELLED, share=0.8)


def unit(rows):
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def own_distance(outputs, target):
    return np.mean(((unit(outputs) - unit(target)) ** 2).sum(axis=1))


def value_and_gradient(objective, outputs, known, similar, teacher=None):
    variable = torch.tensor(outputs, requires_grad=True)
    loss, _ = objective.regulariser(make_step(variable, known, similar, teacher=teacher))
    loss.backward()
    return loss.item(), variable.grad.numpy()


def test_mean_teacher_is_the_distance_to_the_teacher_and_not_to_itself(batch):
    outputs, teacher, known, similar = batch
    value, gradient = value_and_gradient(MeanTeacher(**SHARED), outputs, known, similar, teacher)
    assert value == pytest.approx(own_distance(outputs, teacher), abs=1e-9)
    assert value > 0.1
    numeric = oracles.gradient(lambda at: own_distance(at, teacher), outputs)
    np.testing.assert_allclose(gradient, numeric, atol=1e-6)


def test_no_gradient_flows_into_the_teacher(batch):
    outputs, teacher, known, similar = batch
    taught = torch.tensor(teacher, requires_grad=True)
    variable = torch.tensor(outputs, requires_grad=True)
    loss, _ = MeanTeacher(**SHARED).regulariser(make_step(variable, known, similar, teacher=taught))
    loss.backward()
    assert taught.grad is None and variable.grad.abs().max() > 0


def test_whole_loss_is_base_plus_ramped_regulariser(batch):
    outputs, teacher, known, similar = batch
    terms = MeanTeacher(**SHARED)(make_step(outputs, known, similar, teacher=teacher, weight=0.4))
    base = oracles.dsh(outputs[:LABELLED], similar, known, BITS) / BITS
    assert terms.total.item() == pytest.approx(base + 0.5 * 0.4 * own_distance(outputs, teacher), abs=1e-6)
    assert MeanTeacher(**SHARED).needs_teacher
    assert not MeanTeacher(**{**SHARED, "omega": 0.0}).needs_unlabelled


def test_temporal_ensemble_is_the_corrected_average_of_earlier_outputs(batch):
    _, _, known, similar = batch
    rng = np.random.default_rng(5)
    objective = TempEns(**SHARED, count=20, bits=BITS)
    positions = np.arange(3, 3 + COUNT)
    average = np.zeros((COUNT, BITS))
    for time in range(4):
        outputs = rng.normal(size=(COUNT, BITS)).astype(np.float32)
        loss, _ = objective.regulariser(make_step(outputs, known, similar, positions=positions))
        if time == 0:
            assert loss.item() == 0, "an item without a past has no target"
        else:
            target = average / (1 - 0.6**time)
            assert loss.item() == pytest.approx(own_distance(outputs, target), abs=1e-5)
        average = 0.6 * average + 0.4 * unit(outputs)


def test_temporal_ensemble_has_the_gradient_of_the_distance_to_a_constant(batch):
    outputs, before, known, similar = batch
    objective = TempEns(**SHARED, count=COUNT, bits=BITS)
    value_and_gradient(objective, before, known, similar)
    value, gradient = value_and_gradient(objective, outputs, known, similar)
    assert value == pytest.approx(own_distance(outputs, before), abs=1e-5)
    numeric = oracles.gradient(lambda at: own_distance(at, before), outputs)
    np.testing.assert_allclose(gradient, numeric, atol=1e-5)
    assert not objective._average.requires_grad, "what is kept holds no step before in memory"


def test_temporal_ensemble_keeps_items_apart(batch):
    """Half of a batch seen before: only that half has a target."""
    outputs, other, known, similar = batch
    outputs, other = outputs.astype(np.float32), other.astype(np.float32)
    objective = TempEns(**SHARED, count=50, bits=BITS)
    objective.regulariser(make_step(outputs, known, similar, positions=np.arange(COUNT)))
    mixed = np.concatenate([np.arange(4), np.arange(30, 35)])
    loss, _ = objective.regulariser(make_step(other, known, similar, positions=mixed))
    expected = ((unit(other[:4]) - unit(outputs[:4])) ** 2).sum() / COUNT
    assert loss.item() == pytest.approx(expected, abs=1e-5)


@pytest.fixture
def vat_step(batch):
    torch.manual_seed(0)
    student = HashNetwork(BITS, inputs=12, hidden=16, dropout=0.5).train()
    inputs = torch.randn(COUNT, 12)
    return make_step(student(inputs), batch[2], batch[3], inputs=inputs, student=student)


def test_the_adversarial_view_moves_outputs_more_than_random_ones(vat_step):
    objective = VAT(**SHARED, epsilon=0.3)
    student = vat_step.student.eval()
    inputs = vat_step.inputs
    view = objective.adversarial_view(vat_step)
    length = (view - inputs).norm(dim=1)
    torch.testing.assert_close(length, length[0].expand(COUNT))
    typical = (inputs - inputs.mean(0)).norm(dim=1).mean().item()
    assert length[0].item() == pytest.approx(0.3 * typical, rel=1e-4)

    def moved(view):
        with torch.no_grad():
            return own_distance(student(view).numpy(), student(inputs).numpy())

    adversarial = moved(view)
    for seed in range(10):
        noise = torch.randn(COUNT, 12, generator=torch.Generator().manual_seed(seed))
        assert moved(inputs + length[:, None] * noise / noise.norm(dim=1, keepdim=True)) < adversarial


def test_vat_has_a_gradient_and_leaves_the_network_as_it_was(vat_step):
    before = {name: buffer.clone() for name, buffer in vat_step.student.named_buffers()}
    loss, _ = VAT(**SHARED).regulariser(vat_step)
    loss.backward()
    assert loss.item() > 0
    assert vat_step.student.hash.weight.grad.abs().sum() > 0
    assert vat_step.student.training
    for name, buffer in vat_step.student.named_buffers():
        assert torch.equal(buffer, before[name]), f"{name} is a statistic of real views only"


def sntg(outputs, teacher, known, *, rho, smooth, margin):
    unknown = ~np.eye(COUNT, dtype=bool)
    unknown[:LABELLED, :LABELLED] &= ~known
    sim = np.array([[-oracles.unit_distance(teacher, i, j) for j in range(COUNT)] for i in range(COUNT)])
    threshold = np.quantile([sim[i, j] for i, j in oracles.pairs_of(unknown)], 1 - rho, method="higher")

    def cost(i, j):
        distance = np.sqrt(oracles.unit_distance(outputs, i, j))
        return distance**2 if sim[i, j] >= threshold - 1e-9 else max(0.0, margin - distance) ** 2

    return own_distance(outputs, teacher) + smooth * oracles.mean_over(unknown, cost)


def test_sntg_value_and_gradient(batch):
    outputs, teacher, known, similar = batch
    objective = SNTG(**SHARED, similar_share=0.3, smooth=0.7, margin=1.2)
    value, gradient = value_and_gradient(objective, outputs, known, similar, teacher)
    settings = {"rho": 0.3, "smooth": 0.7, "margin": 1.2}
    assert value == pytest.approx(sntg(outputs, teacher, known, **settings), abs=1e-6)
    numeric = oracles.gradient(lambda at: sntg(at, teacher, known, **settings), outputs)
    np.testing.assert_allclose(gradient, numeric, atol=1e-5)
    assert np.abs(gradient).max() > 1e-3


def test_each_regulariser_names_its_part_in_the_history(batch, vat_step):
    outputs, teacher, known, similar = batch
    step = make_step(outputs, known, similar, teacher=teacher)
    loss, parts = MeanTeacher(**SHARED).regulariser(step)
    assert parts == {"consistent": loss}
    loss, parts = TempEns(**SHARED, count=COUNT, bits=BITS).regulariser(step)
    assert parts == {"consistent": loss}
    loss, parts = VAT(**SHARED).regulariser(vat_step)
    assert parts == {"consistent": loss}
    _, parts = SNTG(**SHARED, similar_share=0.3).regulariser(step)
    own, graph = (
        own_distance(outputs, teacher),
        sntg(outputs, teacher, known, rho=0.3, smooth=1, margin=2**0.5),
    )
    assert parts["consistent"].item() == pytest.approx(own)
    assert parts["graph"].item() == pytest.approx(graph - own), "a margin of sqrt(2), by default"
    sim = [-oracles.unit_distance(teacher, i, j) for i, j in oracles.pairs_of(unknown_of(known))]
    assert parts["threshold"] == pytest.approx(np.quantile(sim, 0.7, method="higher"))


def unknown_of(known):
    unknown = ~np.eye(COUNT, dtype=bool)
    unknown[:LABELLED, :LABELLED] &= ~known
    return unknown


def test_half_of_the_graph_counts_by_default(batch):
    outputs, teacher, known, similar = batch
    value, _ = value_and_gradient(SNTG(**SHARED, similar_share=0.3), outputs, known, similar, teacher)
    assert value == pytest.approx(sntg(outputs, teacher, known, rho=0.3, smooth=0.5, margin=2**0.5), abs=1e-6)


def test_only_mean_teacher_asks_the_teacher_and_only_with_a_weight():
    assert not MeanTeacher(**{**SHARED, "omega": 0.0}).needs_teacher
    for other in (TempEns(**SHARED, count=1, bits=1), VAT(**SHARED)):
        assert other.needs_unlabelled and not other.needs_teacher
    assert VAT(**SHARED).needs_inputs and not MeanTeacher(**SHARED).needs_inputs


def test_the_target_of_vat_is_the_clean_output_and_no_gradient_flows_into_it(vat_step):
    """In evaluation mode, dropout or not; the network goes on in the mode it was in."""
    objective, student = VAT(**SHARED, epsilon=0.3), vat_step.student
    view = objective.adversarial_view(vat_step)
    objective.adversarial_view = lambda step: view
    loss, _ = objective.regulariser(vat_step)
    student.eval()
    with torch.no_grad():
        moved, clean = student(view).double().numpy(), student(vat_step.inputs).double().numpy()
    assert loss.item() == pytest.approx(own_distance(moved, clean), rel=1e-4)
    loss.backward()
    gradient = student.hash.weight.grad.clone()
    student.zero_grad()
    cosine = torch.cosine_similarity(student(view), torch.from_numpy(clean).float())
    (2 - 2 * cosine).mean().backward()  # what the squared distance of unit vectors is, to a constant
    assert gradient.abs().max() > 1e-4
    torch.testing.assert_close(gradient, student.hash.weight.grad, rtol=1e-3, atol=1e-6)
    objective.regulariser(vat_step)
    assert not student.training, "it was in evaluation mode this time"


def test_the_direction_of_vat_is_that_of_the_steepest_change():
    """A student that hears one entry only: the view moves along it, by epsilon of the typical length."""
    student = HashNetwork(2, inputs=4, hidden=0, dropout=0.0)
    with torch.no_grad():
        student.hash.weight[:] = torch.tensor([[0.0, 1.0, 0.0, 0.0], [0.0, 0.0, 0.0, 0.0]])
        student.hash.bias[:] = torch.tensor([0.0, 1.0])
    inputs = torch.tensor([[0.3, 0.2, 5.0, 1.0], [-0.3, -0.2, 5.0, 3.0]], requires_grad=True)
    nothing = np.zeros((0, 0), bool)
    torch.manual_seed(0)
    step = make_step(student(inputs), nothing, nothing, inputs=inputs, student=student)
    assert VAT(**SHARED).epsilon == 0.3
    moved = (VAT(**SHARED).adversarial_view(step) - inputs).detach()
    typical = np.sqrt(0.3**2 + 0.2**2 + 1.0)  # of the centred rows
    assert moved[:, 1].abs().tolist() == pytest.approx([0.3 * typical] * 2, rel=1e-4)
    assert moved[:, [0, 2, 3]].abs().max() < 1e-4
    assert not VAT(**SHARED).adversarial_view(step).requires_grad


def test_vat_works_where_gradients_are_off_and_on_pictures(batch):
    student = torch.nn.Sequential(torch.nn.Flatten(), torch.nn.Linear(12, BITS))
    pictures = torch.randn(3, 3, 2, 2)
    nothing = np.zeros((0, 0), bool)
    step = make_step(student(pictures), nothing, nothing, inputs=pictures, student=student)
    with torch.no_grad():
        moved = VAT(**SHARED, epsilon=0.5).adversarial_view(step) - pictures
    typical = (pictures - pictures.mean(0)).flatten(1).norm(dim=1).mean().item()
    assert moved.shape == pictures.shape
    assert moved.flatten(1).norm(dim=1).tolist() == pytest.approx([0.5 * typical] * 3, rel=1e-4)
