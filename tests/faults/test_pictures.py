"""Hostile pictures and odd names, through fit, encode, index, search: they work, or one line names them."""

import json

import numpy as np
import pytest

from tests.faults.hostile import broken, sound, write_odd_names
from tests.pictures import random_pairs, write_pictures

MEMORY = 2 << 30  # decoding may take one, and the network some more
SMALL = ["--backbone", "small", "--image-size", "16", "--bits", "16", "--steps", "3", "--hidden", "4"]


class Command:
    """Commands in a victim, whose memory is limited."""

    def __init__(self, zygote):
        self.zygote = zygote

    def __call__(self, *arguments):
        done = self.zygote.run("command", *map(str, arguments), memory=MEMORY)
        assert done.finished, done
        code, said, printed = done.returned
        assert "Traceback" not in said
        return code, said, printed


@pytest.fixture
def command(zygote):
    return Command(zygote)


def fit(command, place, *more):
    kinds = write_pictures(place / "good", 12, side=16)
    pairs = [f"{a:02}.png,{b:02}.png,{same}" for a, b, same in random_pairs(kinds, 30)]
    (place / "pairs.csv").write_text("a,b,similar\n" + "\n".join(pairs) + "\n")
    known = ["--pairs", place / "pairs.csv", "--out", place / "model", "--no-report"]
    return command("fit", place / "good", *known, *SMALL, *more)


def test_hostile_pictures(command, place, full, tally):
    """All of them lie among good ones: these get their codes, and each broken one is named."""
    corpus = sound() | broken()
    (place / "good").mkdir()
    for name, content in corpus.items():
        (place / "good" / name).write_bytes(content)
    counted = tally("hostile pictures: fit, encode, index, search")
    code, said, _ = fit(command, place)
    assert code == 0, said
    encode = command("encode", place / "model", place / "good", "--out", place / "codes.npy")
    index = command("index", place / "model", place / "good", "--to", place / "index")
    assert (encode[0], index[0]) == (0, 0), (encode, index)
    ids = (place / "codes.ids.txt").read_text().splitlines()
    assert len(np.load(place / "codes.npy")) == len(ids)
    for name in corpus if full else sorted(corpus)[::4]:
        with counted.trying(name):
            for words in (said, encode[1], index[1]):
                lines = [
                    line
                    for line in words.splitlines()
                    if line.startswith("skipped ") and f"/{name}: " in line
                ]
                assert len(lines) == (name in broken()), lines
            assert (name in ids) == (name in sound())
            search = ["search", place / "index", place / "good" / name, "--model", place / "model"]
            code, words, printed = command(*search, "-k", "3", "--json")
            if name in sound():
                assert code == 0 and json.loads(printed)[0]["hits"][0]["distance"] == 0
            else:
                assert code == 2 and len(words.splitlines()) == 1 and name in words, words


def test_odd_names(command, place, full, tally):
    names = write_odd_names(place / "good")
    counted = tally("odd names: fit, encode, index, search")
    code, said, _ = fit(command, place)
    assert code == 0, said
    code, said, _ = command("encode", place / "model", place / "good", "--out", place / "codes.npy")
    assert code == 0, said
    lines = (place / "codes.ids.txt").read_text().split("\n")[:-1]
    assert len(lines) == len(np.load(place / "codes.npy")) == len(names) + 12
    code, said, printed = command("index", place / "model", place / "good", "--to", place / "index", "--json")
    assert code == 0 and json.loads(printed)["count"] == len(names) + 12, said
    for name in names if full else names[::4]:
        with counted.trying(repr(str(name))):
            search = ["search", place / "index", place / "good" / name, "--model", place / "model", "-k", "1"]
            code, words, printed = command(*search, "--json")
            assert code == 0, words
            assert json.loads(printed)[0]["hits"][0]["distance"] == 0
            code, words, printed = command(*search)
            assert code == 0 and "\x1b" not in printed + words and "\a" not in printed + words
