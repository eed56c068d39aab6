"""From pictures to answers: index, search, near-duplicates, on the command line and below it."""

import json
import sys
import warnings
from contextlib import contextmanager

import numpy as np
import pytest
from PIL import Image

from pts3h import Hasher, Model, SkippedWarning, UserError, hamming, indexing, load_model, open_index
from pts3h.cli import app as cli
from pts3h.data.items import read_items

COLOURS = {"red": (200, 60, 60), "green": (60, 200, 60), "blue": (60, 60, 200)}


@pytest.fixture(scope="module")
def photos(tmp_path_factory):
    """Thirty small pictures of three colours, ten each."""
    folder = tmp_path_factory.mktemp("photos")
    rng = np.random.default_rng(0)
    for name, colour in COLOURS.items():
        (folder / name).mkdir()
        for number in range(10):
            pixels = np.clip(np.array(colour) + rng.integers(-50, 50, (32, 32, 3)), 0, 255).astype(np.uint8)
            Image.fromarray(pixels).save(folder / name / f"{number}.png")
    return folder


@pytest.fixture(scope="module")
def model(photos, tmp_path_factory):
    folder = tmp_path_factory.mktemp("models") / "model"
    settings = {"bits": 16, "steps": 60, "image_size": 32, "labelled_per_batch": 16}
    Hasher(**settings).fit(photos, labels="folder", out=folder)
    return folder


@pytest.fixture
def album(photos, tmp_path):
    """A copy of the photos that a test may change."""
    import shutil

    shutil.copytree(photos, tmp_path / "album")
    return tmp_path / "album"


def run(capsys, monkeypatch, *arguments):
    """A command in this process: exit code, standard output, standard error."""
    monkeypatch.setattr(sys, "argv", ["pts3h", *map(str, arguments)])
    try:
        cli.main()
        code = 0
    except SystemExit as stop:
        code = stop.code or 0
    captured = capsys.readouterr()
    return code, captured.out, captured.err


def test_index_again_codes_only_what_changed(model, album, tmp_path, monkeypatch):
    encoder = load_model(model)
    coded = []
    original = Model.encode
    monkeypatch.setattr(
        Model, "encode", lambda self, items, **kw: coded.append(len(items)) or original(self, items, **kw)
    )
    with open_index(tmp_path / "an.index", bits=16, model=encoder.fingerprint) as index:
        first = indexing.index_items(encoder, read_items(album), index)
        assert (first.added, first.unchanged, index.count) == (30, 0, 30)
        again = indexing.index_items(encoder, read_items(album), index)
        assert (again.added, again.changed, again.unchanged) == (0, 0, 30)

        Image.new("RGB", (32, 32), (60, 60, 200)).save(album / "red" / "0.png")
        Image.new("RGB", (32, 32), (60, 60, 200)).save(album / "new.png")
        (album / "green" / "1.png").unlink()
        third = indexing.index_items(encoder, read_items(album), index)
        assert (third.added, third.changed, third.unchanged, third.removed) == (1, 1, 28, 0)
        assert index.count == 31
        fourth = indexing.index_items(encoder, read_items(album), index, prune=True)
        assert (fourth.unchanged, fourth.removed, index.count) == (30, 1, 30)
        assert coded == [30, 2]

        items = read_items(album)
        stored = {name: code for ids, codes in index.scan() for name, code in zip(ids, codes, strict=True)}
        np.testing.assert_array_equal([stored[name] for name in items.ids], Hasher.load(model).encode(items))


def test_a_stopped_run_goes_on_where_it_was(model, album, tmp_path, monkeypatch):
    encoder = load_model(model)
    monkeypatch.setattr(indexing, "BATCH", 8)
    original, left = indexing.add_batch, iter(range(2))

    def crash(*arguments):
        next(left)  # StopIteration on the third batch stands for a crash
        return original(*arguments)

    monkeypatch.setattr(indexing, "add_batch", crash)
    with open_index(tmp_path / "an.index", bits=16) as index, pytest.raises(StopIteration):
        indexing.index_items(encoder, read_items(album), index)
    monkeypatch.setattr(indexing, "add_batch", original)
    with open_index(tmp_path / "an.index") as index:
        done = indexing.index_items(encoder, read_items(album), index)
        assert (done.added, done.unchanged, index.count) == (14, 16, 30)


