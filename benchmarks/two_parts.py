"""What look bits are worth: retrieval by class, near-copies found, distinct codes, for splits and weights.

python benchmarks/two_parts.py cifar10 --images 12000 --labels 500 --splits 48+16 48+32 48+48
python benchmarks/two_parts.py photos/ --pairs 120 --splits 64+0 64+32 64+64

A folder has one folder per class. Its pairs are drawn by chance, half of them alike, and every picture is a
query among all others. A data set is split by its protocol. A near-copy is cropped to nine tenths of each
side at a place drawn by chance, halved if it is large, and saved as JPEG of quality 60. It is found if its
original is among the first ten.
"""

import argparse
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from pts3h import Diverged, Hasher, evaluate, kernel
from pts3h.bench.sources import known_labels, load_data, split_of
from pts3h.codes import By, Codes, Layout
from pts3h.data.datasets.table import DATASETS
from pts3h.data.images import ImageArray, ImageFiles, Positions
from pts3h.data.items import Items, encode_classes, read_items
from pts3h.evaluation import Report
from pts3h.model.model import Model

WEIGHTS = (1, 2, 3, 4, 6, 8)
FIRST = 10
CROP, QUALITY, LARGE = 0.9, 60, 100


@dataclass(frozen=True)
class Case:
    """A collection, what is known of it, and who looks for whom.

    Attributes:
        items: the pictures.
        classes: the class of each.
        known: what ``fit`` is told.
        queries: positions.
        database: positions; all, if they are the queries too, which then do not find themselves.
    """

    items: Items
    classes: NDArray[np.int64]
    known: dict[str, Any]
    queries: Positions
    database: Positions

    def report(self, codes: Codes, layout: Layout, by: By) -> Report:
        """Retrieval by class."""
        sides = self.queries, self.database
        report = evaluate(
            *(codes[side] for side in sides),
            labels=(self.classes[sides[0]], self.classes[sides[1]]),
            bits=layout.meaning,
            look_bits=layout.look,
            weight=layout.weight,
            by=by,
        )
        return report if self.queries is not self.database else report.without_self()


def data_set(name: str, images: int, labels: int, seed: int) -> Case:
    data = load_data(name, None, None, images)
    split = split_of(data, labels, seed)
    known = {"labels": known_labels(data, split), "unlabelled": split.database}
    return Case(data.items, data.labels, known, split.queries, split.database)


def folder(path: Path, pairs: int, seed: int) -> Case:
    items = read_items(path)
    classes, _ = encode_classes([str(Path(name).parent) for name in items.ids])
    everyone = np.arange(len(items))
    return Case(items, classes, {"pairs": draw_pairs(classes, pairs, seed)}, everyone, everyone)


def draw_pairs(classes: NDArray[np.int64], count: int, seed: int) -> NDArray[np.int64]:
    """(count, 3) different pairs by chance, every other one alike."""
    rng, drawn = np.random.default_rng(seed), dict[tuple[int, int], int]()
    while len(drawn) < count:
        a, b = sorted(rng.choice(len(classes), 2, replace=False).tolist())
        if (alike := int(classes[a] == classes[b])) == len(drawn) % 2:
            drawn[a, b] = alike
    return np.array([(a, b, alike) for (a, b), alike in drawn.items()])


def write_copies(items: Items, positions: Positions, to: Path, seed: int) -> None:
    """A near-copy of each of the pictures, named by its place in ``positions``."""
    for place, picture in enumerate(pictures_at(items, positions)):
        rng = np.random.default_rng((seed, place))
        size = np.array(picture.size)
        crop = np.maximum((CROP * size).astype(int), 1)
        left, top = rng.integers(0, size - crop + 1)
        copy = picture.crop((left, top, left + crop[0], top + crop[1]))
        if min(copy.size) >= LARGE:
            copy = copy.resize((copy.width // 2, copy.height // 2), Image.Resampling.LANCZOS)
        copy.save(to / f"{place:06}.jpg", quality=QUALITY)


def pictures_at(items: Items, positions: Positions) -> Iterator[Image.Image]:
    content = items.content
    for position in positions:
        if isinstance(content, ImageFiles):
            yield Image.open(content.paths[position]).convert("RGB")
        elif isinstance(content, ImageArray):
            yield Image.fromarray(content.pixels[position])


def share_found(layout: Layout, copies: Codes, codes: Codes, originals: Positions, by: By) -> float:
    """How many of the copies have their original among the first hits; ties by id, as in a search."""
    found = kernel.nearest(layout, copies, kernel.columns_of(codes), FIRST, by=by)
    hits = [original in rows for original, (rows, _) in zip(originals, found.split(), strict=True)]
    return float(np.mean(hits))


def distinct(codes: Codes) -> float:
    return len(np.unique(codes, axis=0)) / len(codes)


def measure(case: Case, model: Model, copies: Path, originals: Positions) -> None:
    """A line for each part, and for both at each weight."""
    encoded = model.encode(case.items, progress=False)
    codes, of_copies = encoded.codes, model.encode(copies, progress=False).codes
    plain = encoded.layout
    ways: list[tuple[By, int]] = [("meaning", 1)]
    if plain.look:
        ways += [("look", 1), *(("both", weight) for weight in WEIGHTS)]
    shares = {"meaning": distinct(codes & plain.mask), "look": distinct(codes & ~plain.mask)}
    for by, weight in ways:
        layout = Layout(plain.meaning, plain.look, weight)
        report = case.report(codes, layout, by)
        found = share_found(layout, of_copies, codes, originals, by)
        name = f"both, weight {weight}" if by == "both" else by
        print(
            f"{plain!s:>14}  {name:<15}{report.map:>8.4f}{report.precision_at(FIRST)[0]:>8.4f}"
            f"{found:>9.1%}{shares.get(by, distinct(codes)):>10.1%}",
            flush=True,
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("source", help=f"a folder of class folders, or {', '.join(DATASETS.names())}")
    parser.add_argument("--splits", nargs="+", default=["64+0", "64+32", "64+64"])
    parser.add_argument("--images", type=int, default=12_000, help="of a data set")
    parser.add_argument("--labels", type=int, default=500, help="known in a data set")
    parser.add_argument("--pairs", type=int, default=120, help="known in a folder")
    parser.add_argument("--similar-share", type=float, help="as the setting; drawn pairs say it is a half")
    parser.add_argument("--copies", type=int, default=1_000)
    parser.add_argument("--seed", type=int, default=0)
    asked = parser.parse_args()
    named = asked.source in DATASETS
    case = (
        data_set(asked.source, asked.images, asked.labels, asked.seed)
        if named
        else folder(Path(asked.source), asked.pairs, asked.seed)
    )
    rng = np.random.default_rng(asked.seed)
    originals = np.sort(rng.permutation(len(case.items))[: asked.copies])
    print(f"{len(case.items):,} pictures, {len(originals):,} near-copies, seed {asked.seed}")
    print(f"{'split':>14}  {'by':<15}{'MAP':>8}{'p@10':>8}{'found':>9}{'distinct':>10}")
    with tempfile.TemporaryDirectory() as copies:
        write_copies(case.items, originals, Path(copies), asked.seed)
        for split in asked.splits:
            bits, look = map(int, split.split("+"))
            try:
                hasher = Hasher(bits=bits, look_bits=look, seed=asked.seed, similar_share=asked.similar_share)
                hasher.fit(case.items, **case.known, progress=False)
            except Diverged as error:
                print(f"{split:>14}  {error}")
                continue
            measure(case, hasher.model, Path(copies), originals)


if __name__ == "__main__":
    main()
