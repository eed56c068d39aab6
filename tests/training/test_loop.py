"""The loop: what it does each step, that it resumes bit for bit, that it says when training goes wrong."""

import json
import os
import signal
from dataclasses import replace

import numpy as np
import pytest
import torch

from pts3h.data.batches import Batches
from pts3h.data.inputs import VectorInputs
from pts3h.data.known_pairs import LabelPairs
from pts3h.data.views import VectorViews
from pts3h.errors import UserError
from pts3h.losses.ramps import consistency_ramp, learning_rate_factor, teacher_decay
from pts3h.nets.hash_network import HashNetwork
from pts3h.nets.teacher import Teacher
from pts3h.objectives.objective import Objective, Step
from pts3h.settings import LOSS_DEFAULTS, Config
from pts3h.training.checkpoint import Checkpoint, load_checkpoint, save_checkpoint
from pts3h.training.learning import build_objective
from pts3h.training.loop import (
    CollapseWarning,
    Diverged,
    Interrupted,
    Run,
    build_optimizer,
    step_seed,
    teacher_alpha,
    train,
)


def make_run(folder=None, steps=30, **settings):
    rng = np.random.default_rng(0)
    labels = np.full(120, -1)
    labels[:40] = np.arange(40) % 4
    vectors = rng.normal(size=(120, 16)).astype(np.float32)
    vectors[:, :4] += 3 * np.eye(4, dtype=np.float32)[np.arange(120) % 4]
    config = Config(**{"bits": 12, "hidden": 24, "steps": steps, **settings}).resolved(images=False)
    known = LabelPairs(labels)
    torch.manual_seed(config.seed)
    student, network = (HashNetwork(config.bits, inputs=16, hidden=config.hidden, dropout=0.2) for _ in "st")
    teacher = Teacher(student, network)
    batches = Batches(known, np.arange(40, 120), labelled=12, unlabelled=20, seed=config.seed)
    inputs = VectorInputs(vectors, VectorViews(noise=0.2, dropout=0.1))
    return Run(student, teacher, inputs, batches, build_objective(config, known), config, steps, folder)


def weights(run):
    return {
        f"{part}.{name}": value.clone()
        for part, network in (("student", run.student), ("teacher", run.teacher.network))
        for name, value in network.state_dict().items()
    }


def assert_same(run, other):
    for name, value in weights(run).items():
        assert torch.equal(value, weights(other)[name]), name


class Watched(Objective):
    """An objective whose steps are looked at."""

    def __init__(self, objective, look):
        self.objective, self.look = objective, look

    @property
    def needs_teacher(self):
        return self.objective.needs_teacher

    def __call__(self, step):
        self.look(step)
        return self.objective(step)


def stopped_at(run, number):
    """A run in which Ctrl-C is pressed in the middle of a step."""

    def look(step):
        if step.number == number:
            os.kill(os.getpid(), signal.SIGINT)

    return replace(run, objective=Watched(run.objective, look))


@pytest.mark.parametrize("optimizer", ["sgd", "adamw"])
@pytest.mark.parametrize("stop", [1, 13, 29])
def test_a_resumed_run_equals_an_uninterrupted_one_bit_for_bit(tmp_path, stop, optimizer):
    settings = {"optimizer": optimizer, "learning_rate": 0.01}
    whole = make_run(**settings)
    history = train(whole)

    with pytest.raises(Interrupted, match=f"after step {stop} of 30.*--resume"):
        train(stopped_at(make_run(tmp_path, **settings), stop))
    resumed = make_run(tmp_path, **settings)
    torch.manual_seed(999)  # whatever else happened in the process must not matter
    assert train(resumed, resume=True) == history
    assert_same(whole, resumed)


def test_a_resumed_optimiser_lays_out_its_memory_as_the_weights_are(tmp_path):
    """Whole networks keep their filters channels last; a fused optimiser takes no heed of strides."""
    net, stored, teacher = (torch.nn.Conv2d(3, 4, 5).to(memory_format=torch.channels_last) for _ in "abc")
    optimizers = [torch.optim.AdamW(one.parameters(), fused=True) for one in (net, stored)]
    images, config = torch.rand(2, 3, 9, 9), Config()
    for step in range(4):
        if step == 2:
            save_checkpoint(tmp_path, Checkpoint(step, net, teacher, optimizers[0], config))
            assert load_checkpoint(tmp_path, stored, teacher, optimizers[1], config) == 2
        for one, optimizer in zip((net, stored), optimizers, strict=True):
            optimizer.zero_grad()
            one(images).square().mean().backward()
            optimizer.step()
    assert torch.equal(net.weight, stored.weight)


