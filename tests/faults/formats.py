"""Every format of ours: how a small instance is made, which file of it is damaged, and what is read from it.

What is read from a damaged file must equal what was read before, or be refused in one line. Where a format is
there to be made again, a part may be missing, and what is missing can be written anew.
"""

import json
import os
import random
import shutil
from pathlib import Path
from unittest.mock import patch

import numpy as np

from pts3h import UserError, load_model
from pts3h.bench.cells import read_results
from pts3h.bench.report import read_note
from pts3h.cache import known_files
from pts3h.cache.rows import Kind, find
from pts3h.data.decoding import picture_key
from pts3h.data.items import load_array
from pts3h.data.splits import Split
from pts3h.index import open_index
from pts3h.index.local import index as local_engine
from pts3h.model.onnx_export import export_onnx
from pts3h.teaching.answers import Answers
from pts3h.training.checkpoint import read_checkpoint
from pts3h.training.loop import train
from tests.bench.cells import result, write
from tests.cache.rows import PARTS, WIDTH, keys, rows
from tests.faults.exported import EXPORTED
from tests.model.models import VECTORS, fitted
from tests.pictures import write_pictures
from tests.training.runs import make_run

GOLDEN = Path(__file__).parents[1] / "index" / "local" / "golden"


class Format:
    """A format.

    Attributes:
        name: for the table.
        files: that are damaged, one at a time.
        silent: files without a checksum: what they hold may be other numbers after a flip.
    """

    name = ""
    files = ()
    silent = ()

    def make(self, folder):
        raise NotImplementedError

    def read(self, folder):
        """Plain values."""
        raise NotImplementedError


class ModelFolder(Format):
    name = "model folder"
    files = ("config.json", "model.safetensors", "history.jsonl")

    def make(self, folder):
        fitted(bits=4, hidden=2, steps=2, look_bits=4).save(folder)

    def read(self, folder):
        model = load_model(folder)
        used = json.dumps([model.used.to_json(), model.asked, model.summary, model.history, model.width])
        return model.fingerprint, used, model.encode(VECTORS).codes.tolist()


class OnnxFile(ModelFolder):
    """Damage at its end makes it nobody's: then the weights serve. All other damage is refused."""

    name = "model as ONNX"
    files = ("model.onnx",)

    def make(self, folder):
        super().make(folder)
        export_onnx(load_model(folder), folder / "model.onnx")


class CheckpointFile(Format):
    name = "checkpoint"
    files = ("checkpoint.safetensors",)

    def make(self, folder):
        from pts3h.training import loop

        folder.mkdir()
        loop.CHECKPOINT_SECONDS = -1.0
        train(make_run(folder, steps=2, bits=2, hidden=2))

    def read(self, folder):
        metadata, tensors = read_checkpoint(folder)
        return metadata, {name: (str(value.dtype), value.tolist()) for name, value in tensors.items()}


class Benchmark(Format):
    name = "benchmark"
    files = ("dsh-12bits-100labels-seed0.json", "bench.json")

    def make(self, folder):
        from pts3h.util.files import write_json
        from pts3h.util.sealed import sealed

        write(folder, [result("dsh", 0.25)])
        cell = folder / self.files[0]
        write_json(cell, sealed(json.loads(cell.read_text())))

    def read(self, folder):
        """A key of its own that a flip makes of the checksum's is nobody's: it is not asked for."""
        names = [name for name in result("dsh", 0.25) if name != "cell"]
        note = read_note(folder)
        figures = [(one["cell"], [one[name] for name in names]) for one in read_results(folder)]
        return figures, note["setup"], note["commands"]


class SplitFile(Format):
    name = "split"
    files = ("split.json",)

    def make(self, folder):
        Split(np.arange(3), np.arange(3, 12), np.arange(3, 6), 7).save(folder / "split.json")

    def read(self, folder):
        split = Split.load(folder / "split.json")
        return [part.tolist() for part in (split.queries, split.database, split.labelled)], split.seed


class FeatureRows(Format):
    name = "feature cache"
    files = ("kind/000001.rows", "kind/000001.keys")
    count = 5

    def kind(self, folder):
        return Kind(folder / "kind", PARTS, WIDTH)

    def make(self, folder):
        with self.kind(folder).filling(self.count) as appender:
            appender.append(keys(self.count), rows(self.count))

    def read(self, folder):
        """What is found is right, and what is not found can be added again."""
        kind, wanted = self.kind(folder), keys(self.count)
        for _ in range(2):
            found = find(kind.segments(), wanted)
            array = found.array(PARTS, WIDTH)
            for known, got, expected in zip(found.known, array, rows(self.count), strict=True):
                assert not known or (got == expected).all()
            missing = np.flatnonzero(~found.known)
            with kind.filling(len(missing)) as appender:
                appender.append([wanted[n] for n in missing], rows(self.count)[missing])
        return found.known.tolist()


