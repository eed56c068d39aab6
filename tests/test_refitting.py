"""A hasher keeps what was asked for: what one fit found out does not bind the next."""

import ast
import inspect
import re
import subprocess
import sys
import textwrap
from dataclasses import MISSING, fields

import numpy as np
import pytest
from tools.setting_docs import documented_settings, hasher_signature

from pts3h import Hasher, UserError, hasher
from pts3h.losses.table import Loss
from pts3h.settings.asked import Settings
from pts3h.training import stages
from tests.pictures import pictures

FAST = {"bits": 8, "hidden": 8, "labelled_per_batch": 8, "unlabelled_per_batch": 8}


def vectors(count, width=6):
    """Vectors of three kinds, half of them labelled."""
    rng, kinds = np.random.default_rng(count), np.arange(count) % 3
    content = rng.normal(size=(count, width)).astype(np.float32) + 3 * np.eye(3, width)[kinds]
    return content.astype(np.float32), np.where(np.arange(count) < count // 2, kinds, -1)


class TestRefit:
    def test_a_collection_of_another_size_has_its_own_steps(self):
        again = Hasher(**FAST, epochs=2.0)
        for count, steps in ((32, 4), (96, 12), (32, 4)):
            items, labels = vectors(count)
            again.fit(items, labels=labels)
            alone = Hasher(**FAST, epochs=2.0).fit(items, labels=labels)
            assert len(again.history) == again.used.steps == steps
            assert again.fingerprint == alone.fingerprint and again.used == alone.used

    def test_of_its_own_accord_too(self):
        """Few items take fewer steps by default; alpha and rho follow."""
        again, used = Hasher(bits=8, hidden=8), []
        for count in (90, 450):
            items, labels = vectors(count)
            used.append(again.fit(items, labels=labels).used)
        assert [one.steps for one in used] == [300, 100 * 450 // 128]
        assert used[0].alpha < used[1].alpha and used[0].similar_share != used[1].similar_share

    def test_vectors_first_and_pictures_afterwards(self):
        again = Hasher(bits=8, steps=3, labelled_per_batch=8, unlabelled_per_batch=8)
        images, kinds = pictures(36, side=16)
        items, labels = vectors(36)
        assert not again.fit(items, labels=labels).used.takes_pictures
        assert again.fit(images, labels=kinds).used.backbone == "efficientnet-lite0"
        assert again.encode(images).shape == (36, 1)
        assert not again.fit(items, labels=labels).used.takes_pictures

    def test_settings_stay_as_they_were_asked_for(self):
        again = Hasher(**FAST, steps=3)
        before, (items, labels) = again.settings, vectors(36)
        again.fit(items, labels=labels, grid={"omega": [0.1], "eta": [0.2]}, validation=0.2)
        assert again.settings == before and again.settings.omega is None
        assert (again.used.omega, again.used.eta) == (0.1, 0.2)
        assert again.fit(items, labels=labels).used.omega == 0.6 and again.trials == []

    def test_a_fit_that_fails_leaves_the_model(self):
        items, labels = vectors(36)
        again = Hasher(**FAST, steps=3).fit(items, labels=labels)
        fingerprint = again.fingerprint
        with pytest.raises(UserError, match="omega"):
            again.fit(items, labels=labels, validation=0.2, grid={"omega": []})
        assert again.fingerprint == fingerprint


class TestLoaded:
    @pytest.mark.parametrize(
        "settings", [{"epochs": 2.0}, {"steps": 5, "loss": "dpsh", "omega": 0.1}, {"seed": 3, "epochs": 1.0}]
    )
    def test_a_refit_behaves_like_that_of_the_original(self, tmp_path, settings):
        items, labels = vectors(32)
        original = Hasher(**FAST, **settings).fit(items, labels=labels, out=tmp_path / "model")
        loaded = Hasher.load(tmp_path / "model")
        assert loaded.settings == original.settings and loaded.used == original.used
        items, labels = vectors(96)
        for one in (loaded, original):
            one.fit(items, labels=labels)
        assert loaded.fingerprint == original.fingerprint and loaded.used == original.used

    def test_what_a_grid_chose_is_used_but_was_not_asked_for(self, tmp_path):
        items, labels = vectors(36)
        grid = {"eta": [0.3]}
        Hasher(**FAST, steps=3).fit(items, labels=labels, validation=0.2, grid=grid, out=tmp_path / "m")
        loaded = Hasher.load(tmp_path / "m")
        assert loaded.used.eta == 0.3 and loaded.settings.eta is None


class TestMIHash:
    """It compares histograms, so it needs many labelled items per batch."""

    @pytest.mark.parametrize(("omega", "batch"), [(None, (96, 96)), (0.0, (128, 0))])
    def test_its_own_batches(self, monkeypatch, omega, batch):
        seen, original = set(), stages.Trainer.objective

        def look(problem, used):
            objective = original(problem, used)
            call = type(objective).__call__

            def called(self, step):
                seen.add((step.labelled, len(step.outputs) - step.labelled))
                return call(self, step)

            monkeypatch.setattr(type(objective), "__call__", called)
            return objective

        monkeypatch.setattr(stages, "Trainer", lambda **how: TRAINER(look, **how))
        items, labels = vectors(400)
        Hasher(bits=8, hidden=8, loss="mihash", steps=3, omega=omega).fit(items, labels=labels)
        assert seen == {batch}

    def test_unless_asked_otherwise(self):
        items, labels = vectors(400)
        fitted = Hasher(bits=8, hidden=8, loss="mihash", steps=3, labelled_per_batch=32)
        assert fitted.fit(items, labels=labels).used.labelled_per_batch == 32


TRAINER = stages.Trainer


class TestSignature:
    """It is written out, so that editors show every setting; a tool keeps it in step with Settings."""

    def test_it_is_what_the_tool_writes(self):
        source = inspect.getsource(hasher)
        assert hasher_signature(source) == source

    def test_names_types_and_defaults(self):
        parameters = inspect.signature(Hasher).parameters
        assert list(parameters) == [field.name for field in fields(Settings)]
        for field in fields(Settings):
            parameter = parameters[field.name]
            assert parameter.default == field.default and field.default is not MISSING
            assert parameter.annotation == field.type, field.name

    def test_text(self):
        """Read from the source of Settings in another way than the tool does."""
        source = inspect.getsource(Settings)
        (node,) = ast.parse(textwrap.dedent(source)).body
        docstring = " ".join(inspect.getdoc(Hasher.__init__).split())
        texts = [ast.literal_eval(one.value) for one in node.body[1:] if isinstance(one, ast.Expr)]
        assert len(texts) == len(fields(Settings)) == len(documented_settings())
        for field, text in zip(fields(Settings), texts, strict=True):
            words = re.sub(r":class:`~(?:\w+\.)*(\w+)`", r"\1", " ".join(text.split()))
            wrapped = docstring.replace("- ", "-")  # a hyphen may end a line
            assert f"{field.name}: {words}".replace("- ", "-") in wrapped

    def test_every_keyword_reaches_the_settings(self):
        for field in fields(Settings):
            other = {"bits": 12, "loss": "dpsh", "seed": 5, "backbone": "small", "device": "cpu"}.get(
                field.name
            )
            other = {"pseudo": "code", "optimizer": "sgd", "weights": "random", "precision": "bfloat16"}.get(
                field.name, other
            )
            if other is None:
                other = True if "bool" in str(field.type) else 8 if "int" in str(field.type) else 0.5
            asked = Hasher(**{field.name: other}).settings
            assert getattr(asked, field.name) == other
            assert asked == Settings(**{field.name: other})
            assert Hasher.from_settings({field.name: other}).settings == asked


def test_a_loss_of_ones_own_is_needed_only_to_fit_again(tmp_path):
    """Loaded where the loss is unknown, a model still encodes; a further fit asks for the loss."""
    own = Loss(name="own-for-refit", label="Own", source="here", make="pts3h.losses.dpsh:DPSH")
    rng = np.random.default_rng(0)
    vectors, labels = rng.normal(size=(60, 6)).astype(np.float32), np.arange(60) % 3
    first = Hasher(loss=own, bits=8, steps=3, hidden=4).fit(vectors, labels=labels)
    first.save(tmp_path / "model")
    program = f"""
import numpy as np, pts3h
hasher = pts3h.Hasher.load({str(tmp_path / "model")!r})
vectors = np.load({str(tmp_path / "vectors.npy")!r})
np.save({str(tmp_path / "codes.npy")!r}, hasher.encode(vectors))
try:
    hasher.fit(vectors, labels=np.arange(60) % 3)
except pts3h.UserError as error:
    print(error)
"""
    np.save(tmp_path / "vectors.npy", vectors)
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert "a loss of your own, own-for-refit: give it to Hasher.load(folder, loss=...)" in done.stdout
    np.testing.assert_array_equal(np.load(tmp_path / "codes.npy"), first.encode(vectors))
    again = Hasher.load(tmp_path / "model", loss=own).fit(vectors, labels=labels)
    np.testing.assert_array_equal(again.encode(vectors), first.encode(vectors))