def test_the_same_seed_gives_the_same_model_and_another_one_another():
    first, second, third = make_run(), make_run(), make_run(seed=1)
    for run in (first, second, third):
        train(run)
    assert_same(first, second)
    assert not torch.equal(weights(first)["student.hash.weight"], weights(third)["student.hash.weight"])


def test_training_leaves_the_global_random_state_alone():
    torch.manual_seed(5)
    expected = torch.rand(3)
    run = make_run(steps=3)
    torch.manual_seed(5)
    train(run)
    assert torch.equal(torch.rand(3), expected)


def test_history_names_every_figure_of_every_step():
    run = make_run(steps=20, ramp=0.5, warmup=0.25)
    history = train(run)
    assert [record["step"] for record in history] == list(range(1, 21))
    config = run.config
    for record in history:
        step = record["step"]
        assert record["omega"] == pytest.approx(config.omega * consistency_ramp(step, 10))
        rate = config.learning_rate * learning_rate_factor(step, 20, 5)
        assert record["learning_rate"] == pytest.approx(rate)
        assert -4 <= record["threshold"] <= 0
        unlabelled = record["consistent"] + config.gamma * record["quantized"]
        total = record["supervised"] + record["omega"] * unlabelled + config.eta * record["quantization"]
        assert record["loss"] == pytest.approx(total, rel=1e-5)


def test_a_step_is_what_the_algorithm_says():
    """One step by hand: SGD with momentum on the student, then the moving average, with dropout off."""
    run = make_run(steps=2, dropout=0.0)
    for network in (run.student, run.teacher.network):
        network.trunk[-1].p = 0.0
    train(run)

    again = make_run(steps=2)
    student, teacher = again.student.train(), again.teacher.network.train()
    for network in (student, teacher):
        network.trunk[-1].p = 0.0
    config, velocity = again.config, {}
    mean = {name: value.clone().double() for name, value in teacher.named_parameters()}
    for step in (1, 2):
        batch = again.batches.at(step - 1)
        view_1, view_2 = again.inputs.two_views(batch.positions, step_seed(config.seed, step, 0))
        known, similar = torch.from_numpy(batch.known), torch.from_numpy(batch.similar)
        outputs, teacher_outputs = student(view_1), teacher(view_2)
        weight = consistency_ramp(step, 1)
        terms = again.objective(
            Step(step, weight, batch.positions, view_1, outputs, teacher_outputs, known, similar, student)
        )
        gradients = torch.autograd.grad(terms.total, list(student.parameters()))
        rate = config.learning_rate * learning_rate_factor(step, 2, 0)
        decay = teacher_decay(step, teacher_alpha(config, 2))
        with torch.no_grad():
            for (name, weight), gradient in zip(student.named_parameters(), gradients, strict=True):
                full = gradient + config.weight_decay * weight
                velocity[name] = full if step == 1 else config.momentum * velocity[name] + full
                weight -= rate * velocity[name]
                mean[name] = decay * mean[name] + (1 - decay) * weight.double()
            for name, weight in teacher.named_parameters():
                weight.copy_(mean[name])
            for own, buffer in zip(teacher.buffers(), student.buffers(), strict=True):
                own.copy_(buffer)
    for name, value in run.student.named_parameters():
        torch.testing.assert_close(value, dict(student.named_parameters())[name], atol=1e-5, rtol=1e-4)
    for name, value in run.teacher.network.named_parameters():
        torch.testing.assert_close(value.double(), mean[name], atol=1e-5, rtol=1e-4)


def test_unlabelled_items_join_after_the_lead():
    run = make_run(steps=20, lead=0.5, ramp=0.25)
    seen = []
    record = train(replace(run, objective=Watched(run.objective, seen.append)))
    assert [len(step.outputs) for step in seen] == [12] * 10 + [32] * 10
    assert [step.teacher_outputs is None for step in seen] == [True] * 10 + [False] * 10
    assert [step.weight for step in seen] == [0] * 10 + [consistency_ramp(t, 5) for t in range(1, 11)]
    assert ["threshold" in figures for figures in record] == [False] * 10 + [True] * 10


