"""Trouble on the way: full disks and Ctrl-C."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np

from tests.cli.commands import PHOTOS, QUICK


def test_the_disk_fills_while_features_are_kept(here, run, kinds, small_disk, monkeypatch):
    monkeypatch.setenv("PTS3H_CACHE", str(small_disk))
    done = run("fit", "photos", "--pairs", "pairs.csv", "--bits", 8, "--out", "model", *PHOTOS)
    assert done.code == 2 and done.err.count("\n") == 1 and "the disk is full" in done.err


def test_the_disk_fills_while_the_model_is_written(here, run, kinds, small_disk):
    (small_disk / "mine.txt").write_text("mine")
    out = small_disk / "model"
    fit = ("fit", "vectors.npy", "--pairs", "positions.csv", "--bits", "8", "--out", out, "--steps", "3")
    done = run(*fit, "--hidden", "4096")
    assert done.code == 2 and done.err.count("\n") == 1 and "the disk is full" in done.err
    assert (small_disk / "mine.txt").read_text() == "mine" and not list(out.iterdir())


def test_the_disk_fills_while_codes_are_written(here, run, kinds, small_disk):
    run("fit", "vectors.npy", "--pairs", "positions.csv", "--bits", 4096, "--out", "model", *QUICK)
    np.save("many.npy", np.tile(np.load("vectors.npy"), (5, 1)))
    done = run("encode", "model", "many.npy", "--out", small_disk / "codes.npy")
    assert done.code == 2 and "codes.npy: the disk is full" in done.err and not list(small_disk.iterdir())


def test_ctrl_c_saves_says_how_to_go_on_and_goes_on(here, run, kinds):
    fit = ["fit", "vectors.npy", "--pairs", "positions.csv", "--out", "model", "--steps", "400"]
    often = "from pts3h.training import loop; loop.CHECKPOINT_SECONDS = 0.01\nimport pts3h.__main__"
    running = subprocess.Popen([sys.executable, "-c", often, *fit], stderr=subprocess.PIPE, text=True)
    while not (here / "model" / "checkpoint.safetensors").exists() and running.poll() is None:
        time.sleep(0.01)
    running.send_signal(signal.SIGINT)
    _, said = running.communicate(timeout=60)
    assert running.returncode == 130
    assert "saved in model" in said and "--resume" in said and said.count("\n") == 1

    again = run(*fit)
    assert again.code == 2 and "go on with --resume" in again.err
    assert run(*fit, "--resume").code == 0
    steps = [json.loads(line)["step"] for line in Path("model/history.jsonl").read_text().splitlines()]
    assert steps == list(range(1, 401)) and not Path("model/checkpoint.safetensors").exists()


def test_ctrl_c_before_training(here, run, kinds, monkeypatch):
    def interrupted(*_, **__):
        os.kill(os.getpid(), signal.SIGINT)
        time.sleep(5)

    monkeypatch.setattr("pts3h.nets.feature_cache.FrozenBackbone.__call__", interrupted)
    done = run("fit", "photos", "--pairs", "pairs.csv", "--bits", 8, "--out", "model", *PHOTOS)
    assert done.code == 130 and done.err == "pts3h: stopped; run the same command again to go on\n"
