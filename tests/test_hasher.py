"""The library as a user meets it: fit, encode, evaluate, save, load."""

import json
import os
import signal

import numpy as np
import pytest

import pts3h
from pts3h import Hasher, UserError, evaluate
from pts3h.data import inputs

FAST = {"bits": 16, "steps": 120, "hidden": 32, "labelled_per_batch": 16, "unlabelled_per_batch": 32}


@pytest.fixture(scope="module")
def blobs():
    """Five overlapping clouds in 24 dimensions: (vectors, classes)."""
    rng = np.random.default_rng(0)
    classes = rng.integers(5, size=600)
    return (rng.normal(size=(5, 24))[classes] + 0.9 * rng.normal(size=(600, 24))).astype(np.float32), classes


def few(classes, count=60):
    labels = np.full(len(classes), -1)
    labels[:count] = classes[:count]
    return labels


def quality(hasher, vectors, classes, **options):
    codes = hasher.encode(vectors, **options)
    return evaluate(codes[:100], codes[100:], labels=(classes[:100], classes[100:]), bits=hasher.bits).map


def test_labels_in_codes_out(blobs):
    vectors, classes = blobs
    hasher = Hasher(**FAST).fit(vectors, labels=few(classes))
    codes = hasher.encode(vectors)
    assert codes.dtype == np.uint8 and codes.shape == (600, 2)
    random = evaluate(
        *np.random.default_rng(0).integers(0, 256, (2, 300, 2), np.uint8),
        labels=(classes[:300], classes[300:]),
        bits=16,
    ).map
    assert quality(hasher, vectors, classes) > 2 * random


def test_unlabelled_items_help(blobs):
    """The point of it all, on real digits, 40 of them labelled: mean of three seeds."""
    from sklearn.datasets import load_digits

    digits = load_digits()
    vectors, classes = (digits.data / 16).astype(np.float32), digits.target
    scores = {0.0: [], None: []}
    for seed in range(3):
        labels = few(classes, 40)
        for omega, found in scores.items():
            hasher = Hasher(bits=32, omega=omega, seed=seed, steps=400).fit(vectors, labels=labels)
            codes = hasher.encode(vectors)
            answers = classes[40:440], classes[440:]
            found.append(evaluate(codes[40:440], codes[440:], labels=answers, bits=32).map)
    assert np.mean(scores[None]) > np.mean(scores[0.0]) + 0.04


def test_pairs_alone_are_enough(blobs):
    vectors, classes = blobs
    rng = np.random.default_rng(1)
    ends = np.array([rng.choice(200, 2, replace=False) for _ in range(300)])
    pairs = np.column_stack([ends, classes[ends[:, 0]] == classes[ends[:, 1]]])
    untrained = Hasher(**FAST | {"steps": 1, "learning_rate": 1e-9}).fit(vectors, pairs=pairs)
    trained = Hasher(**FAST | {"steps": 300}).fit(vectors, pairs=pairs)
    assert quality(trained, vectors, classes) > quality(untrained, vectors, classes) + 0.1


def test_multi_label_rows(blobs):
    vectors, classes = blobs
    flags = np.eye(5, dtype=int)[classes]
    flags[np.arange(600), (classes + 1) % 5] |= classes == 0
    labels = flags.copy()
    labels[80:] = -1
    hasher = Hasher(**FAST).fit(vectors, labels=labels)
    codes = hasher.encode(vectors)
    assert evaluate(codes[:100], codes[100:], labels=(flags[:100], flags[100:]), bits=16).map > 0.5


def test_save_and_load_give_the_same_codes(blobs, tmp_path):
    vectors, classes = blobs
    hasher = Hasher(**FAST).fit(vectors, labels=few(classes))
    hasher.save(tmp_path / "model")
    again = Hasher.load(tmp_path / "model")
    for network in ("teacher", "student"):
        codes = hasher.encode(vectors, network=network)
        np.testing.assert_array_equal(again.encode(vectors, network=network), codes)
    assert again.fingerprint == hasher.fingerprint
    assert again.history == hasher.history
    assert {path.name for path in (tmp_path / "model").iterdir()} == {
        "config.json",
        "model.safetensors",
        "history.jsonl",
        "README.md",
    }
    with pytest.raises(UserError, match="not empty"):
        hasher.save(tmp_path / "model")