def test_a_run_that_is_all_lead_is_supervised_training():
    led, supervised = make_run(lead=1.0), make_run(omega=0.0)
    train(led)
    train(
        replace(
            supervised,
            batches=Batches(
                supervised.batches.known,
                np.arange(40, 120),
                labelled=12,
                unlabelled=0,
                seed=supervised.config.seed,
            ),
        )
    )
    assert_same(led, supervised)


def test_no_gradient_reaches_the_teacher():
    run = make_run(steps=2)
    train(run)
    for weight in run.teacher.network.parameters():
        assert weight.grad is None and not weight.requires_grad


def test_consistency_is_zero_only_where_views_and_weights_are_equal():
    class SameView:
        def __init__(self, inputs):
            self.inputs = inputs

        def two_views(self, positions, seed):
            clean = self.inputs.clean(positions)
            return clean, clean.clone()

    equal = make_run(steps=1)
    equal = replace(equal, inputs=SameView(equal.inputs))
    different = make_run(steps=1)
    for run in (equal, different):
        for network in (run.student, run.teacher.network):
            network.trunk[-1].p = 0.0
    assert train(equal)[0]["consistent"] == pytest.approx(0, abs=1e-9)
    assert train(different)[0]["consistent"] > 1e-3


def test_the_hash_layer_learns_ten_times_faster_than_the_backbone():
    from pts3h.nets.backbones.small import SmallConv

    network = HashNetwork(8, inputs=256, hidden=0, dropout=0.0, backbone=SmallConv())
    optimizer = build_optimizer(network, Config(learning_rate=0.01).resolved(images=True))
    backbone, head = optimizer.param_groups
    assert head["lr"] == 0.01 and backbone["lr"] == pytest.approx(0.001)
    assert {id(w) for w in backbone["params"]} == {id(w) for w in network.backbone.parameters()}
    assert {id(w) for w in head["params"]} == {id(w) for w in network.hash.parameters()}


def test_divergence_stops_with_advice():
    run = make_run(hidden=0, learning_rate=900.0, steps=60, omega=0.0)
    with pytest.raises(Diverged, match="lower learning_rate"):
        train(run)


def test_collapse_to_zero_warns():
    run = make_run(steps=50, loss="dpsh", learning_rate=0.01, warmup=0.0)
    with torch.no_grad():
        run.student.hash.weight.zero_()
    run.student.hash.requires_grad_(False)
    with pytest.warns(CollapseWarning, match="outputs shrank"):
        train(run)


def test_equal_codes_warn():
    run = make_run(steps=50, warmup=0.0)
    with torch.no_grad():
        run.student.hash.weight.zero_()
        run.student.hash.bias.fill_(1.0)
    run.student.hash.requires_grad_(False)
    with pytest.warns(CollapseWarning, match="100% of the codes are the same"):
        train(run)


def test_resuming_with_other_settings_is_refused(tmp_path):
    run = make_run(tmp_path)
    with pytest.raises(Interrupted):
        train(stopped_at(run, 3))
    with pytest.raises(UserError, match=r"other settings \(gamma\)"):
        train(make_run(tmp_path, gamma=0.123), resume=True)


def test_a_corrupt_checkpoint_is_refused(tmp_path):
    run = make_run(tmp_path)
    (tmp_path / "checkpoint.safetensors").write_bytes(b"not a checkpoint")
    optimizer = build_optimizer(run.student, run.config)
    with pytest.raises(UserError, match="--overwrite"):
        load_checkpoint(tmp_path, run.student, run.teacher.network, optimizer, run.config)


def test_history_file_holds_one_record_a_step(tmp_path):
    run = make_run(tmp_path)
    with pytest.raises(Interrupted):
        train(stopped_at(run, 7))
    records = [json.loads(line) for line in (tmp_path / "history.jsonl").read_text().splitlines()]
    assert [record["step"] for record in records] == list(range(1, 8))


@pytest.mark.parametrize("loss", LOSS_DEFAULTS)
@pytest.mark.parametrize("bits", [12, 32, 128])
def test_defaults_train_every_loss_at_every_length(loss, bits):
    """No divergence, no collapse (warnings are errors), and the supervised loss falls."""
    history = train(make_run(loss=loss, bits=bits, steps=150, hidden=64))
    losses = [record["supervised"] for record in history]
    assert np.mean(losses[-10:]) < 0.7 * np.mean(losses[:10])
