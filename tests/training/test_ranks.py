"""Several processes train as one would; one process knows nothing of them."""

import json
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
import torch
import torch.distributed as dist
from safetensors.torch import load_file

import pts3h
from pts3h import Hasher
from pts3h.data.batches import Share
from pts3h.errors import UserError
from pts3h.model.folder import load_model
from pts3h.training.loop import train
from pts3h.training.ranks import Ranks, joined
from tests.cli.commands import write_pairs
from tests.pictures import random_pairs, write_pictures
from tests.torchrun import finish, start
from tests.training import rank_steps
from tests.training.runs import make_run, stopped_at, weights

pytestmark = pytest.mark.timeout(1600)  # several processes on a machine that may be busy

RANKS = (0, 1)
STOP = 4


class Told:
    """What two ranks wrote down."""

    def __init__(self, folder):
        self.folder = folder
        self.by_rank = [json.loads((folder / f"{rank}.json").read_text()) for rank in RANKS]

    def tensors(self, name):
        """Of either rank, which must be the same to the bit."""
        first, second = (load_file(self.folder / f"{name}-{rank}.safetensors") for rank in RANKS)
        assert first.keys() == second.keys()
        assert all(torch.equal(value, second[key]) for key, value in first.items())
        return first


@pytest.fixture(scope="module")
def told(tmp_path_factory):
    """All scenarios in one start of two processes."""
    folder = tmp_path_factory.mktemp("ranks")
    with pytest.raises(pts3h.Interrupted):
        train(stopped_at(make_run(folder / "begun"), STOP))
    kinds = write_pictures(folder / "photos", 25, side=16)
    (folder / "photos" / "03.png").write_text("no picture")
    write_pairs(folder / "pairs.csv", random_pairs(kinds, 60))
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PTS3H_CACHE", str(folder / "cache"))
        running = start("-m", "tests.training.rank_scenarios", folder, cwd=folder)
        _, said = finish(running)
    assert running.returncode == 0, said
    return Told(folder)


class TestSteps:
    @pytest.mark.parametrize("case", rank_steps.CASES)
    def test_two_ranks_compute_what_one_process_does(self, told, case):
        """In double precision, so that nothing can hide behind rounding."""
        expected = rank_steps.run(case)
        found = told.tensors(f"{case}, torch.float64")
        assert found.keys() == expected.keys()
        for name, value in expected.items():
            torch.testing.assert_close(found[name].double(), value.double(), atol=1e-6, rtol=1e-6, msg=name)

    @pytest.mark.parametrize("case", rank_steps.SINGLE)
    def test_as_they_do_in_single_precision(self, told, case):
        """Loss and threshold, and the first gradient; seven BatchNorms in a row round it by 2e-5."""
        expected = rank_steps.run(case, dtype=torch.float32)
        found = told.tensors(f"{case}, torch.float32")
        for key in (f"step {step} {name}" for step in (1, 2, 3) for name in ("loss", "threshold")):
            assert found[key] == pytest.approx(expected[key], rel=1e-5, abs=1e-5), key
        for key in (key for key in expected if key.startswith("step 1 gradient")):
            error = (found[key] - expected[key]).norm() / expected[key].norm()
            assert error < (5e-5 if case.startswith("pictures") else 1e-5), key


class TestGoingOn:
    def test_all_ranks_stop_after_the_same_step_and_say_so(self, told):
        """Rank 1 alone was told; the step at hand is finished, and the next may be under way."""
        for name in ("stopped", "kept"):
            first, second = (one["stopping_and_going_on"][name] for one in told.by_rank)
            assert first == second
            assert f"stopped after step {STOP} of 30; it is saved in" in first

    def test_as_many_ranks_end_at_the_same_bits(self, told):
        expected = told.tensors("whole")
        for name, value in told.tensors("stopped").items():
            assert torch.equal(value, expected[name]), name

    def test_one_process_goes_on_where_two_ranks_were(self, told):
        run = make_run(told.folder / "kept")
        train(run, resume=True)
        self.assert_near(weights(run))

    def test_two_ranks_go_on_where_one_process_was(self, told):
        self.assert_near(told.tensors("begun"))

    def assert_near(self, found):
        run = make_run()
        train(run)
        for name, value in weights(run).items():
            torch.testing.assert_close(found[name], value, atol=1e-4, rtol=1e-3, msg=name)


class TestFit:
    def test_rank_0_writes_and_all_have_the_model(self, told):
        first, second = (one["fitting"] for one in told.by_rank)
        assert (first["told"], first["judged"]) == (4, 4) and (second["told"], second["judged"]) == (0, 0)
        assert first["same"] and second["same"] and first["trials"] == second["trials"]
        folder = told.folder / "model"
        assert sorted(path.name for path in folder.iterdir()) == sorted(
            ["README.md", "config.json", "history.jsonl", "model.safetensors"]
        )
        assert [record["mine"] for record in load_model(folder).history] == [1.0] * 4
        assert len(list((told.folder / "curves").iterdir())) == 1

    def test_features_are_computed_once(self, told):
        """Each rank takes every second of 25 pictures; one of them is broken, which rank 0 says."""
        first, second = (one["pictures"] for one in told.by_rank)
        assert (first["computed"], second["computed"]) == (13, 11)
        assert first["skipped"] == second["skipped"] == ["03.png"]
        assert first["fingerprint"] == second["fingerprint"]
        assert any("1 of 25 pictures cannot be read" in line for line in first["warned"])
        assert second["warned"] == []

    def test_nobody_goes_on_before_all_are_connected(self, told):
        assert [one["meeting"] for one in told.by_rank] == [{"all connected": True}] * 2

    def test_a_group_of_the_script_stays(self, told):
        assert [one["own_group"] for one in told.by_rank] == [{"count": 2, "steps": 4}] * 2


