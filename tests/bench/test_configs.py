"""The paper's settings and its loss, exactly; and files that are not configurations."""

from pathlib import Path

import numpy as np
import pytest

from pts3h.bench.configs import read_config
from pts3h.bench.plan import Cell, Plan, Setup
from pts3h.data.items import from_array
from pts3h.data.known_pairs import LabelPairs
from pts3h.data.training_set import TrainingSet
from pts3h.errors import UserError
from pts3h.objectives.pts3h import build
from pts3h.settings.asked import Settings
from pts3h.systems.system import Task
from pts3h.systems.table import SYSTEMS

from ..objectives.steps import make_step

FOLDER = Path(__file__).parents[2] / "configs" / "paper"

# data set, code lengths, labelled items, epochs, and omega, gamma, eta of both losses
PAPER = {
    "cifar10": ("cifar10", [12, 24, 32, 48], 5000, 60, (0.8, 0.5, 0.004), (0.02, 0.5, 0.01)),
    "nuswide": ("nuswide21", [12, 24, 32, 48], 10500, 20, (0.8, 0.1, 0.01), (0.2, 0.1, 0.01)),
    "imagenet100": ("imagenet100", [16, 32, 48, 64], 13000, 240, (0.5, 0.1, 0.004), (0.5, 0.02, 0.004)),
}


READINGS = ("literal", "scaled")
SMALL = 960  # unlabelled pictures of a stand-in for the data set


def used_by(stored, method):
    """The settings that a system uses on pictures of 32 pixels, some of which are labelled."""
    labels = np.where(np.arange(SMALL + 60) < 60, np.arange(SMALL + 60) % 3, -1)
    items = from_array(np.zeros((SMALL + 60, 32, 32, 3), np.uint8))
    training = TrainingSet(items, LabelPairs(labels), np.arange(60, SMALL + 60))
    setup = Setup(stored["dataset"], settings=stored["settings"], of=stored["of"])
    settings, shared = setup.settings_of(Cell(method, 48, 60, 0))
    return SYSTEMS.find(method).used(Task(training, 48, settings=settings, shared=shared))


def test_both_readings_of_every_data_set_are_there():
    files = {path.stem for path in FOLDER.glob("*.yaml")}
    assert files == {f"{name}-{reading}" for name in PAPER for reading in READINGS}


@pytest.mark.parametrize("reading", READINGS)
@pytest.mark.parametrize("name", PAPER)
def test_the_papers_settings(name, reading):
    dataset, bits, labelled, epochs, dsh, dpsh = PAPER[name]
    stored = read_config(FOLDER / f"{name}-{reading}.yaml")
    assert (stored["dataset"], stored["bits"], stored["label_count"]) == (dataset, bits, [labelled])
    assert stored["runs"] == 5 and {*stored["methods"]} == {"pts3h-dsh", "pts3h-dpsh", "dsh", "dpsh"}
    settings = used_by(stored, "pts3h-dsh")
    assert (settings.backbone, settings.image_size, settings.freeze) == ("alexnet", 224, False)
    assert (Settings(**stored["settings"]).epochs, settings.alpha) == (epochs, 0.995)
    assert settings.steps == epochs * SMALL / settings.unlabelled_per_batch
    assert (settings.optimizer, settings.momentum, settings.backbone_rate) == ("sgd", 0.9, 0.1)
    assert settings.hidden == 0
    assert used_by(stored, "dsh").omega == used_by(stored, "dpsh").omega == 0
    both = settings.labelled_per_batch + settings.unlabelled_per_batch
    assert (both**2 - settings.labelled_per_batch**2) / settings.labelled_per_batch**2 == 15
    assert settings.ramp * epochs == pytest.approx(5, abs=0.02)
    for method, (omega, gamma, eta) in (("dsh", dsh), ("dpsh", dpsh)):
        ours, base = used_by(stored, f"pts3h-{method}"), used_by(stored, method)
        assert (ours.omega, ours.gamma, ours.eta, base.eta) == (omega, gamma, eta, eta)
        assert ours.learning_rate == base.learning_rate and 0.001 <= ours.learning_rate <= 0.01
    plan = Plan(
        Setup(dataset, settings=stored["settings"], of=stored["of"]),
        stored["methods"],
        stored["bits"],
        stored["label_count"],
        stored["runs"],
    )
    assert len(plan.cells()) == 4 * 4 * 5


