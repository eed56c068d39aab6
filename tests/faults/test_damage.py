"""Every format of ours, cut to every length and with 1,000 flipped bytes in each file.

Right content or a refusal in one line: never a wrong answer, an end that is none, or memory for sizes that a
file merely names.
"""

import shutil

import pytest

from tests.faults.formats import FORMATS
from tests.faults.tally import Hung

FLIPS = 1000
AT_ONCE = 1000  # damages that one victim reads
MEMORY = 1 << 30  # on top of twice the file: what threads set aside and do not use
FILES = [(name, file) for name, kind in FORMATS.items() for file in kind.files]


@pytest.mark.parametrize(("name", "file"), FILES)
def test_of_any_kind(name, file, full, rng, zygote, place, tally):
    made = zygote.run("make_format", name, place / "whole")
    assert made.finished, made
    size = made.returned[FORMATS[name].files.index(file)]
    counted = tally(f"cut and flipped: {name}, {file.rpartition('/')[2]}")
    seed = rng.randrange(1 << 30)
    if full:
        spans = [range(n, min(n + AT_ONCE, size + FLIPS)) for n in range(0, size + FLIPS, AT_ONCE)]
    else:
        spans = [range(size, size + 15), *(range(n, n + 1) for n in rng.sample(range(size), 2))]
    for span in spans:
        shutil.rmtree(place / "damaged", ignore_errors=True)
        shutil.copytree(place / "whole", place / "damaged")
        arguments = name, place / "damaged", file, span.start, span.stop, seed
        try:
            read = zygote.run("read_format", *arguments, memory=2 * size + MEMORY, limit=600)
        except Hung as error:
            counted.add(len(span), [("hung", str(error))])
            continue
        wrong = [("wrong", f"--seed {seed}, {word}") for word in read.said if isinstance(word, str)]
        if not read.finished:
            wrong.append(("wrong", f"after {read.said[-1:]}: {read.raised or read.refused or 'killed'}"))
        counted.add(len(span), wrong)