class KnownPictures(Format):
    name = "digests of known pictures"
    files = ("cache/features/known-pictures/000001.rows", "cache/features/known-pictures/000001.keys")

    def make(self, folder):
        write_pictures(folder / "photos", 4, side=4)
        self.read(folder)

    def read(self, folder):
        os.environ["PTS3H_CACHE"] = str(folder / "cache")
        known_files.MOMENT = -1
        paths = sorted((folder / "photos").iterdir())
        return [key.hex() for key in known_files.file_keys(paths, picture_key)]


class LocalIndex(Format):
    name = "index, format 3"
    files = ("index.sqlite", "search.cache", "index.sum")
    wheres = (
        {"n": 5},
        {"n": {"<": 4}},
        {"text": {">": "x" * 100}},
        {"text": "x" * 440},
        {"not": {"n": 7}},
    )

    def make(self, folder):
        """The golden folder as this version leaves it when it closes it, with its search structure."""
        shutil.copytree(GOLDEN / f"format-{self.name[-1]}", folder)
        (folder / "search.cache").unlink()
        with patch.object(local_engine, "RECENT", 0), open_index(folder) as index:
            assert index.count == 11
        assert all((folder / file).exists() for file in self.files)

    def read(self, folder):
        codes = np.load(folder / "codes.npy")
        with open_index(folder) as index:
            ids = [f"i{n}" for n in range(12)] if self.name[-1] == "1" else list(range(12))
            told = self.look(index, codes, ids)
            index.add(ids[:1], codes[:1], [index.get(ids[:1])[0].meta])
            index.remove([ids[11]])
            told.append(sorted(index.search(codes[0], 20)[0].ids))
        return told

    def look(self, index, codes, ids):
        everything = index.layout.largest
        told = [index.count, str(index.layout), index.model, list(index.search(codes[0], 20)[0])]
        told += [[index.within(codes[0], everything, where)[0].ids for where in self.wheres]]
        told += [[item and (item.id, item.code.tolist(), item.meta) for item in index.get(ids)]]
        return told


class IndexFormat2(LocalIndex):
    name = "index, format 2"


class IndexFormat1(LocalIndex):
    name = "index, format 1"
    wheres = ({"n": 5}, {"n": {"<": 4}}, {"not": {"n": 7}})


class AnswerFile(Format):
    name = "answers"
    files = ("answers.db",)

    def make(self, folder):
        folder.mkdir()
        with Answers(folder / "answers.db") as answers:
            answers.place("photos/été.jpg", None, new=True)
            for number in range(12):
                answers.pair("photos/1.jpg", f"photos/{number + 2}.jpg", number % 2 == 0, who="Ann")
            answers.undo(5)

    def read(self, folder):
        with Answers(folder / "answers.db") as answers:
            told = [one.to_json() for one in answers.list()], answers.known(transitive=True)
            answers.pair("photos/1.jpg", "photos/99.jpg", True)
            return told, answers.counts().alike


class Arrays(Format):
    name = "codes of pts3h encode"
    files = ("codes.npy",)
    silent = files

    def make(self, folder):
        from pts3h.util.files import write_array

        write_array(folder / "codes.npy", np.arange(60, dtype=np.uint8).reshape(20, 3))

    def read(self, folder):
        return load_array(folder / "codes.npy").tolist()


FORMATS = {
    kind.name: kind
    for kind in (
        ModelFolder,
        OnnxFile,
        CheckpointFile,
        Benchmark,
        SplitFile,
        FeatureRows,
        KnownPictures,
        LocalIndex,
        IndexFormat2,
        IndexFormat1,
        AnswerFile,
        Arrays,
        *EXPORTED,
    )
}


def damaged(content, number, seed):
    """The n-th damage: first cut to every length, then flips of one byte."""
    if number < len(content):
        return content[:number]
    rng = random.Random(f"{seed} {number}")
    flipped = bytearray(content)
    flipped[rng.randrange(len(content))] ^= rng.randrange(1, 256)
    return bytes(flipped)


def read_damaged(kind, folder, file, numbers, seed, say):
    """Read a format with each of these damages, and say which of them it took for the truth."""
    whole = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    expected = kind.read(folder)
    for number in numbers:
        say(number)
        for path in folder.rglob("*"):
            if path.is_file() and path not in whole:
                path.unlink()
        for path, content in whole.items():
            path.write_bytes(damaged(content, number, seed) if path == folder / file else content)
        try:
            got = kind.read(folder)
        except UserError as error:
            if len(str(error).splitlines()) != 1:
                say(f"{number}: a message of several lines: {error}")
            continue
        except Exception as error:
            say(f"{number}: {type(error).__name__}: {error}")
            continue
        is_flip = number >= len(whole[folder / file])
        if got != expected and not (is_flip and file in kind.silent):
            say(f"{number}: taken for the truth")
