"""A checkpoint: a run that was stopped goes on bit for bit, or says why not."""

import json

import pytest
import torch
from safetensors.torch import save as serialize

from pts3h import Interrupted, UserError
from pts3h.training.checkpoint import (
    Checkpoint,
    digest,
    load_checkpoint,
    read_checkpoint,
    save_checkpoint,
    stored_settings,
)
from pts3h.training.loop import train
from pts3h.training.optimizer import build_optimizer
from tests.training.runs import assert_same, make_run, make_used, stopped_at


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
    images, used = torch.rand(2, 3, 9, 9), make_used()
    for step in range(4):
        if step == 2:
            save_checkpoint(tmp_path, Checkpoint(step, net, teacher, optimizers[0], used, []))
            assert load_checkpoint(tmp_path, stored, teacher, optimizers[1], used) == (2, [])
        for one, optimizer in zip((net, stored), optimizers, strict=True):
            optimizer.zero_grad()
            one(images).square().mean().backward()
            optimizer.step()
    assert torch.equal(net.weight, stored.weight)


def test_resuming_with_other_settings_is_refused(tmp_path):
    run = make_run(tmp_path)
    with pytest.raises(Interrupted):
        train(stopped_at(run, 3))
    with pytest.raises(UserError, match=r"other settings \(gamma\)"):
        train(make_run(tmp_path, gamma=0.123), resume=True)


def test_a_setting_that_was_not_known_was_off(tmp_path):
    """A run that was stopped by an earlier version goes on."""
    settings = {"neighbours": 0.0}
    with pytest.raises(Interrupted):
        train(stopped_at(make_run(tmp_path, **settings), 3))
    rewrite(tmp_path, without="classes")
    history = train(make_run(tmp_path, **settings), resume=True)
    assert history == train(make_run(**settings))


def test_an_objective_that_has_lost_what_it_learned_is_refused(tmp_path):
    with pytest.raises(Interrupted):
        train(stopped_at(make_run(tmp_path), 3))
    rewrite(tmp_path, keep=lambda name: not name.startswith("beside."))
    with pytest.raises(UserError, match="is of an earlier version: start anew with --overwrite"):
        train(make_run(tmp_path), resume=True)


def rewrite(folder, *, without=None, keep=lambda name: True):
    """The same checkpoint without a setting, or without some tensors."""
    metadata, tensors = read_checkpoint(folder)
    config = {name: value for name, value in json.loads(metadata["config"]).items() if name != without}
    metadata, tensors = (
        metadata | {"config": json.dumps(config)},
        {name: value for name, value in tensors.items() if keep(name)},
    )
    content = serialize(tensors, metadata | {"digest": digest(metadata, tensors)})
    (folder / "checkpoint.safetensors").write_bytes(content)


def test_a_corrupt_checkpoint_is_refused(tmp_path):
    run = make_run(tmp_path)
    (tmp_path / "checkpoint.safetensors").write_bytes(b"not a checkpoint")
    optimizer = build_optimizer(run.student, run.used)
    with pytest.raises(UserError, match="--overwrite"):
        load_checkpoint(tmp_path, run.student, run.teacher.network, optimizer, run.used)


def test_it_holds_one_record_per_step(tmp_path):
    """And nothing else is written: a model may lie there that is to be replaced."""
    run = make_run(tmp_path)
    with pytest.raises(Interrupted):
        train(stopped_at(run, 7))
    records = json.loads(read_checkpoint(tmp_path)[1]["history"].numpy().tobytes())
    assert [record["step"] for record in records] == list(range(1, 8))
    assert [path.name for path in tmp_path.iterdir()] == ["checkpoint.safetensors"]


def test_none_to_resume_from(tmp_path):
    with pytest.raises(UserError, match="holds no checkpoint to resume from"):
        read_checkpoint(tmp_path)
    with pytest.raises(UserError, match="no folder was given"):
        train(make_run(), resume=True)


def test_it_keeps_every_setting(tmp_path):
    run = make_run(tmp_path, eta=0.123)
    with pytest.raises(Interrupted):
        train(stopped_at(run, 2))
    assert stored_settings(tmp_path) == run.used.to_json()
    assert stored_settings(tmp_path)["eta"] == 0.123


def test_it_holds_both_networks_and_the_step(tmp_path):
    run = make_run(tmp_path)
    with pytest.raises(Interrupted):
        train(stopped_at(run, 9))
    metadata, tensors = read_checkpoint(tmp_path)
    assert metadata["step"] == "9"
    for name, network in (("student", run.student), ("teacher", run.teacher.network)):
        for key, value in network.state_dict().items():
            assert torch.equal(tensors[f"{name}.{key}"], value)


def test_long_runs_are_kept_every_now_and_then(tmp_path, monkeypatch):
    """A power cut loses a minute, not the run."""
    monkeypatch.setattr("pts3h.training.loop.CHECKPOINT_SECONDS", -1.0)
    train(make_run(tmp_path, steps=5))
    assert read_checkpoint(tmp_path)[0]["step"] == "5"
    train(make_run(steps=5))  # and nowhere without a folder


def test_a_stop_without_a_folder_says_that_nothing_is_kept():
    with pytest.raises(Interrupted, match="after step 3 of 30; nothing was saved"):
        train(stopped_at(make_run(), 3))
