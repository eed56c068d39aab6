import json
import re

import pytest
from PIL import Image

from pts3h import Hasher
from pts3h.bench import demo
from pts3h.data.splits import Split
from pts3h.errors import UserError
from pts3h.util import progress


def test_the_demo_falls_back_and_leaves_table_gallery_and_model(tmp_path, monkeypatch, capsys):
    """Where CIFAR-10 and Fashion-MNIST cannot be had, it says so and uses the digits."""
    original = demo.load_data

    def offline(name, *more):
        if name != "digits":
            raise UserError(f"cannot get {name}")
        return original(name, *more)

    monkeypatch.setattr(demo, "load_data", offline)
    monkeypatch.setattr(progress, "SECONDS_BETWEEN_LINES", 0)  # every step says how far it is
    out = tmp_path / "out"
    demo.run_demo(out, images=300, label_counts=(30,), seeds=1, bits=16, dataset=None)

    shown = capsys.readouterr()
    assert "cannot get cifar10" in shown.err and "cannot get fashion-mnist" in shown.err
    results = json.loads((out / "results.json").read_text())
    assert [result["method"] for result in results] == ["DSH", "PTS3H-P", "PTS3H-Q", "PTS3H"]
    for result in results:
        assert 0.1 < result["map"] <= 1 and f"{result['map']:.3f}" in shown.out
    with Image.open(out / "gallery.png") as picture:
        assert picture.width > 500
    page = (out / "gallery.html").read_text()
    assert "data:image/png;base64," in page and f"{results[-1]['map']:.3f}" in page

    split = Split.load(out / "model" / "split.json")
    assert len(split.labelled) == 30 and not set(split.queries) & set(split.database)
    assert Hasher.load(out / "model").bits == 16

    stages = [line for line in shown.err.splitlines() if " of " in line]
    for line in stages:
        assert re.fullmatch(r".+: [\d,]+ of [\d,]+ \w+(, (about .+ left|done in .+))?", line), line
    ended = {line.split(":")[0] for line in stages if ", done in " in line}
    assert ended == {"features", "runs"}
    assert any(line.startswith("runs: 3 of 4 runs, about ") for line in stages)
    assert re.fullmatch(r"done in (\d+ min )?\d+ s", shown.err.splitlines()[-1])

    demo.run_demo(out, images=300, label_counts=(40,), seeds=1, bits=16, dataset="digits")
    assert {entry["labels"] for entry in json.loads((out / "results.json").read_text())} == {40}
    assert len(Split.load(out / "model" / "split.json").labelled) == 40
    assert {path.name for path in out.iterdir()} == demo.OUTPUTS


def test_a_folder_that_is_no_demo_is_left_alone(tmp_path):
    (tmp_path / "letter.txt").write_text("mine")
    with pytest.raises(UserError, match="exists and is not empty"):
        demo.run_demo(tmp_path, images=300, label_counts=(30,), seeds=1, bits=16, dataset="digits")
    assert [path.name for path in tmp_path.iterdir()] == ["letter.txt"]