def test_teacher_and_student_differ_and_both_work(blobs):
    vectors, classes = blobs
    hasher = Hasher(**FAST, alpha=0.99).fit(vectors, labels=few(classes))
    assert (hasher.encode(vectors) != hasher.encode(vectors, network="student")).any()
    assert quality(hasher, vectors, classes, network="student") > 0.4


def test_a_code_does_not_depend_on_its_neighbours(blobs):
    vectors, classes = blobs
    hasher = Hasher(**FAST).fit(vectors, labels=few(classes))
    together = hasher.encode(vectors)
    np.testing.assert_array_equal(hasher.encode(vectors[7:9]), together[7:9])


def test_vectors_of_any_mean_and_size(blobs):
    """Embeddings of tiny numbers far from zero train as well as standard ones."""
    vectors, classes = blobs
    small = vectors.astype(np.float64) * 1e-4 + 3
    hasher = Hasher(**FAST).fit(small, labels=few(classes))
    assert quality(hasher, small, classes) > 0.45


def test_validation_chooses_on_held_out_labels_and_retrains_on_all(blobs):
    vectors, classes = blobs
    grid = {"omega": [0.0, 0.6], "eta": [0.004, 50.0]}
    hasher = Hasher(**FAST).fit(vectors, labels=few(classes), validation=0.2, grid=grid)
    assert len(hasher.trials) == 4
    best = max(hasher.trials, key=lambda trial: trial.score)
    assert (hasher.used.omega, hasher.used.eta) == (best.settings["omega"], best.settings["eta"])
    assert hasher.used.eta == 0.004, "an absurd value is not chosen"
    without = {name: value for name, value in FAST.items() if best.settings["omega"] or "unl" not in name}
    plain = Hasher(**without | best.settings).fit(vectors, labels=few(classes))
    assert plain.fingerprint == hasher.fingerprint and plain.used == hasher.used


def test_validation_with_pairs(blobs):
    vectors, classes = blobs
    rng = np.random.default_rng(2)
    ends = np.array([rng.choice(200, 2, replace=False) for _ in range(200)])
    pairs = np.column_stack([ends, classes[ends[:, 0]] == classes[ends[:, 1]]])
    hasher = Hasher(**FAST).fit(vectors, pairs=pairs, validation=0.2, grid={"eta": [0.004, 50.0]})
    assert hasher.used.eta == 0.004


def press_ctrl_c(monkeypatch, call):
    """Send SIGINT when views are made for the so-manieth time."""
    original, calls = inputs.VectorInputs.two_views, iter(range(10**6))

    def two_views(self, positions, seed, share):
        if next(calls) == call:
            os.kill(os.getpid(), signal.SIGINT)
        return original(self, positions, seed, share)

    monkeypatch.setattr(inputs.VectorInputs, "two_views", two_views)


def test_out_keeps_a_stopped_run_and_resume_finishes_it(blobs, tmp_path, monkeypatch):
    vectors, classes = blobs
    whole = Hasher(**FAST).fit(vectors, labels=few(classes))
    press_ctrl_c(monkeypatch, 50)
    out = tmp_path / "model"
    with pytest.raises(UserError, match="--resume"):
        Hasher(**FAST).fit(vectors, labels=few(classes), out=out, check=False)
    with pytest.raises(UserError, match="unfinished run"):
        Hasher(**FAST).fit(vectors, labels=few(classes), out=out)
    resumed = Hasher(**FAST).fit(vectors, labels=few(classes), out=out, resume=True)
    assert resumed.fingerprint == whole.fingerprint
    assert Hasher.load(out).fingerprint == whole.fingerprint
    assert not (out / "checkpoint.safetensors").exists()
    with pytest.raises(UserError, match="finished model"):
        Hasher(**FAST).fit(vectors, labels=few(classes), out=out)


