"""The output folder is claimed before the work, and nothing in it is lost."""

import pytest

from pts3h import UserError
from pts3h.training.output_folder import claim_folder, is_unfinished


def claim(folder, *, resume=False, overwrite=False):
    return claim_folder(folder, resume=resume, overwrite=overwrite)


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "out").mkdir()
    return tmp_path / "out"


def test_a_new_or_empty_folder(tmp_path, folder):
    assert claim(folder) == folder
    assert claim(tmp_path / "deep" / "er").is_dir()
    assert claim(tmp_path / "none", resume=True).is_dir()


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("model.safetensors", "already holds a finished model"),
        ("checkpoint.safetensors", "unfinished run: go on with --resume"),
        ("letter.txt", "exists and is not empty"),
    ],
)
def test_what_is_there_is_named_and_stays(folder, name, says):
    (folder / name).write_text("mine")
    with pytest.raises(UserError, match=says):
        claim(folder)
    assert (folder / name).read_text() == "mine"


def test_resume(folder):
    (folder / "letter.txt").touch()
    with pytest.raises(UserError, match="holds no run to resume"):
        claim(folder, resume=True)
    (folder / "checkpoint.safetensors").touch()
    assert is_unfinished(folder) and claim(folder, resume=True) == folder and is_unfinished(folder)


def test_overwriting_drops_the_stopped_run_alone(folder):
    for name in ("checkpoint.safetensors", "model.safetensors", "letter.txt"):
        (folder / name).touch()
    claim(folder, overwrite=True)
    assert {path.name for path in folder.iterdir()} == {"model.safetensors", "letter.txt"}


def test_a_file(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(UserError, match="is a file"):
        claim(tmp_path / "file", overwrite=True)