def test_a_picture_that_breaks_is_named_and_leaves_the_index(model, album, tmp_path):
    encoder = load_model(model)
    with open_index(tmp_path / "an.index", bits=16) as index:
        indexing.index_items(encoder, read_items(album), index)
        (album / "red" / "3.png").write_bytes(b"no picture")
        with pytest.warns(UserWarning, match=r"1 of 30 .*3\.png"):
            done = indexing.index_items(encoder, read_items(album), index)
        assert list(done.skipped) == ["red/3.png"]
        assert index.count == 29


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("prune", [False, True])
def test_what_a_run_reports_is_what_it_did(model, album, tmp_path, monkeypatch, seed, prune):
    """Pictures break, mend, change, come and go by chance; every figure against a plain count."""
    monkeypatch.setattr(indexing, "BATCH", 8)  # a change in one batch must not be counted in another
    rng = np.random.default_rng(seed)
    encoder = load_model(model)
    held: dict[str, bytes] = {}
    with open_index(tmp_path / "an.index", bits=16, model=encoder.fingerprint) as index, quiet():
        for _ in range(5):
            items = read_items(album)
            content = {name: (album / name).read_bytes() for name in items.ids}
            broken = {name for name, data in content.items() if data.startswith(b"no picture")}
            whole = content.keys() - broken
            done = indexing.index_items(encoder, items, index, prune=prune)

            assert {*done.skipped} == broken
            assert done.added == len(whole - held.keys())
            assert done.changed == sum(content[name] != held[name] for name in whole & held.keys())
            assert done.unchanged == sum(content[name] == held[name] for name in whole & held.keys())
            gone = held.keys() - content.keys() if prune else set()
            assert done.removed == len(held.keys() & broken) + len(gone)
            assert done.added + done.changed + done.unchanged + len(done.skipped) == len(items)

            held = {name: held[name] for name in held.keys() - broken - gone} | {n: content[n] for n in whole}
            assert {name for ids, _ in index.scan() for name in ids} == held.keys()
            disturb(album, rng)


def disturb(album, rng):
    """Break, repaint, delete and add some pictures; each write leaves a file of another size."""
    names = sorted(str(path.relative_to(album)) for path in album.rglob("*.png"))
    for name in rng.choice(names, 9, replace=False):
        path, what = album / name, rng.integers(3)
        if what == 0:
            path.write_bytes(b"no picture" + bytes(int(rng.integers(1, 10**6))))
        elif what == 1:
            Image.fromarray(rng.integers(0, 256, (int(rng.integers(8, 40)), 32, 3), np.uint8)).save(path)
        else:
            path.unlink()
    Image.fromarray(rng.integers(0, 256, (32, 32, 3), np.uint8)).save(album / f"new{rng.integers(10**9)}.png")


