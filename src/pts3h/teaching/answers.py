"""Answers: what people said of items, kept for good the moment a method returns.

The newest answer about a pair or an item counts. Everything can be taken back, and nothing is lost: the file
only grows. What the answers say together, where they may contradict each other, is in :mod:`.knowledge`.
"""

from collections.abc import Container, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, TextIO

from ..errors import UserError
from .agreement import Contradiction
from .answer import Answer, Counts, Group
from .exchange import pairs_as_said, read_rows, write_pairs
from .knowledge import Triples, contradictions, known_pairs, to_learn_from
from .log import Event, Log
from .standing import Standing

# the method `list` takes the word in the class
Page = list[Answer]
Groups = list[Group]
Contradictions = list[Contradiction]

LONGEST = 4096  # characters of an id
LONGEST_NAME = 200


class Answers:
    """What people said, in one file::

        answers = Answers("photos.pts3h/answers.db")
        answers.place("cat1.jpg", None, new=True)    # begins group 1
        answers.place("cat2.jpg", 1)
        answers.pair("cat1.jpg", "dog1.jpg", False)
        answers.undo()

    It may be used by many threads at once, and several processes may open the same file.

    Args:
        path: of the file; it is made where there is none.
    """

    def __init__(self, path: Path | str) -> None:
        self._log = Log(Path(path))
        self._said: dict[int, Answer] = {}
        self._groups = 0  # the largest number that a group ever had
        self._standing = Standing()
        try:
            self._catch_up()
        except BaseException:
            self._log.close()
            raise

    def __enter__(self) -> "Answers":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the file."""
        self._log.close()

    # saying

    def pair(self, a: str, b: str, similar: bool | None, *, who: str = "", model: str = "") -> Answer:
        """Two items are alike, or not, or nobody can tell (None)."""
        check_pair(a, b)
        with self._writing():
            number = self._log.append("pair", {"a": a, "b": b, "similar": similar}, who=who, model=model)
        return self._answer(number)

    def place(
        self, item: str, group: int | None, *, new: bool = False, who: str = "", model: str = ""
    ) -> Answer:
        """An item belongs to a group, or begins a new one, or nobody can tell (None, and not new)."""
        check_id(item)
        if new and group is not None:
            raise UserError("an item begins a new group or joins one: leave out new, or the group")
        with self._writing():
            if group is not None:
                self._check_group(group)
            said = {"item": item, "group": self._groups + 1 if new else group, "new": new}
            number = self._log.append("place", said, who=who, model=model)
        return self._answer(number)

    def name_group(self, group: int, name: str, *, who: str = "", model: str = "") -> Answer:
        """Call a group something; "" takes its name away."""
        if len(name) > LONGEST_NAME:
            raise UserError(f"a name has at most {LONGEST_NAME} characters, this one has {len(name)}")
        with self._writing():
            self._check_group(group)
            number = self._log.append("name", {"group": group, "name": name}, who=who, model=model)
        return self._answer(number)

    def merge(self, group: int, into: int, *, who: str = "", model: str = "") -> Answer:
        """Move all items of a group into another; the first is gone then."""
        if group == into:
            raise UserError(f"group {group} cannot be merged into itself: name another")
        with self._writing():
            self._check_group(group)
            self._check_group(into)
            number = self._log.append("merge", {"group": group, "into": into}, who=who, model=model)
        return self._answer(number)

    def split(self, group: int, items: Iterable[str], *, who: str = "", model: str = "") -> int:
        """Move some items of a group into a new one, and return its number."""
        with self._writing():
            self._check_group(group)
            here, chosen = self._standing.members(group), list(dict.fromkeys(items))
            if strange := [item for item in chosen if item not in here]:
                raise UserError(f"{strange[0]!r} is not in group {group}: split off items that are")
            if not chosen or len(chosen) == len(here):
                raise UserError(
                    f"group {group} has {len(here)} items: split off some of them, not all or none"
                )
            new = self._groups + 1
            said = {"group": group, "into": new, "items": chosen}
            self._log.append("split", said, who=who, model=model)
        return new

    def undo(self, number: int | None = None, *, who: str = "", model: str = "") -> Answer | None:
        """Take an answer back, the last one that stands by default; None where there is none."""
        with self._writing():
            if number is None:
                number = next((one.number for one in reversed(self._said.values()) if not one.undone), None)
                if number is None:
                    return None
            if number not in self._said:
                raise UserError(f"there is no answer {number}: look at the list of answers")
            if self._said[number].undone:
                raise UserError(f"answer {number} was undone before")
            self._log.append("undo", {"number": number}, who=who, model=model)
        return self._answer(number)

    def import_pairs(
        self,
        rows: Iterable[Sequence[Any]],
        *,
        ids: Container[str] | None = None,
        who: str = "",
        model: str = "",
    ) -> int:
        """Rows a, b, similar, as a CSV holds them, become answers: all of them, or none if one is wrong.

        Args:
            rows: with or without a header.
            ids: the items that there are; a row that names another is refused. None takes every name.
            who: whose answers they are.
            model: fingerprint of the model at hand.

        Returns:
            How many are new: what is known already is not said twice.
        """
        given = read_rows(rows, ids)
        for a, b in given:
            check_pair(a, b)
        with self._writing():
            held = self._standing.pairs
            new = {
                pair: similar
                for pair, similar in given.items()
                if pair not in held or held[pair].similar != similar
            }
            for (a, b), similar in new.items():
                self._log.append("pair", {"a": a, "b": b, "similar": similar}, who=who, model=model)
        return len(new)

    # asking

    def list(self, offset: int = 0, limit: int = 100) -> Page:
        """Answers, the newest first, those that were undone too."""
        if offset < 0 or limit < 0:
            raise UserError("offset and limit are 0 or more")
        with self._log.lock:
            self._catch_up()
            return [*reversed(self._said.values())][offset : offset + limit]

    def counts(self) -> Counts:
        """How much was said."""
        return self.standing().counts()

    def groups(self) -> Groups:
        """All groups that hold an item, by number."""
        return self.standing().groups()

    def standing(self) -> Standing:
        """What stands now. It does not change while others go on answering."""
        with self._log.lock:
            self._catch_up()
            return self._standing.copy()

    def known(self, *, transitive: bool) -> Triples:
        """Pairs to train on: a, b, and whether they are alike. What is kept back to judge by is left out.

        Args:
            transitive: also take what follows: alike of alike is alike. Groups are so in any case.
        """
        return known_pairs(to_learn_from(self.standing()), transitive=transitive)

    def contradictions(self) -> Contradictions:
        """Answers that newer ones contradict through a chain of others, where likeness is transitive."""
        return contradictions(self.standing())

    def export(self, out: TextIO, *, implied: bool) -> int:
        """Write a CSV of a, b, similar, which ``pts3h fit --pairs`` and :meth:`import_pairs` read.

        Args:
            out: a text file, opened with ``newline=""``.
            implied: write every pair that follows. Otherwise what was said, with just enough pairs for each
                group that ``--transitive`` finds the others.

        Returns:
            How many pairs were written.
        """
        standing = self.standing()
        if implied:
            return write_pairs(out, known_pairs(standing, transitive=True))
        return write_pairs(out, pairs_as_said(standing))

    # the log

    @contextmanager
    def _writing(self) -> Iterator[None]:
        """Everything said so far is known inside, and nobody else says anything until the end."""
        with self._log.writing():
            self._catch_up()
            yield

    def _answer(self, number: int) -> Answer:
        """The answer of this number, as it stands now."""
        with self._log.lock:
            self._catch_up()
            return self._said[number]

    def _catch_up(self) -> None:
        """Hear what was said since, here or by another process."""
        again = False
        for event in self._log.news():
            again |= self._hear(event)
        if again:
            self._standing = Standing.of(one for one in self._said.values() if not one.undone)

    def _hear(self, event: Event) -> bool:
        """One event; True if it takes back what was heard."""
        if event.kind == "undo":
            number = event.said["number"]
            self._said[number] = replace(self._said[number], undone=True)
            return True
        answer = answer_of(event)
        self._said[answer.number] = answer
        self._groups = max(self._groups, answer.group or 0, answer.into or 0)
        self._standing.hear(answer)
        return False

    def _check_group(self, group: int) -> None:
        if not self._standing.members(group):
            raise UserError(f"there is no group {group}: look at the list of groups")


def answer_of(event: Event) -> Answer:
    """What an event says."""
    said = {**event.said, "items": tuple(event.said.get("items", ()))}
    return Answer(number=event.number, at=event.at, who=event.who, model=event.model, kind=event.kind, **said)


def check_pair(a: str, b: str) -> None:
    """Two different items."""
    check_id(a)
    check_id(b)
    if a == b:
        raise UserError(f"{a!r} is paired with itself: name two items")


def check_id(item: str) -> None:
    """Something that can be an item's name."""
    if not 0 < len(item) <= LONGEST:
        raise UserError(f"the id of an item has 1 to {LONGEST} characters, this one has {len(item)}")
