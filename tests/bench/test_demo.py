import json

from PIL import Image

from pts3h import Hasher
from pts3h.bench import demo
from pts3h.data.splits import Split
from pts3h.errors import UserError


def test_the_demo_falls_back_and_leaves_table_gallery_and_model(tmp_path, monkeypatch, capsys):
    """Where CIFAR-10 and Fashion-MNIST cannot be had, it says so and uses the digits."""
    original = demo.load_dataset

    def offline(name):
        if name != "digits":
            raise UserError(f"cannot get {name}")
        return original(name)

    monkeypatch.setattr(demo, "load_dataset", offline)
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
    assert demo.is_earlier_demo(out), "a second run may replace it"
