"""Everything that writes, and what must hold whatever became of it."""

import hashlib
import random
import shutil
from contextlib import suppress
from pathlib import Path

import numpy as np

from pts3h import UserError, load_model
from pts3h.bench.cells import read_results
from pts3h.index import open_index
from tests.faults.answer_log import AnswerLog
from tests.faults.exports import EXPORTS
from tests.faults.tally import Lost
from tests.faults.tasks import code_of
from tests.faults.writer import Writer, need
from tests.model.exported import copied
from tests.pictures import write_pictures

MODEL = {"README.md", "config.json", "history.jsonl", "model.safetensors"}


class ModelReplacement(Writer):
    """The old model has an ONNX file, which must not be taken for the new one's."""

    name = "model folder replaced"

    def prepare(self):
        copied("vectors", self.source / "before")
        self.order("make_model", 1, self.source / "new")
        self.old, self.new = (load_model(self.source / name).fingerprint for name in ("before", "new"))

    def begin(self):
        super().begin()
        (self.target / "notes.txt").write_text("mine")

    def work(self):
        return "replace_model", self.source / "new", self.target

    def check(self, outcome):
        need((self.target / "notes.txt").read_text() == "mine", "a file of the user")
        try:
            found = load_model(self.target).fingerprint
        except UserError as error:
            raise Lost(str(error)) from error
        assert found in ((self.new,) if outcome.finished else (self.old, self.new))

    def check_end(self):
        assert load_model(self.target).fingerprint == self.new
        assert self.names() == MODEL | {"notes.txt"}


class Training(Writer):
    name = "training with checkpoints"
    tries = 40

    def prepare(self):
        self.order("make_model", 0, self.source / "before")
        for name in ("vectors.npy", "pairs.csv"):
            shutil.copy(self.source / name, self.place / name)
        shutil.copytree(self.source / "before", self.target)
        self.order("train", self.target, "--overwrite")
        self.old, self.new = load_model(self.source / "before"), load_model(self.target)
        assert self.new.fingerprint != self.old.fingerprint

    def work(self):
        return "train", self.target, "--overwrite"

    def check(self, outcome):
        try:
            found = load_model(self.target)
        except UserError as error:
            raise Lost(str(error)) from error
        done = outcome.finished and outcome.returned[0] == 0
        expected = self.new if done or found.fingerprint == self.new.fingerprint else self.old
        assert found.fingerprint == expected.fingerprint and found.history == expected.history

    def again(self):
        resume = (self.target / "checkpoint.safetensors").exists()
        code, said, _ = self.order("train", self.target, "--resume" if resume else "--overwrite").returned
        assert code == 0, said

    def check_end(self):
        found = load_model(self.target)
        assert found.fingerprint == self.new.fingerprint and found.history == self.new.history
        assert self.names() == MODEL | {"report.html"}


class Codes(Writer):
    name = "codes and ids by pts3h encode"

    def prepare(self):
        self.order("make_model", 0, self.source / "model")
        vectors = np.load(self.source / "vectors.npy")
        (self.source / "before").mkdir()
        for name, some in (("some", vectors[:10]), ("vectors", vectors)):
            np.save(self.source / f"{name}.npy", some)
        self.encode("some", self.source / "before")
        self.encode("vectors", self.source)
        self.old, self.new = self.read(self.source / "before"), self.read(self.source)

    def encode(self, items, folder):
        code, said, _ = self.order(*self.given(items, folder)).returned
        assert code == 0, said

    def given(self, items, folder):
        more = ["--out", str(folder / "codes.npy"), "--overwrite"]
        return "command", "encode", self.source / "model", self.source / f"{items}.npy", *more

    def read(self, folder):
        ids = folder / "codes.ids.txt"
        return np.load(folder / "codes.npy").tolist(), ids.read_text() if ids.exists() else None

    def work(self):
        return self.given("vectors", self.target)

    def check(self, outcome):
        need((self.target / "codes.npy").exists(), "codes")
        codes, ids = self.read(self.target)
        done = outcome.finished and outcome.returned[0] == 0
        known = (self.new,) if done else (self.old, self.new)
        assert any(codes == one[0] and ids in (one[1], *([] if done else [None])) for one in known)

    def again(self):
        self.encode("vectors", self.target)

    def check_end(self):
        assert self.read(self.target) == self.new and self.names() == {
            "codes.npy",
            "codes.ids.txt",
            "codes.about.json",
        }


class FeatureCache(Writer):
    name = "feature cache"
    tries = 60

    def prepare(self):
        self.order("compute_features", self.source / "before", 4)
        self.order("compute_features", self.source / "other", 12, self.source / "expected.npy")
        self.expected = np.load(self.source / "expected.npy")

    def work(self):
        return "compute_features", self.target, 12, self.place / "got.npy"

    def check(self, outcome):
        """What was there before the fault still is: it is found without a network."""
        self.order("compute_features", self.target, 4, self.place / "got.npy")
        self.compare(4)
        if outcome.finished:
            self.order("compute_features", self.target, 12, self.place / "got.npy")

    def check_end(self):
        self.compare(12)
        assert {Path(name).suffix for name in self.names()} == {".rows", ".keys"}

    def compare(self, count):
        """A picture that is computed among others than before may differ in the last digit."""
        np.testing.assert_allclose(np.load(self.place / "got.npy"), self.expected[:count], atol=2e-3)


