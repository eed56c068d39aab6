"""The paper's settings, exactly; and files that are not configurations."""

from pathlib import Path

import numpy as np
import pytest

from pts3h.bench.configs import read_config
from pts3h.bench.plan import Cell, Plan, Setup
from pts3h.data.items import from_array
from pts3h.data.known_pairs import LabelPairs
from pts3h.data.training_set import TrainingSet
from pts3h.errors import UserError
from pts3h.settings.asked import Settings
from pts3h.systems.system import Task
from pts3h.systems.table import SYSTEMS

FOLDER = Path(__file__).parents[2] / "configs" / "paper"

# data set, code lengths, labelled items, epochs, and omega, gamma, eta of both losses
PAPER = {
    "cifar10": ("cifar10", [12, 24, 32, 48], 5000, 60, (0.8, 0.5, 0.004), (0.02, 0.5, 0.01)),
    "nuswide": ("nuswide21", [12, 24, 32, 48], 10500, 20, (0.8, 0.1, 0.01), (0.2, 0.1, 0.01)),
    "imagenet100": ("imagenet100", [16, 32, 48, 64], 13000, 240, (0.5, 0.1, 0.004), (0.5, 0.02, 0.004)),
}


SMALL = 960  # unlabelled pictures of a stand-in for the data set


def used_by(stored, method):
    """The settings that a system uses on pictures of 32 pixels, some of which are labelled."""
    labels = np.where(np.arange(SMALL + 60) < 60, np.arange(SMALL + 60) % 3, -1)
    items = from_array(np.zeros((SMALL + 60, 32, 32, 3), np.uint8))
    training = TrainingSet(items, LabelPairs(labels), np.arange(60, SMALL + 60))
    setup = Setup(stored["dataset"], settings=stored["settings"], of=stored["of"])
    settings, shared = setup.settings_of(Cell(method, 48, 60, 0))
    return SYSTEMS.find(method).used(Task(training, 48, settings=settings, shared=shared))


@pytest.mark.parametrize("name", PAPER)
def test_the_papers_settings(name):
    dataset, bits, labelled, epochs, dsh, dpsh = PAPER[name]
    stored = read_config(FOLDER / f"{name}.yaml")
    assert (stored["dataset"], stored["bits"], stored["label_count"]) == (dataset, bits, [labelled])
    assert stored["runs"] == 5 and {*stored["methods"]} == {"pts3h-dsh", "pts3h-dpsh", "dsh", "dpsh"}
    settings = used_by(stored, "pts3h-dsh")
    assert (settings.backbone, settings.image_size, settings.freeze) == ("alexnet", 224, False)
    assert (Settings(**stored["settings"]).epochs, settings.alpha) == (epochs, 0.995)
    assert settings.steps == epochs * SMALL / settings.unlabelled_per_batch
    assert (settings.optimizer, settings.momentum, settings.backbone_rate) == ("sgd", 0.9, 0.1)
    assert 0.001 <= settings.learning_rate <= 0.01 and settings.hidden == 0
    assert used_by(stored, "dsh").omega == used_by(stored, "dpsh").omega == 0
    both = settings.labelled_per_batch + settings.unlabelled_per_batch
    assert (both**2 - settings.labelled_per_batch**2) / settings.labelled_per_batch**2 == 15
    assert settings.ramp * epochs == pytest.approx(5, abs=0.02)
    for method, (omega, gamma, eta) in (("dsh", dsh), ("dpsh", dpsh)):
        assert stored["of"][f"pts3h-{method}"] == {"omega": omega, "gamma": gamma, "eta": eta}
        assert stored["of"][method] == {"eta": eta}
    plan = Plan(
        Setup(dataset, settings=stored["settings"], of=stored["of"]),
        stored["methods"],
        stored["bits"],
        stored["label_count"],
        stored["runs"],
    )
    assert len(plan.cells()) == 4 * 4 * 5


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
