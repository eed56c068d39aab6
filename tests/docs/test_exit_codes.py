"""Every exit code of docs/exit-codes.md happens as the page says."""

import re
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

from tests.docs.blocks import PROJECT

PAGE = (PROJECT / "docs" / "exit-codes.md").read_text()
MAIN = "import sys; from pts3h.cli.app import main; main()"


def run(code, *arguments):
    return subprocess.run([sys.executable, "-c", code, *arguments], capture_output=True, text=True)


def test_the_page_names_these_and_no_other():
    assert re.findall(r"^\| (\d+) \|", PAGE, re.MULTILINE) == ["0", "2", "130", "1"]


def test_0_it_worked():
    done = run(MAIN, "doctor")
    assert done.returncode == 0 and "search: " in done.stdout and done.stderr == ""


@pytest.mark.parametrize(
    "arguments",
    [["fit", "photos", "--colour", "red"], ["search", "no-such.index", "query.jpg"], ["learn"]],
    ids=["flag", "file", "command"],
)
def test_2_something_to_mend(arguments):
    done = run(MAIN, *arguments)
    assert done.returncode == 2 and done.stdout == ""
    assert done.stderr.startswith("pts3h: ") and done.stderr.count("\n") == 1


def test_130_stopped(tmp_path):
    rng = np.random.default_rng(0)
    np.save(tmp_path / "vectors.npy", rng.normal(size=(60, 8)).astype(np.float32))
    np.save(tmp_path / "labels.npy", np.arange(60) % 3)
    fit = ["fit", "vectors.npy", "--labels", "labels.npy", "--out", "model", "--steps", "1000000"]
    events = tmp_path / "events"  # written from the first step on
    command = [sys.executable, "-c", MAIN, *fit, "--tensorboard", str(events)]
    running = subprocess.Popen(command, cwd=tmp_path, stderr=subprocess.PIPE, text=True)
    while running.poll() is None and not list(events.rglob("*tfevents*")):
        time.sleep(0.05)
    running.send_signal(signal.SIGINT)
    _, said = running.communicate(timeout=60)
    assert running.returncode == 130
    assert said.startswith("pts3h: ") and said.count("\n") == 1


def test_1_a_bug():
    broken = f"import pts3h.doctor; pts3h.doctor.diagnose = lambda: 1 / 0; {MAIN}"
    done = run(broken, "doctor")
    assert done.returncode == 1 and "ZeroDivisionError" in done.stderr and "Traceback" in done.stderr
