"""What people teach: their answers, the next question, the groups that an item is near to."""

import threading
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..codes import Codes
from ..teaching.answer import Group
from ..teaching.answers import Answers
from ..teaching.questions import Questions
from .collection import Served
from .errors import not_found
from .schemas import NearGroup
from .vectors import as_vectors, kept_outputs

NEAR_GROUPS = 3
COVERED = 0.9  # share of the items
NEAREST = 3  # items of a group that say how near the group is


class Teaching:
    """The answers of a workspace, and questions about what is served.

    Args:
        path: of the file that holds the answers.
    """

    def __init__(self, path: Path) -> None:
        self.answers = Answers(path)
        self._lock = threading.Lock()
        self._of = (-1, -1)  # generation and number of items that the questions are about
        self._questions: Questions | None = None

    def questions(self, served: Served) -> Questions:
        """What to ask about the items that there are now."""
        with self._lock:
            of = served.generation, served.index.count
            if self._questions is None or self._of != of:
                ids, vectors = vectors_of(served)
                self._questions, self._of = Questions(self.answers, ids, vectors), of
            return self._questions

    def check_group(self, number: int) -> None:
        """Refuse a group that is not there."""
        if all(group.number != number for group in self.answers.groups()):
            raise not_found("such group")

    def group_of(self, name: str) -> Group | None:
        """The group that an item was put into."""
        return next((group for group in self.answers.groups() if name in group.items), None)

    def near_groups(self, served: Served, code: Codes) -> list[NearGroup]:
        """The groups whose items are nearest to a code, by cosine."""
        layout, found = served.index.layout, list[NearGroup]()
        mine = as_vectors(code[None], layout)[0]
        for group in self.answers.groups():
            held = served.index.get([served.key(name) for name in group.items])
            codes = [item.code for item in held if item is not None]
            if codes:
                near = np.sort(as_vectors(np.stack(codes), layout) @ mine / (mine @ mine))[-NEAREST:]
                similarity = round(float(near.mean()), 4)
                found.append(NearGroup(group=group.number, name=group.name, similarity=similarity))
        return sorted(found, key=lambda one: (-one.similarity, one.group))[:NEAR_GROUPS]

    def close(self) -> None:
        """Close the file."""
        self.answers.close()


def vectors_of(served: Served) -> tuple[list[str], NDArray[Any]]:
    """Ids and vectors to choose questions by: the model's outputs if they cover most items, else codes."""
    ids, codes = list[str](), list[Codes]()
    for some, packed in served.index.scan():
        ids += map(str, some)
        codes.append(packed)
    there = set(ids)
    if (kept := kept_outputs(served.folder.parent)) is not None:
        places = [place for place, name in enumerate(kept[0]) if name in there]
        if len(places) >= COVERED * len(ids):
            return [kept[0][place] for place in places], kept[1][places]
    width = np.empty((0, (served.index.bits + 7) // 8), np.uint8)
    return ids, as_vectors(np.concatenate([width, *codes]), served.index.layout)
