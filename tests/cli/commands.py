"""What the tests of commands share: the program, quick settings, pairs as CSV."""

import json
import sys
from pathlib import Path

PROGRAM = Path(sys.executable).with_name("pts3h")
QUICK = ["--steps", "5", "--hidden", "8"]
PHOTOS = [*QUICK, "--views", "1", "--image-size", "32"]
FIT_PHOTOS = ("fit", "photos", "--out", "model", *PHOTOS)
FIT_VECTORS = ("fit", "vectors.npy", "--pairs", "positions.csv", "--out", "model", *QUICK)


class Done:
    """What a command printed, and its exit code."""

    def __init__(self, code, out, err):
        self.code, self.out, self.err = code, out, err

    @property
    def json(self):
        return json.loads(self.out)


def write_pairs(path, pairs, header="a,b,similar"):
    """A CSV of pairs of pictures."""
    rows = [f"{a:02}.png,{b:02}.png,{similar}" for a, b, similar in pairs]
    path.write_text("\n".join([header, *rows]) + "\n")


def tree(folder):
    """Every file and folder below ``folder``, with its content."""
    paths = sorted(folder.rglob("*"))
    return {str(path.relative_to(folder)): path.read_bytes() if path.is_file() else None for path in paths}
