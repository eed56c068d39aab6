"""A model is replaced at one moment: whoever looks, at any time, finds the old one or the new one."""

import os
import shutil
import signal

import pytest

from pts3h import UserError, load_model
from pts3h.model import weights
from tests.model.models import fitted

STEPS = ("mkdir", "open", "fsync", "replace", "rename", "unlink", "rmdir", "link")
FOUR = ["README.md", "config.json", "history.jsonl", "model.safetensors"]


@pytest.fixture(scope="module")
def old():
    return fitted()


@pytest.fixture(scope="module")
def new():
    return fitted(seed=1)


def crash_at(step, save):
    """Save in another process, which dies right before the step of that number; whether it had so many."""
    child = os.fork()
    if child == 0:
        left = [step]

        def dying(call):
            def act(*arguments, **options):
                left[0] -= 1
                if not left[0]:
                    os.kill(os.getpid(), signal.SIGKILL)
                return call(*arguments, **options)

            return act

        for name in STEPS:
            setattr(os, name, dying(getattr(os, name)))
        save()
        os._exit(0)
    return os.waitpid(child, 0)[1] != 0


def names(folder):
    return sorted(path.name for path in folder.iterdir())


@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_crash_at_any_step_leaves_the_old_model_or_the_new_one(old, new, tmp_path):
    folder, step, met = tmp_path / "model", 1, set()
    while True:
        shutil.rmtree(folder, ignore_errors=True)
        old.save(folder)
        (folder / "notes.txt").write_text("mine")
        (folder / "report.html").write_text("of the old model")
        if not crash_at(step, lambda: new.save(folder, overwrite=True)):
            break
        met.add(load_model(folder).fingerprint)
        assert (folder / "notes.txt").read_text() == "mine"
        new.save(folder, overwrite=True)  # and nothing that a crash leaves is in the way, or stays
        assert load_model(folder).fingerprint == new.fingerprint and names(folder) == [*FOUR, "notes.txt"]
        step += 1
    assert load_model(folder).fingerprint == new.fingerprint and names(folder) == [*FOUR, "notes.txt"]
    assert step > 20 and met == {old.fingerprint, new.fingerprint}


@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_crash_in_a_new_folder_leaves_no_model_or_a_whole_one(new, tmp_path):
    folder, step = tmp_path / "model", 1
    while crash_at(step, lambda: new.save(folder)):
        try:
            assert load_model(folder).fingerprint == new.fingerprint
            shutil.rmtree(folder)
        except UserError as error:
            assert "is not a model folder" in str(error)
        new.save(folder)  # nothing of the user is in there: it need not be told to overwrite
        assert names(folder) == FOUR
        shutil.rmtree(folder)
        step += 1


def test_a_model_that_is_replaced_while_it_is_read(old, new, tmp_path, monkeypatch):
    old.save(tmp_path / "model")
    read, others = weights.load_file, iter([new, old, new])

    def meanwhile(path):
        if (other := next(others, None)) is not None:
            other.save(tmp_path / "model", overwrite=True)
        return read(path)

    monkeypatch.setattr(weights, "load_file", meanwhile)
    assert load_model(tmp_path / "model").fingerprint == new.fingerprint


def test_a_reader_between_the_moment_and_the_move(old, new, tmp_path):
    """The new files count as soon as their folder has its name, moved or not."""
    folder = tmp_path / "model"
    old.save(folder)
    new.save(tmp_path / "other")
    (tmp_path / "other").rename(folder / ".new")
    assert load_model(folder).fingerprint == new.fingerprint
    (folder / ".new" / "config.json").replace(folder / "config.json")
    assert load_model(folder).fingerprint == new.fingerprint
