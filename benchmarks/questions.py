"""What a person's answers are worth: MAP by the number and kind of questions, which a class oracle answers.

python benchmarks/questions.py cifar10 --images 6000
python benchmarks/questions.py photos/ --bits 64        (a folder with a folder per class)

A model without a known pair chooses the questions, by its real outputs; it is not trained again on the way.
One answer in ten is kept back, as the page does: it counts as a question and teaches nothing. Beside them are
random pairs, half of them alike, none kept back. No query takes part in anything. Answers are learned as
the page learns them: many as labels in few steps. All else is learned by the defaults, which suit it better.
"""

import argparse
import tempfile
import time
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import torch

from first_pairs import load, scattered_pairs
from pts3h import Hasher, evaluate
from pts3h.bench.summary import deviation
from pts3h.data.datasets.dataset import Dataset
from pts3h.data.items import Items
from pts3h.teaching.answers import Answers
from pts3h.teaching.lesson import lesson
from pts3h.teaching.questions import Questions
from pts3h.util.files import write_json
from pts3h.web.steps import lesson_settings

PAIRS = 150
PLACED = (40, 80, 150, 280)
Known = dict[str, Any]  # what a hasher is given


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("data", help="a data set by name, or a folder with a folder of pictures per class")
    parser.add_argument("--images", type=int, help="how many of them; all by default")
    parser.add_argument("--bits", type=int, default=48)
    parser.add_argument("--placed", type=int, nargs="+", default=PLACED, help="placing questions")
    parser.add_argument("--pairs", type=int, default=PAIRS, help="random pairs, and pair questions")
    parser.add_argument("--seeds", type=int, nargs="+", default=range(5))
    parser.add_argument("--out", type=Path, help="also write the figures as JSON")
    asked = parser.parse_args()
    torch.set_num_threads(1)
    warnings.simplefilter("ignore")
    data, found = load(asked.data, asked.images), dict[str, list[float]]()
    for seed in asked.seeds:
        oracle = Oracle(data, asked.bits, seed)
        for name, known in oracle.ways(asked.pairs, sorted(asked.placed)):
            found.setdefault(name, []).append(oracle.map(oracle.fit(known) if known else oracle.untaught))
            print(f"  seed {seed}, {name}: {found[name][-1]:.4f}", flush=True)
        print(f"  seed {seed}: {oracle.asking()}", flush=True)
    for name, values in found.items():
        more = f"{np.mean(values) - np.mean(found['no pair']):+.3f}"
        print(
            f"{data.name}  {name:36s} MAP {np.mean(values):.3f} ± {deviation(np.array(values)):.3f}  {more}"
        )
    if asked.out is not None:
        write_json(asked.out, {name: [round(value, 4) for value in some] for name, some in found.items()})


class Oracle:
    """One seed: a split, a model that knows no pair, and somebody who knows the classes."""

    def __init__(self, data: Dataset, bits: int, seed: int) -> None:
        self.items = Items(data.items.content, data.items.ids)  # the hasher does not see the labels
        self.labels, self.split = data.labels, data.split(seed)
        self.bits, self.seed = bits, seed
        self.untaught = self.fit({})
        self.outputs = self.untaught.outputs(self.items, progress=False)[0]
        self.class_of = dict(zip(data.items.ids, data.labels.tolist(), strict=True))
        self.seconds: list[float] = []  # that the choice of each question took
        self.guessed: list[bool] = []  # whether the first group that was offered was right

    def fit(self, known: Known) -> Hasher:
        """A model of the database."""
        hasher, count = Hasher(bits=self.bits, seed=self.seed), len(self.split.database)
        hasher.settings = lesson_settings(hasher.settings, count, labels="labels" in known)
        return hasher.fit(self.items, unlabelled=self.split.database, check=False, progress=False, **known)

    def map(self, hasher: Hasher) -> float:
        """Mean average precision of the queries."""
        codes = hasher.encode(self.items, progress=False)
        queries, database = self.split.queries, self.split.database
        labels = self.labels[queries], self.labels[database]
        return evaluate(codes[queries], codes[database], labels=labels, bits=self.bits).map

    def ways(self, pairs: int, placed: list[int]) -> Iterator[tuple[str, Known]]:
        """Every way to learn, and what is known then."""
        yield "no pair", {}
        random = scattered_pairs(self.labels, self.split.database, pairs, 0.5, self.seed)
        yield f"{pairs} random pairs, half alike", {"pairs": np.column_stack([random.pairs, random.similar])}
        with tempfile.TemporaryDirectory() as place:
            with Answers(Path(place, "groups.db")) as answers:
                asking = self.questions(answers)
                for before, count in zip([0, *placed], placed, strict=False):
                    for _ in range(count - before):
                        self.place(answers, asking)
                    known = lesson(answers.standing(), self.items.ids).arguments
                    yield f"{count} placing questions", known
            with Answers(Path(place, "pairs.db")) as answers:
                asking = self.questions(answers)
                for _ in range(pairs):
                    question = asking.next_pair()
                    assert question is not None
                    a, b = question.a, question.b
                    answers.pair(a, b, self.class_of[a] == self.class_of[b])
                known = lesson(answers.standing(), self.items.ids, transitive=False).arguments
                yield f"{pairs} pair questions", known
                counts = answers.counts()
                print(f"  seed {self.seed}: {counts.alike} of {counts.pairs} pairs asked about are alike")

    def questions(self, answers: Answers) -> Questions:
        """Questions by the outputs of the model that knows no pair, about the database alone."""
        database = self.split.database
        return Questions(answers, [self.items.ids[place] for place in database], self.outputs[database])

    def place(self, answers: Answers, asking: Questions) -> None:
        """Answer one placing question."""
        groups = {self.class_of[group.items[0]]: group.number for group in answers.groups()}
        begun = time.thread_time()
        question = asking.next_placing()
        self.seconds.append(time.thread_time() - begun)
        assert question is not None
        right = groups.get(self.class_of[question.item])
        answers.place(question.item, right, new=right is None)
        if right is not None:
            self.guessed.append(question.groups[0].group == right)

    def asking(self) -> str:
        """How placing questions went."""
        return (
            f"the first group offered was right in {np.mean(self.guessed):.0%} of cases; a question took "
            f"{1000 * np.mean(self.seconds):.0f} ms, at most {1000 * max(self.seconds):.0f}"
        )


if __name__ == "__main__":
    main()
