from copy import deepcopy

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


def hashing(anchors, others, labels, objective):
    """Mean over triplets of max(0, 1 + d(a, p) - d(a, n)), never an item with itself, and cross-entropy."""
    soft, other = np.tanh(anchors), np.tanh(others)
    distance = ((soft[:, None] - other[None]) ** 2).sum(axis=2) / BITS
    count = range(len(labels))
    costs = [
        max(0.0, 1 + distance[a, p] - distance[a, n])
        for a in count
        for p in count
        for n in count
        if a not in (p, n) and labels[a] == labels[p] and labels[a] != labels[n]
    ]
    layer = objective.classifier.layer
    logits = soft @ layer.weight.detach().numpy().T + layer.bias.detach().numpy()
    chosen = logits[np.arange(len(labels)), labels]
    return np.mean(costs) + np.mean(np.log(np.exp(logits).sum(axis=1)) - chosen)


@pytest.mark.parametrize("omega", [0.0, 0.4])
def test_the_whole_loss_with_a_gan_that_is_a_stub(omega):
    """What is made, and what the GAN says of itself, are given; the rest follows from the formulas."""
    torch.manual_seed(0)
    labels = np.array([0, 0, 1, 1, 2, -1])
    rng = np.random.default_rng(0)
    inputs = rng.normal(size=(6, WIDTH)).astype(np.float32)
    made = torch.from_numpy(rng.normal(size=(5, WIDTH)).astype(np.float32))
    seen = []

    class Stub:
        def update(self, vectors, targets):
            seen.append((vectors, targets))
            return 1.5, 2.5

        def make(self, targets):
            assert not torch.is_grad_enabled()
            return made

    student = HashNetwork(BITS, inputs=WIDTH, hidden=8, dropout=0.0).train()
    variable = torch.from_numpy(inputs).requires_grad_()
    outputs = student(variable)
    known = ~np.eye(5, dtype=bool)
    step = make_step(outputs, known, known, inputs=variable, student=student, weight=0.5)
    objective = DSHGANs(labels, BITS, Stub(), omega=omega, eta=0.3)
    figures = objective(step).figures()

    real = outputs.detach().numpy().astype(float)
    supervised = hashing(real[:5], real[:5], labels[:5], objective)
    signs = np.where(real >= 0, 1.0, -1.0)
    expected = {
        "loss": supervised + 0.3 * np.abs(signs - real).sum(axis=1).mean(),
        "supervised": supervised,
    }
    if omega:
        with torch.no_grad():
            of_made = student(made).numpy().astype(float)  # in training mode: by the batch's own statistics
        extra = hashing(of_made, real[:5], labels[:5], objective)
        expected |= {"made": extra, "discriminator": 1.5, "generator": 2.5}
        expected["loss"] += 0.4 * 0.5 * extra
        ((vectors, targets),) = seen
        assert torch.equal(vectors, variable) and not vectors.requires_grad
        assert targets.argmax(1).tolist() == labels[:5].tolist()
    assert figures == pytest.approx(expected, rel=1e-4)
    assert bool(seen) is bool(omega)


@pytest.fixture
def gan():
    torch.manual_seed(1)
    center, spread = torch.full((WIDTH,), 10.0), torch.full((WIDTH,), 4.0)
    made = ConditionalGAN(center, spread, 3, several=False)
    made.body.eval()  # without dropout both losses are what the formulas say
    return made


def linear(layer, rows):
    return rows @ layer.weight.detach().numpy().astype(float).T + layer.bias.detach().numpy()


def judged(gan, vectors, labels):
    """(real or made, mean cross-entropy of the labelled) of the discriminator, in float64."""
    hidden = linear(gan.body[0], (vectors - 10.0) / 4.0)
    hidden = np.where(hidden > 0, hidden, 0.2 * hidden)
    logits = linear(gan.classifier.layer, hidden[: len(labels)])
    entropy = np.log(np.exp(logits).sum(axis=1)) - logits[np.arange(len(labels)), labels]
    return linear(gan.is_real, hidden)[:, 0], entropy.mean()


def test_a_step_of_the_gan(gan):
    labels = np.array([0, 2, 1])
    targets = torch.from_numpy(np.eye(3, dtype=np.float32)[labels])
    vectors = 10 + 4 * torch.randn(5, WIDTH)
    before = deepcopy(gan)
    torch.manual_seed(2)
    losses = gan.update(vectors, targets)

    torch.manual_seed(2)
    made = before.make(targets).detach().numpy().astype(float)
    real, entropy = judged(before, vectors.numpy().astype(float), labels)
    fake, _ = judged(before, made, labels)
    expected = np.logaddexp(0, -real).mean() + np.logaddexp(0, fake).mean() + entropy
    assert losses[0] == pytest.approx(expected, rel=1e-4), "real from made, and the classes of the labelled"
    fake, entropy = judged(gan, made, labels)  # the discriminator has moved first
    assert losses[1] == pytest.approx(np.logaddexp(0, -fake).mean() + entropy, rel=1e-4)

    for part in ("generator", "body", "is_real", "classifier"):
        weights = zip(getattr(gan, part).parameters(), getattr(before, part).parameters(), strict=True)
        assert all((new - old).abs().max() > 1e-4 for new, old in weights), f"{part} has learned"


def test_each_side_takes_its_own_steps(gan):
    """Gradients of one step are gone at the next, and the discriminator takes none of the generator's."""
    targets, vectors = torch.eye(3), 10 + torch.randn(3, WIDTH)
    for _ in range(3):
        gan.update(vectors, targets)
    torch.manual_seed(3)
    twin = deepcopy(gan)
    for one in (twin.judging, twin.generating):
        one.zero_grad()
    torch.manual_seed(4)
    first = gan.update(vectors, targets)
    torch.manual_seed(4)
    assert twin.update(vectors, targets) == first
    for part in ("generator", "body", "is_real", "classifier"):
        for new, old in zip(getattr(gan, part).parameters(), getattr(twin, part).parameters(), strict=True):
            assert torch.equal(new, old), part


def test_made_vectors_have_the_spread_and_the_center(gan):
    with torch.no_grad():
        for layer in (gan.generator[0], gan.generator[2]):
            layer.weight.zero_()
            layer.bias.zero_()
        gan.generator[2].bias[0] = 0.5
    made = gan.make(torch.eye(3))
    assert made.shape == (3, WIDTH)
    assert made[:, 0].tolist() == [12.0] * 3 and made[0, 1:].tolist() == [10.0] * (WIDTH - 1)


def test_an_entry_that_never_varies_does_no_harm():
    gan = ConditionalGAN(torch.zeros(WIDTH), torch.zeros(WIDTH), 2, several=True)
    losses = gan.update(torch.zeros(2, WIDTH), torch.eye(2))
    assert np.isfinite(losses).all() and gan.spread.min() > 0
    assert gan.classifier.several
