"""``torchrun -m pts3h fit``: several processes speak, stop and go on as one."""

import json
import os
import re
import signal
import sys
import time
from datetime import timedelta
from pathlib import Path

import pytest
import torch.distributed as dist

from pts3h.cli import app, as_one
from pts3h.cli.output import fail, say
from pts3h.model.folder import load_model
from tests.cli.commands import PHOTOS
from tests.torchrun import finish, rank_processes, spoken, start

pytestmark = pytest.mark.timeout(1600)  # several processes on a machine that may be busy

LONG_FIT = ("fit", "vectors.npy", "--pairs", "positions.csv", "--no-check", "--no-report", "--out", "model")


def exit_codes(text):
    """By which each rank ended, as torchrun tells."""
    return [int(code) for code in re.findall(r"exitcode +: (-?\d+)", text)]


def test_a_mistake_is_one_line_and_exit_code_2_on_all(here, kinds):
    running = start("-m", "pts3h", "fit", "vectors.npy", "--pairs", "nowhere.csv", "--out", "model", cwd=here)
    printed, said = finish(running)
    assert printed == "" and spoken(said) == ["pts3h: there is no pairs file nowhere.csv"]
    assert exit_codes(said) == [2, 2] and not (here / "model").exists()


def begin(here, steps, *more, options=()):
    """A long run of two ranks, once it has kept something."""
    running = start("-m", "tests.cli.often", *LONG_FIT, "--steps", steps, *more, cwd=here, options=options)
    while not (here / "model" / "checkpoint.safetensors").exists() and running.poll() is None:
        time.sleep(0.02)
    return running


def go_on(here, steps):
    """It ends with every step done once."""
    running = start("-m", "pts3h", *LONG_FIT, "--steps", steps, "--resume", cwd=here)
    _, said = finish(running)
    assert running.returncode == 0, said
    assert_whole(here, steps)


def assert_whole(here, steps):
    assert [record["step"] for record in load_model(here / "model").history] == list(range(1, steps + 1))
    assert not (here / "model" / "checkpoint.safetensors").exists()


@pytest.mark.slow
@pytest.mark.parametrize("how", ["ctrl-c", "SIGINT", "SIGTERM", "SIGTERM of a rank"])
def test_stopping_saves_and_it_goes_on(here, kinds, how):
    """Ctrl-C reaches every process, and torchrun hands it on once more."""
    running = begin(here, 400)
    if how == "ctrl-c":
        os.killpg(running.pid, signal.SIGINT)
    elif how.endswith("rank"):
        os.kill(rank_processes(running)[1], signal.SIGTERM)
    else:
        running.send_signal(getattr(signal, how))
    _, said = finish(running)
    (line,) = spoken(said)
    assert re.match(r"pts3h: stopped after step \d+ of 400; it is saved in model: run the same command", line)
    assert running.returncode != 0
    go_on(here, 400)


@pytest.mark.slow
@pytest.mark.parametrize("killed", [0, 1])
def test_a_killed_rank_ends_the_job_with_a_line_and_it_goes_on(here, kinds, killed):
    running = begin(here, 400)
    os.kill(rank_processes(running)[killed], signal.SIGKILL)
    _, said = finish(running)
    (line,) = spoken(said)
    assert line.startswith("pts3h: another process of this training was killed") and "--resume" in line
    assert sorted(exit_codes(said)) == [-9, 2]
    go_on(here, 400)


@pytest.mark.slow
def test_torchrun_starts_it_again_by_itself(here, kinds):
    running = begin(here, 300, "--resume", options=["--max-restarts=1"])
    os.kill(rank_processes(running)[1], signal.SIGKILL)
    _, said = finish(running)
    assert running.returncode == 0, said
    assert_whole(here, 300)


@pytest.mark.slow
def test_pictures_and_json(here, kinds):
    words = ("fit", "photos", "--pairs", "pairs.csv", "--bits", 8, "--out", "model", "--json", *PHOTOS)
    printed, said = finish(running := start("-m", "pts3h", *words, cwd=here))
    assert running.returncode == 0, said
    result = json.loads(printed)  # printed once
    assert result["fingerprint"] == load_model(here / "model").fingerprint
    assert Path(here, result["report"]).is_file()


def test_other_commands_are_no_shared_work(here, monkeypatch, capsys):
    monkeypatch.setenv("TORCHELASTIC_RUN_ID", "1")
    monkeypatch.setenv("WORLD_SIZE", "2")
    monkeypatch.setattr(sys, "argv", ["pts3h", "doctor"])
    with pytest.raises(SystemExit) as ended:
        app.run()
    assert ended.value.code == 2
    assert capsys.readouterr().err == (
        "pts3h: torchrun is for fit, whose work it shares: run pts3h doctor by itself\n"
    )


class TestAsOne:
    """Rank 0 speaks, and the others wait until it has."""

    @pytest.fixture(autouse=True)
    def rank(self, monkeypatch):
        self.store = dist.HashStore()
        monkeypatch.setattr(as_one, "shared_store", lambda: self.store)
        monkeypatch.setattr(as_one, "PATIENCE", timedelta(seconds=0.2))
        before = signal.getsignal(signal.SIGTERM)
        yield lambda number: monkeypatch.setenv("RANK", str(number))
        signal.signal(signal.SIGTERM, before)

    def ended(self, run):
        with pytest.raises(SystemExit) as ended:
            as_one.run_as_one(run)
        return ended.value.code

    @staticmethod
    def wrong():
        say("a remark")
        fail("what is wrong")

    @staticmethod
    def right():
        print("the result")
        sys.exit(0)

    def test_rank_0_speaks(self, rank, capsys):
        rank(0)
        assert self.ended(self.wrong) == 2
        assert capsys.readouterr() == ("", "a remark\npts3h: what is wrong\n")
        assert self.store.check([as_one.SPOKEN])

    def test_the_others_do_not(self, rank, capsys):
        rank(1)
        self.store.set(as_one.SPOKEN, "")
        assert self.ended(self.wrong) == 2
        assert self.ended(self.right) == 0
        assert capsys.readouterr() == ("", "")

    def test_unless_rank_0_is_gone(self, rank, capsys):
        """Then one of them does."""
        for number in (1, 2):
            rank(number)
            assert self.ended(self.wrong) == 2
        assert capsys.readouterr() == ("", "a remark\npts3h: what is wrong\n")

    def test_a_bug_is_shown_wherever_it_is(self, rank):
        def bug():
            raise KeyError("mine")

        for number in (0, 1):
            rank(number)
            with pytest.raises(KeyError, match="mine"):
                as_one.run_as_one(bug)

    def test_sigterm_is_ctrl_c_until_the_end_is_near(self, rank):
        def stopped():
            with pytest.raises(KeyboardInterrupt):
                os.kill(os.getpid(), signal.SIGTERM)
            sys.exit(130)

        rank(0)
        assert self.ended(stopped) == 130
        os.kill(os.getpid(), signal.SIGTERM)  # torchrun's, to those that are still there