@contextmanager
def quiet():
    """Pictures that are skipped are what the test is about."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SkippedWarning)
        yield


@pytest.mark.filterwarnings("default::pts3h.SkippedWarning")
def test_the_command_reports_pictures_that_broke(model, album, tmp_path, capsys, monkeypatch):
    """Two that were in broke, one that never was in is broken, one changed: no figure falls below zero."""
    command = ("index", model, album, "--to", tmp_path / "an.index")
    _, _, err = run(capsys, monkeypatch, *command)
    assert "30 added, 0 changed, 0 unchanged, 0 removed" in err
    for name in ("red/3.png", "blue/4.png", "new.png"):
        (album / name).write_bytes(b"no picture")
    Image.new("RGB", (32, 32), (60, 60, 200)).save(album / "red" / "0.png")
    code, out, _ = run(capsys, monkeypatch, *command, "--json")
    told = json.loads(out)
    assert code == 0 and {*told.pop("skipped")} == {"red/3.png", "blue/4.png", "new.png"}
    index = told.pop("index")
    assert told == {"count": 28, "added": 0, "changed": 1, "unchanged": 27, "removed": 2}
    assert index == str(tmp_path / "an.index")
    _, _, err = run(capsys, monkeypatch, *command)
    assert "0 added, 0 changed, 28 unchanged, 0 removed" in err and err.count("skipped red/3.png") <= 1


def test_commands(model, album, tmp_path, capsys, monkeypatch):
    """index, search and dedup as a user types them, against brute force."""
    address = tmp_path / "album.index"
    metadata = tmp_path / "meta.csv"
    metadata.write_text(
        "id,price,colour\n" + "".join(f"{c}/{n}.png,{n},{c}\n" for c in COLOURS for n in range(10))
    )
    code, out, _ = run(
        capsys, monkeypatch, "index", model, album, "--to", address, "--meta", metadata, "--json"
    )
    assert code == 0 and json.loads(out)["count"] == 30

    query = album / "red" / "0.png"
    code, out, _ = run(capsys, monkeypatch, "search", address, query, "-k", 5, "--json")
    assert code == 0
    hits = json.loads(out)[0]["hits"]
    items, hasher = read_items(album), Hasher.load(model)
    codes = hasher.encode(items)
    distances = hamming(hasher.encode([query])[0], codes)
    expected = sorted((int(d), name) for d, name in zip(distances, items.ids, strict=True))[:5]
    assert [(hit["distance"], hit["id"]) for hit in hits] == expected
    assert hits[0]["meta"] == {"price": int(hits[0]["id"][-5]), "colour": hits[0]["id"].split("/")[0]}

    where = json.dumps({"colour": "blue", "price": {"<": 3}})
    _, out, _ = run(capsys, monkeypatch, "search", address, query, "--where", where, "--json")
    assert {hit["id"] for hit in json.loads(out)[0]["hits"]} == {f"blue/{n}.png" for n in range(3)}

    _, out, _ = run(capsys, monkeypatch, "search", address, query, "--radius", 2, "--json")
    assert {hit["id"] for hit in json.loads(out)[0]["hits"]} == {
        name for name, distance in zip(items.ids, distances, strict=True) if distance <= 2
    }

    _, out, _ = run(capsys, monkeypatch, "search", address, query, album / "blue" / "0.png")
    assert "red/0.png" in out and "distance" in out

    page = tmp_path / "hits.html"
    code, _, _ = run(capsys, monkeypatch, "search", address, album / "red", "-k", 3, "--html", page)
    assert code == 0 and page.read_text().count("<figure>") == 10 * 4

    _, out, _ = run(capsys, monkeypatch, "dedup", address, "--radius", 1, "--json")
    groups = json.loads(out)
    close = hamming(codes, codes) <= 1
    np.fill_diagonal(close, False)
    assert {name for group in groups for name in group} == {
        items.ids[i] for i in np.flatnonzero(close.any(axis=1))
    }


def test_vectors_too(tmp_path, capsys, monkeypatch):
    rng = np.random.default_rng(0)
    classes = np.arange(90) % 3
    vectors = (4 * np.eye(3)[classes] + rng.normal(size=(90, 3))).astype(np.float32)
    np.save(tmp_path / "vectors.npy", vectors)
    np.save(tmp_path / "queries.npy", vectors[:2])
    Hasher(bits=12, steps=40, hidden=16).fit(vectors, labels=classes, out=tmp_path / "model")
    address = tmp_path / "an.index"
    assert (
        run(capsys, monkeypatch, "index", tmp_path / "model", tmp_path / "vectors.npy", "--to", address)[0]
        == 0
    )
    _, out, _ = run(capsys, monkeypatch, "search", address, tmp_path / "queries.npy", "-k", 1, "--json")
    assert [answer["hits"][0]["distance"] for answer in json.loads(out)] == [0, 0]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["search", "nowhere.index", "query.png"], "do not exist"),
        (["dedup", "nowhere.index"], "there is no index nowhere.index"),
        (["index", "nowhere", "photos", "--to", "x.index"], "nowhere is not a model folder"),
        (["search", "nowhere.index", "query.png", "--where", "{"], "--where must be JSON"),
        (["search", "nowhere.index", "query.png", "--where", "3"], "--where must be a JSON object"),
    ],
)
def test_mistakes_are_one_line(arguments, message, capsys, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    code, out, err = run(capsys, monkeypatch, *arguments)
    assert code == 2 and message in err and err.count("\n") == 1 and not out
    assert not list(tmp_path.iterdir())


def test_another_model_is_refused(model, album, tmp_path, capsys, monkeypatch):
    address = tmp_path / "an.index"
    run(capsys, monkeypatch, "index", model, album, "--to", address)
    other = tmp_path / "other"
    Hasher(bits=16, steps=2, image_size=32, seed=5).fit(album, labels="folder", out=other)
    for command in (
        ["index", other, album, "--to", address],
        ["search", address, album / "red" / "0.png", "--model", other],
    ):
        code, _, err = run(capsys, monkeypatch, *command)
        assert code == 2 and "another model" in err and err.count("\n") == 1


def test_a_model_that_is_not_known_here_must_be_named(model, album, tmp_path, capsys, monkeypatch):
    address = tmp_path / "an.index"
    run(capsys, monkeypatch, "index", model, album, "--to", address)
    monkeypatch.setenv("PTS3H_CACHE", str(tmp_path / "elsewhere"))
    query = album / "red" / "0.png"
    code, _, err = run(capsys, monkeypatch, "search", address, query)
    assert code == 2 and "--model" in err
    assert run(capsys, monkeypatch, "search", address, query, "--model", model)[0] == 0


def test_what_an_index_says_of_its_model_is_no_path(tmp_path, monkeypatch):
    monkeypatch.setenv("PTS3H_CACHE", str(tmp_path / "cache"))
    folder = tmp_path / "cache" / "models"
    folder.mkdir(parents=True)
    (tmp_path / "trap.txt").write_text(str(tmp_path))
    absolute = str(tmp_path / "trap")
    for fingerprint in ("../../trap", absolute, "", ".", "a/../../../trap", "trap", "A" * 300, "0" * 300):
        with pytest.raises(UserError, match="the model that made x is not known here"):
            indexing.recall_model(fingerprint, "x")
    (folder / f"{'0a' * 32}.txt").write_text(str(tmp_path))
    assert indexing.recall_model("0a" * 32, "x") == tmp_path
    with pytest.raises(UserError, match=r"that made own://\.\.\.@host/x is not known"):
        indexing.recall_model(None, "own://root:secret@host/x")


def test_metadata_from_csv(tmp_path):
    path = tmp_path / "meta.csv"
    path.write_text("id,price,new,name\na.png,2.5,true,Ball\nb.png,3,,\n")
    assert indexing.read_meta(path) == {
        "a.png": {"price": 2.5, "new": True, "name": "Ball"},
        "b.png": {"price": 3},
    }
    path.write_text("name\nx\n")
    with pytest.raises(UserError, match="'id' column"):
        indexing.read_meta(path)


def test_doctor(capsys, monkeypatch):
    code, out, _ = run(capsys, monkeypatch, "doctor")
    assert code == 0 and "search:" in out
    assert json.loads(run(capsys, monkeypatch, "doctor", "--json")[1])["search"]["active"] in (
        "kernel",
        "faiss",
        "numpy",
    )


@pytest.mark.parametrize("name", ["_path", "_stamp"])
def test_our_own_names_are_taken(model, album, tmp_path, capsys, monkeypatch, name):
    (tmp_path / "meta.csv").write_text(f"id,{name}\nred/0.png,/etc/secret.png\n")
    command = ("index", model, album, "--to", tmp_path / "an.index", "--meta", tmp_path / "meta.csv")
    code, _, err = run(capsys, monkeypatch, *command)
    assert code == 2 and err.count("\n") == 1 and f"'red/0.png' has '{name}', a name that is kept" in err