class KnownFiles(Writer):
    name = "digests of known pictures"

    def prepare(self):
        (self.source / "before").mkdir()
        write_pictures(self.source / "photos", 6, side=8)
        paths = sorted((self.source / "photos").iterdir())
        self.expected = [hashlib.sha256(path.read_bytes()).hexdigest() for path in paths]

    def work(self):
        return "know_files", self.target, self.source / "photos"

    def check(self, outcome):
        assert outcome.killed or outcome.refused or outcome.returned == self.expected, outcome

    def check_end(self):
        for _ in range(2):
            assert self.order(*self.work()).returned == self.expected
        assert {Path(name).suffix for name in self.names()} == {".rows", ".keys"}


class Dataset(Writer):
    name = "data set in the cache"

    def prepare(self):
        (self.source / "before").mkdir()

    def work(self):
        return "keep_dataset", self.target

    def check(self, outcome):
        """The next look at it, which is :meth:`again`, compares it with what it must be."""

    def check_end(self):
        assert self.names() == {"datasets/some-pixels.npy", "datasets/some-labels.npy"}


class ResultCells(Writer):
    name = "result cells of a benchmark"
    tries = 40

    def prepare(self):
        (self.source / "before").mkdir()
        self.order("run_cell", self.source / "other")
        self.expected = self.read(self.source / "other")

    def read(self, folder):
        results = read_results(folder) if folder.exists() else []
        return [{**result, "seconds": None} for result in results]

    def work(self):
        return "run_cell", self.target

    def check(self, outcome):
        assert self.read(self.target) in ([self.expected] if outcome.finished else [[], self.expected])

    def check_end(self):
        assert self.read(self.target) == self.expected and len(self.names()) == 2


class IndexChanges(Writer):
    name = "index add, remove and close"
    rng = random.Random(0)

    def prepare(self):
        self.steps = [*map(self.step, range(1, 41)), ("add", 41, [1, 2, 3])]
        self.order("change_index", self.source / "before", self.steps[:10])
        self.before = self.state_after(10)

    def step(self, version):
        step = self.rng.choices(("add", "remove", "close"), (60, 25, 15))[0]
        return step, version, self.rng.sample(range(300), self.rng.choice([1, 1, 2, 5, 40]))

    def state_after(self, count):
        """Version by key, after so many steps."""
        state = {}
        for step, version, keys in self.steps[:count]:
            if step == "add":
                state |= dict.fromkeys(keys, version)
            elif step == "remove":
                state = {key: held for key, held in state.items() if key not in keys}
        return state

    def begin(self):
        super().begin()
        self.reached = 10

    def work(self):
        return "change_index", self.target, self.steps[self.reached :]

    def check(self, outcome):
        """Everything that returned is there, and the step under way is there wholly or not at all."""
        self.reached += len(outcome.said)
        found = self.found()
        if found != self.state_after(self.reached):
            if found == self.state_after(self.reached + 1):
                self.reached += 1
            else:
                raise Lost(f"after step {self.reached}: {len(found)} items")

    def again(self):
        """Go on, and write at least once: leftovers go when their file is written again."""
        self.order("change_index", self.target, [*self.steps[self.reached :], self.steps[-1]])

    def found(self):
        with open_index(self.target, 64) as index:
            items = {item.id: item for item in index.get(range(300)) if item is not None}
            state = {key: item.meta["version"] for key, item in items.items()}
            assert index.count == len(state)
            for key, item in items.items():
                np.testing.assert_array_equal(item.code, code_of(key, state[key]))
            if state:
                key = min(state)
                (hits,) = index.search(items[key].code, k=1000)
                assert sorted(hits.ids) == sorted(state) and hits.ids[0] == key
                (hits,) = index.search(items[key].code, k=1000, where={"version": state[key]})
                assert sorted(hits.ids) == sorted(one for one in state if state[one] == state[key])
            return state

    def check_end(self):
        assert self.found() == self.state_after(len(self.steps))
        assert self.names() - {"search.cache"} == {"index.sqlite", "index.sum"}


class Download(Writer):
    name = "download"

    content = np.random.default_rng(0).bytes(300_000)

    def prepare(self):
        (self.source / "before").mkdir()
        self.sha256 = hashlib.sha256(self.content).hexdigest()

    def serve(self, address):
        self.address = address
        return self

    def work(self):
        return "fetch", f"{self.address}/data.bin", self.sha256, self.target

    def check(self, outcome):
        file = self.target / "data.bin"
        need(file.exists() or not outcome.finished, "what was downloaded")
        with suppress(FileNotFoundError):
            assert file.read_bytes() == self.content

    def check_end(self):
        assert (self.target / "data.bin").read_bytes() == self.content and self.names() == {"data.bin"}


WRITERS = [
    ModelReplacement,
    Training,
    Codes,
    FeatureCache,
    KnownFiles,
    Dataset,
    ResultCells,
    IndexChanges,
    AnswerLog,
    Download,
    *EXPORTS,
]