def test_a_resumed_run_keeps_the_settings_that_were_chosen(blobs, tmp_path, monkeypatch):
    vectors, classes = blobs
    arguments = {"labels": few(classes), "validation": 0.2, "grid": {"eta": [0.1, 0.004]}, "check": False}
    whole = Hasher(**FAST).fit(vectors, **arguments)
    press_ctrl_c(monkeypatch, 2 * FAST["steps"] + 60)  # after both trials
    with pytest.raises(UserError, match="--resume"):
        Hasher(**FAST).fit(vectors, **arguments, out=tmp_path)
    resumed = Hasher(**FAST).fit(vectors, **arguments, out=tmp_path, resume=True)
    assert resumed.used.eta == whole.used.eta and resumed.fingerprint == whole.fingerprint


def test_unlabelled_can_be_chosen(blobs):
    """Queries can be kept out of training altogether: what they look like must not matter."""
    vectors, classes = blobs
    rearranged = np.concatenate([vectors[:400], vectors[400:][::-1]])
    chosen = {"labels": few(classes), "unlabelled": np.arange(60, 400)}
    first, second = (Hasher(**FAST).fit(items, **chosen) for items in (vectors, rearranged))
    assert first.fingerprint == second.fingerprint
    with pytest.raises(UserError, match="there are 600 items"):
        Hasher(**FAST).fit(vectors, labels=few(classes), unlabelled=[700])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"labels": [0, 1], "pairs": [[0, 1, 1]]}, "not both"),
        ({"labels": [0, 1, 2]}, "3 labels for 600 items"),
        ({"labels": np.full(600, -1)}, "fewer than two items have a label"),
        ({"labels": np.zeros(600, int)}, "all labelled items are similar"),
        ({"pairs": np.empty((0, 3), int)}, "there are no pairs: give at least one"),
        ({"pairs": [[0, 1, 1], [1, 0, 0]]}, "pair 1 contradicts pair 0"),
        ({"pairs": [[0, 0, 1], [1, 0, 0]]}, "pair 0 pairs an item with itself"),
        ({"pairs": [[0, 1, 1], [1, 600, 0]]}, "pair 1 names an item outside 0 to 599"),
        ({"pairs": [[0, 1, 1], [1, 2, 2]]}, "pair 1 has a similarity that is neither"),
    ],
)
def test_supervision_that_cannot_be_meant(blobs, arguments, message):
    with pytest.raises(UserError, match=message):
        Hasher(**FAST).fit(blobs[0], **arguments)


def test_settings_that_do_not_exist():
    with pytest.raises(UserError, match="did you mean omega"):
        Hasher.from_settings({"omegas": 1})
    with pytest.raises(TypeError, match="omegas"):
        Hasher(omegas=1)
    with pytest.raises(UserError, match="bits must be"):
        Hasher(bits=0)
    with pytest.raises(UserError, match="not trained"):
        Hasher().encode(np.zeros((1, 2)))


def test_a_device_that_is_not_there(blobs):
    with pytest.raises(UserError, match="there is no device 'abacus'"):
        Hasher(**FAST, device="abacus").fit(blobs[0], labels=few(blobs[1]))
    with pytest.raises(UserError, match="there is no device 'xla'"):
        Hasher(**FAST, device="xla").fit(blobs[0], labels=few(blobs[1]))


def test_wrong_items_for_a_model(blobs):
    vectors, classes = blobs
    hasher = Hasher(**FAST).fit(vectors, labels=few(classes))
    with pytest.raises(UserError, match="vectors of 24 numbers, these have 3"):
        hasher.encode(np.zeros((2, 3)))
    with pytest.raises(UserError, match="these items are pictures"):
        hasher.encode(np.zeros((2, 32, 32, 3), np.uint8))


def test_the_card_says_what_it_was_trained_on(blobs, tmp_path):
    vectors, classes = blobs
    Hasher(**FAST).fit(vectors, labels=few(classes), out=tmp_path / "model")
    card = (tmp_path / "model" / "README.md").read_text()
    assert "600" in card and "16 bits" in card
    settings = json.loads((tmp_path / "model" / "config.json").read_text())["settings"]
    assert settings["bits"] == 16 and settings["omega"] > 0
    assert pts3h.__version__ in card
