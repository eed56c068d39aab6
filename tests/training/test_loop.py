"""The loop: what it does at each step, and that every loss trains by it."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from pts3h.data.batches import Batches
from pts3h.losses.ramps import consistency_ramp, learning_rate_factor, teacher_decay
from pts3h.losses.table import LOSSES
from pts3h.objectives.objective import Step
from pts3h.training.loop import step_seed, train
from tests.training.runs import Watched, assert_same, make_run, weights

SHORT = 0.005  # every step here is longer


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
    used = run.used
    for record in history:
        step = record["step"]
        assert record["omega"] == pytest.approx(used.omega * consistency_ramp(step, 10))
        rate = used.learning_rate * learning_rate_factor(step, 20, 5)
        assert record["learning_rate"] == pytest.approx(rate)
        assert -4 <= record["threshold"] <= 0
        unlabelled = record["consistent"] + used.gamma * record["quantized"]
        total = record["supervised"] + record["omega"] * unlabelled + used.eta * record["quantization"]
        total += used.classes * (record["classes"] + consistency_ramp(step, 10) * record["guessed"])
        assert record["loss"] == pytest.approx(total, rel=1e-5)


@pytest.mark.parametrize("clip", [0.0, SHORT, 1e3])
def test_a_step_is_what_the_algorithm_says(clip):
    """One step by hand: SGD with momentum on the student, then the moving average, with dropout off."""
    run = make_run(steps=2, dropout=0.0, clip=clip)
    for network in (run.student, run.teacher.network):
        network.trunk[-1].p = 0.0
    train(run)

    again = make_run(steps=2)
    student, teacher = again.student.train(), again.teacher.network.train()
    for network in (student, teacher):
        network.trunk[-1].p = 0.0
    used, velocity = again.used, {}
    mean = {name: value.clone().double() for name, value in teacher.named_parameters()}
    for step in (1, 2):
        batch = again.batches.at(step - 1)
        view_1, view_2 = again.inputs.two_views(batch.positions, step_seed(used.seed, step, 0))
        known, similar = torch.from_numpy(batch.known), torch.from_numpy(batch.similar)
        outputs, teacher_outputs = student(view_1), teacher(view_2)
        weight = consistency_ramp(step, 1)
        terms = again.objective(
            Step(step, weight, batch.positions, view_1, outputs, teacher_outputs, known, similar, student)
        )
        gradients = torch.autograd.grad(terms.total, list(student.parameters()))
        norm = sum(gradient.double().square().sum() for gradient in gradients).sqrt()
        assert used.learning_rate * norm > 2 * SHORT
        shorter = min(1, clip / used.learning_rate / norm) if clip else 1
        rate = used.learning_rate * learning_rate_factor(step, 2, 0)
        decay = teacher_decay(step, used.alpha)
        with torch.no_grad():
            for (name, weight), gradient in zip(student.named_parameters(), gradients, strict=True):
                full = shorter * gradient + used.weight_decay * weight
                velocity[name] = full if step == 1 else used.momentum * velocity[name] + full
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
    led, supervised = make_run(lead=1.0, classes=0.0), make_run(omega=0.0)
    train(led)
    train(
        replace(
            supervised,
            batches=Batches(
                supervised.batches.known,
                np.arange(40, 120),
                labelled=12,
                unlabelled=0,
                seed=supervised.used.seed,
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
        worth_preparing = False

        def __init__(self, inputs):
            self.inputs = inputs

        def two_views(self, positions, seed, share=None):
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


@pytest.mark.parametrize("loss", LOSSES.names())
@pytest.mark.parametrize("bits", [12, 32, 128])
def test_defaults_train_every_loss_at_every_length(loss, bits):
    """No divergence, no collapse (warnings are errors), and the supervised loss falls."""
    history = train(make_run(loss=loss, bits=bits, steps=150, hidden=64))
    losses = [record["supervised"] for record in history]
    assert np.mean(losses[-10:]) < 0.7 * np.mean(losses[:10])


@pytest.mark.parametrize("settings", [{"epochs": 2.5, "unlabelled_per_batch": 20}, {"steps": 4}])
def test_there_are_as_many_steps_as_the_settings_say(settings):
    run = make_run(**{"steps": None} | settings)
    assert len(train(run)) == run.used.steps == (4 if "steps" in settings else 10)


def test_each_step_is_watched():
    seen = []
    assert train(replace(make_run(steps=5), watch=seen.append)) == seen