def papers_loss(outputs, teacher, labels, *, dsh, omega, gamma, eta, share, literal):
    """L of a batch, equation by equation of arXiv 1902.00643, in float64; the labelled items come first.

    Scaled: DSH's L_s over b, and the margin of its pseudo pairs 2 instead of 2b.
    """
    count, bits = outputs.shape
    margin, scale = (2 * bits, 1) if literal else (2, bits)

    def pair_loss(u, s, margin):
        return -s * u + (1 - s) * max(0.0, margin + u) if dsh else np.log1p(np.exp(u)) - s * u

    def sim(rows, i, j):
        return -float(((rows[i] / np.linalg.norm(rows[i]) - rows[j] / np.linalg.norm(rows[j])) ** 2).sum())

    pairs = [(i, j) for i in range(count) for j in range(count) if i != j]
    known = [(i, j) for i, j in pairs if max(i, j) < len(labels)]
    unknown = [pair for pair in pairs if max(pair) >= len(labels)]

    def raw(i, j):
        a, b = outputs[i], outputs[j]
        return -float(((a - b) ** 2).sum()) if dsh else float(a @ b) / 2

    supervised = np.mean([pair_loss(raw(i, j), float(labels[i] == labels[j]), 2 * bits) for i, j in known])
    consistent = np.mean([(sim(outputs, i, j) - sim(teacher, i, j)) ** 2 for i, j in pairs])
    taught = {pair: sim(teacher, *pair) for pair in unknown}
    threshold = np.quantile(
        [taught[pair] for pair in unknown if pair[0] < pair[1]], 1 - share, method="higher"
    )
    quantized = np.mean(
        [pair_loss(sim(outputs, *pair), float(taught[pair] >= threshold - 1e-12), margin) for pair in unknown]
    )
    rounding = np.mean([np.abs(np.where(row >= 0, 1, -1) - row).sum() for row in outputs])
    return supervised / (scale if dsh else 1) + omega * (consistent + gamma * quantized) + eta * rounding


@pytest.mark.parametrize("loss", ["dsh", "dpsh"])
@pytest.mark.parametrize("reading", READINGS)
@pytest.mark.parametrize("name", PAPER)
def test_the_loss_of_a_batch_is_the_papers(name, reading, loss):
    used = used_by(read_config(FOLDER / f"{name}-{reading}.yaml"), f"pts3h-{loss}")
    rng = np.random.default_rng(3)
    outputs, teacher = rng.normal(size=(2, 14, used.bits))
    labels = np.array([0, 1, 2, 0, 1])
    known = ~np.eye(len(labels), dtype=bool)
    step = make_step(outputs, known, (labels[:, None] == labels) & known, teacher=teacher)
    objective = build(None, used)
    weights = dict(zip(("omega", "gamma", "eta"), PAPER[name][4 if loss == "dsh" else 5], strict=True))
    rest = {"share": used.similar_share, "literal": reading == "literal"}
    expected = papers_loss(outputs, teacher, labels, dsh=loss == "dsh", **weights, **rest)
    assert objective(step).total.item() == pytest.approx(expected, rel=1e-9)


def test_a_config_like_another_says_only_what_differs(tmp_path):
    (tmp_path / "first.yaml").write_text(
        "dataset: digits\nruns: 2\nsettings: {omega: 1.0, gamma: 0.5}\nof: {dsh: {eta: 0.1}}"
    )
    (tmp_path / "second.yaml").write_text(
        "like: first.yaml\nruns: 3\nsettings: {gamma: 2.0}\nof: {dpsh: {eta: 0.2}}"
    )
    assert read_config(tmp_path / "second.yaml") == {
        "dataset": "digits",
        "runs": 3,
        "settings": {"omega": 1.0, "gamma": 2.0},
        "of": {"dsh": {"eta": 0.1}, "dpsh": {"eta": 0.2}},
    }
    (tmp_path / "third.yaml").write_text("like: second.yaml")
    with pytest.raises(UserError, match=r"like second\.yaml, which is like another"):
        read_config(tmp_path / "third.yaml")
    (tmp_path / "fourth.yaml").write_text("like: none.yaml")
    with pytest.raises(UserError, match="cannot read"):
        read_config(tmp_path / "fourth.yaml")


@pytest.mark.parametrize("name", ["fine-tune-cifar10", "alexnet-cifar10"])
def test_fine_tuning_gives_both_systems_their_own_steps(name):
    stored = read_config(FOLDER.parent / f"{name}.yaml")
    setup = Setup(stored["dataset"], settings=stored["settings"], of=stored["of"])
    plan = Plan(setup, stored["methods"], stored["bits"], stored["label_count"], stored["runs"])
    both = [used_by(stored, cell.method) for cell in plan.cells()]
    assert [used.freeze for used in both] == [False, False]
    assert both[0].lead > 0 == both[1].lead and both[0].steps < both[1].steps
    assert both[1].omega == 0 < both[0].omega


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("- 1", "must hold keys"),
        ("dataset: [cifar10", "as YAML"),
        ("colour: red", "unknown key 'colour'"),
        ("bits: 12", "bits must be a list"),
        ("labels: [500]", "unknown key 'labels'"),
        ("runs: true", "runs must be a int"),
        ("settings: {omega: much}", "omega must be a number"),
        ("of: {dsh: {omga: 1}}", "did you mean omega"),
        ("dataset: !!python/object/apply:os.system [ls]", "as YAML"),
    ],
)
def test_mistakes(tmp_path, text, message):
    path = tmp_path / "bench.yaml"
    path.write_text(text)
    with pytest.raises(UserError, match=message):
        read_config(path)


def test_no_file(tmp_path):
    with pytest.raises(UserError, match="cannot read"):
        read_config(tmp_path / "none.yaml")