class TestMistakes:
    """One rank's mistake is known to all, and no rank waits for another that has left."""

    def both(self, told, name):
        return [one["mistakes"][name] for one in told.by_rank]

    def test_that_all_make(self, told):
        for kind, said in self.both(told, "all"):
            assert kind == "UserError" and said.startswith("mirror=True would do nothing here")

    @pytest.mark.parametrize(("name", "lone"), [("one", 1), ("first", 0)])
    def test_that_one_makes(self, told, name, lone):
        found = self.both(told, name)
        assert found[lone][0] == "UserError" and found[lone][1].startswith("nowhere.npy does not exist")
        assert found[1 - lone] == ["RankLost", f"rank {lone}: {found[lone][1]}"]

    @pytest.mark.parametrize("name", ["other vectors", "other settings"])
    def test_ranks_that_were_given_something_else(self, told, name):
        first, second = self.both(told, name)
        assert second[1].startswith("rank 1 was given other items, pairs or settings than rank 0")
        assert first == ["RankLost", f"rank 1: {second[1]}"]

    def test_one_device_for_all(self, told):
        for _, said in self.both(told, "device"):
            assert "is one device for all ranks: say 'cuda'" in said

    def test_what_looks_at_whole_batches(self, told):
        for _, said in self.both(told, "whole batches"):
            assert said.startswith("this system looks at whole batches, and no rank has one")

    def test_the_next_fit_works(self, told):
        assert self.both(told, "none") == [None, None]


class TestAlone:
    def test_nothing_is_asked_of_other_processes(self, monkeypatch):
        def never(*_, **__):
            raise AssertionError("there is nobody to ask")

        for name in ("init_process_group", "all_reduce", "broadcast", "new_group", "destroy_process_group"):
            monkeypatch.setattr(dist, name, never)
        monkeypatch.setattr("pts3h.nets.whole_batch.WholeBatch.__init__", never)
        monkeypatch.setattr("pts3h.training.ranks.Ranks.__init__", never)
        vectors = np.random.default_rng(0).normal(size=(30, 4)).astype(np.float32)
        Hasher(bits=8, steps=2, hidden=4).fit(vectors, labels=np.arange(30) % 3, progress=False)

    def test_so_it_is_where_torchrun_started_one(self, monkeypatch):
        monkeypatch.setenv("TORCHELASTIC_RUN_ID", "mine")
        monkeypatch.setenv("WORLD_SIZE", "1")
        with joined() as ranks:
            assert ranks is None

    def test_another_launcher_means_no_shared_work(self, monkeypatch):
        monkeypatch.delenv("TORCHELASTIC_RUN_ID", raising=False)
        monkeypatch.setenv("WORLD_SIZE", "2")
        with joined() as ranks:
            assert ranks is None


class TestShares:
    @pytest.mark.parametrize("count", [1, 2, 3, 8])
    @pytest.mark.parametrize("items", [0, 1, 7, 128])
    def test_every_item_is_in_one(self, count, items):
        ranks = [Ranks(rank, count, None) for rank in range(count)]
        shares = [one.share(items) for one in ranks]
        assert [place for share in shares for place in range(items)[share.rows]] == list(range(items))
        assert max(map(len, shares)) - min(map(len, shares)) <= 1
        assert Counter(np.concatenate([one.part(items) for one in ranks]).tolist()) == Counter(range(items))
        assert all(share == Share(share.start, share.stop, items) for share in shares)


class TestDevices:
    @pytest.fixture(autouse=True)
    def two_gpus(self, monkeypatch):
        self.taken = []
        monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
        monkeypatch.setattr(torch.cuda, "device_count", lambda: 2)
        monkeypatch.setattr(torch.cuda, "set_device", self.taken.append)

    @pytest.mark.parametrize(("name", "taken"), [("auto", [1]), ("cuda", [1]), ("cpu", [])])
    def test_each_rank_of_a_machine_has_its_own(self, monkeypatch, name, taken):
        monkeypatch.setenv("LOCAL_RANK", "1")
        Ranks(5, 8, None).take_device(name)
        assert self.taken == taken

    def test_more_processes_than_gpus(self, monkeypatch):
        monkeypatch.setenv("LOCAL_RANK", "2")
        with pytest.raises(UserError, match="this machine has 2 GPUs: start as many processes"):
            Ranks(2, 3, None).take_device("auto")
        Ranks(2, 3, None).take_device("cpu")


def test_a_run_that_is_not_shared_keeps_everything_itself():
    assert make_run().first
    assert not replace(make_run(), ranks=Ranks(1, 2, None)).first
