"""What victims do, each in a process of its own that may be killed or find the disk full.

The last argument, ``say``, tells the tests what has happened so far; what a task returns, they hear as well.
"""

import contextlib
import io
import os
import sys
import tempfile
import threading
from itertools import count
from pathlib import Path
from unittest.mock import patch

import numpy as np
import torch

from pts3h import Hasher
from pts3h.bench import cells
from pts3h.bench.plan import Cell, Setup
from pts3h.cache import known_files
from pts3h.cli import app, encode, export, fit, index  # noqa: F401  (they are imported when they are asked for)
from pts3h.codes import Layout
from pts3h.data.datasets.in_memory import kept
from pts3h.data.decoding import picture_key
from pts3h.data.images import ImageArray
from pts3h.index import open_index
from pts3h.index.local import index as local_engine
from pts3h.index.local import log, snapshot
from pts3h.nets import feature_cache
from pts3h.nets.backbones.small import SmallConv
from pts3h.teaching.answers import Answers
from pts3h.training import loop
from pts3h.util.download import download
from tests.exchange.collections import SUFFIXES, make_index
from tests.faults.formats import FORMATS, read_damaged
from tests.faults.numbers import run_case
from tests.model.models import PAIRS, VECTORS
from tests.nets.frozen import OPTIONS, trained_looking
from tests.pictures import pictures

torch.set_num_threads(1)


def command(*arguments, say):
    """Run ``pts3h``: exit code, and what it wrote to standard error and output."""
    words, printed = io.StringIO(), io.StringIO()
    with (
        patch.object(sys, "argv", ["pts3h", *arguments]),
        contextlib.redirect_stderr(words),
        contextlib.redirect_stdout(printed),
    ):
        try:
            app.main()
        except SystemExit as end:
            return [end.code, words.getvalue(), printed.getvalue()]


def train(out, *more, say):
    """Learn from vectors by the command line; a checkpoint after every step."""
    loop.CHECKPOINT_SECONDS = -1.0
    folder = Path(out).parent
    given = [str(folder / "vectors.npy"), "--pairs", str(folder / "pairs.csv"), "--out", out]
    return command("fit", *given, "--bits", "8", "--steps", "6", "--hidden", "4", *more, say=say)


def make_model(seed, out, *, say):
    """A small model, and what it learned from beside it."""
    hasher = Hasher(bits=8, steps=3, hidden=4, seed=seed).fit(VECTORS, pairs=PAIRS)
    hasher.save(out)
    np.save(Path(out).parent / "vectors.npy", VECTORS)
    np.savetxt(Path(out).parent / "pairs.csv", PAIRS, "%d", ",")


def replace_model(source, target, *, say):
    """Put a model in the place of another."""
    Hasher.load(source).save(target, overwrite=True)


def compute_features(cache, count, out=None, *, say):
    """Features of pictures by the cache, a few at a time."""
    os.environ["PTS3H_CACHE"] = cache
    feature_cache.BATCH = 2
    torch.manual_seed(0)
    frozen = feature_cache.FrozenBackbone(trained_looking(SmallConv()), name="small")
    array = frozen.cached(ImageArray(pictures(count)[0]), **OPTIONS, progress=False).array
    if out is not None:
        np.save(out, array)


def know_files(cache, folder, *, say):
    """Keys of files, remembered."""
    os.environ["PTS3H_CACHE"] = cache
    known_files.MOMENT = -1
    paths = sorted(Path(folder).iterdir())
    return [key.hex() for key in known_files.file_keys(paths, picture_key)]


def keep_dataset(cache, *, say):
    """A data set that is kept as two arrays."""
    os.environ["PTS3H_CACHE"] = cache
    pixels, labels = pictures(8)
    got = kept("some", None, lambda _: (pixels, labels))
    assert (got[0] == pixels).all() and (got[1] == labels).all()


def run_cell(folder, *, say):
    """One cell of a benchmark."""
    setup = Setup("digits", images=300)
    cells.run_cell(setup, Cell("lsh", 8, 30, 0), Path(folder), keep_codes=True)


def fetch(address, sha256, folder, *, say):
    """A download."""
    download(address, sha256=sha256, folder=Path(folder))


def code_of(key, version):
    """The code of an item, another one whenever it is written."""
    return np.random.default_rng([key, version]).integers(0, 256, 8, np.uint8)


def change_index(folder, steps, *, say):
    """Add, remove, close and open; the number of each step is said once it has returned.

    Low thresholds make the index merge records, rewrite the log and save its search structure all the time.
    """
    local_engine.RECENT, snapshot.RECENT, local_engine.GARBAGE, log.RECORD = 8, 8, 200, 64
    opened = open_index(folder, 64)
    for number, (step, version, keys) in enumerate(steps):
        if step == "add":
            codes = np.stack([code_of(key, version) for key in keys])
            opened.add(keys, codes, [{"version": version}] * len(keys))
        elif step == "remove":
            opened.remove(keys)
        else:
            opened.close()
            opened = open_index(folder, 64)
            opened.count  # noqa: B018  (makes a snapshot, which closing saves)
        say(number)
    opened.close()


def give_answers(path, first, beyond, *, say):
    """Go on with a session of answers; the number of each is said once it has returned."""
    with Answers(path) as answers:
        for number in range(first, beyond):
            if number % 7 == 0:
                answers.undo(number - 3)
            elif number % 5 == 0:
                answers.place(f"item {number}", None, new=True)
            else:
                answers.pair(f"item {number}", f"other {number}", number % 2 == 0)
            say(number)


def answer_without_end(path, session, *, say):
    """Three people answer at once, and take every fourth answer back, until they are killed."""
    answers = Answers(path)

    def person(who):
        for number in count():
            given = answers.pair(f"{session} {who}", str(number), number % 3 == 0, who=who)
            say([given.number, number, who, False])
            if number % 4 == 0:
                answers.undo(given.number)
                say([given.number, number, who, True])

    people = [threading.Thread(target=person, args=(who,)) for who in ("Ann", "Bob", "Cem")]
    for one in people:
        one.start()
    for one in people:
        one.join()


def make_format(name, folder, *, say):
    """A small instance of a format; the sizes of its files."""
    kind = FORMATS[name]()
    kind.make(Path(folder))
    return [(Path(folder) / file).stat().st_size for file in kind.files]


def read_format(name, folder, file, first, beyond, seed, *, say):
    """Read it with many damages."""
    read_damaged(FORMATS[name](), Path(folder), file, range(first, beyond), seed, say)


def use_numbers(case, *, say):
    """One case of numbers at the edge."""
    run_case(case)


def warm_up():
    """Do everything once: what is imported on the way, victims need not import again."""
    with tempfile.TemporaryDirectory() as name, patch.dict(os.environ):
        folder = Path(name)
        make_model(0, str(folder / "model"), say=print)
        train(str(folder / "trained"), say=print)
        command(
            "encode", str(folder / "model"), str(folder / "vectors.npy"), "--out", name + "/c.npy", say=print
        )
        replace_model(str(folder / "model"), str(folder / "trained"), say=print)
        compute_features(name + "/cache", 2, say=print)
        run_cell(folder / "cells", say=print)
        make_index(folder / "a.index", Layout(8))
        for suffix in SUFFIXES.values():
            command("export", name + "/a.index", "--to", name + f"/a{suffix}", say=print)
