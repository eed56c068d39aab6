"""What stands after everything that was said: the newest answer about a pair or an item."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import NamedTuple

from .answer import Answer, Counts, Group

Pair = tuple[str, str]


class Said(NamedTuple):
    """The newest answer about a pair; ``similar`` is None where nobody could tell."""

    similar: bool | None
    number: int


class Place(NamedTuple):
    """Where an item is, by the answer that put it there; ``group`` is None where nobody could tell."""

    group: int | None
    number: int


@dataclass
class Standing:
    """What answers come to, told in the order of time. Those that were undone must be left out.

    An answer may speak of what an undone one had said. It then says what is left of it: a group that was
    begun by an undone answer holds those that came later, and merging an empty group moves nobody.

    Attributes:
        pairs: what was said of pairs, one by one.
        places: where items are.
        names: of groups.
        answers: how many answers spoke of pairs and items.
    """

    pairs: dict[Pair, Said] = field(default_factory=dict)
    places: dict[str, Place] = field(default_factory=dict)
    names: dict[int, str] = field(default_factory=dict)
    answers: int = 0

    @classmethod
    def of(cls, answers: Iterable[Answer]) -> "Standing":
        """What these answers come to."""
        found = cls()
        for answer in answers:
            found.hear(answer)
        return found

    def hear(self, answer: Answer) -> None:
        """One more answer."""
        match answer.kind:
            case "pair":
                assert answer.a is not None and answer.b is not None
                self.pairs[ordered(answer.a, answer.b)] = Said(answer.similar, answer.number)
                self.answers += 1
            case "place":
                assert answer.item is not None
                self._put(answer.item, answer.group, answer.number)
                self.answers += 1
            case "name":
                assert answer.group is not None and answer.name is not None
                self.names[answer.group] = answer.name
            case "merge":
                assert answer.group is not None and answer.into is not None
                for item in self.members(answer.group):
                    self._put(item, answer.into, answer.number)
                self.names.setdefault(answer.into, self.names.pop(answer.group, ""))
            case "split":
                here = set(self.members(answer.group))
                for item in answer.items:
                    if item in here:
                        self._put(item, answer.into, answer.number)

    def _put(self, item: str, group: int | None, number: int) -> None:
        self.places.pop(item, None)  # so that the order is that of coming
        self.places[item] = Place(group, number)

    def members(self, group: int | None) -> list[str]:
        """The items of a group, in the order in which they came."""
        return [item for item, place in self.places.items() if place.group == group]

    def groups(self) -> list[Group]:
        """All groups that hold an item, by number."""
        found: dict[int, list[str]] = {}
        for item, place in self.places.items():
            if place.group is not None:
                found.setdefault(place.group, []).append(item)
        return [Group(number, self.names.get(number, ""), found[number]) for number in sorted(found)]

    def counts(self) -> Counts:
        """How much was said."""
        said = [one.similar for one in self.pairs.values()]
        groups = [place.group for place in self.places.values()]
        return Counts(
            answers=self.answers,
            pairs=len(said) - said.count(None),
            alike=said.count(True),
            not_alike=said.count(False),
            unsure=said.count(None) + groups.count(None),
            placed=len(groups) - groups.count(None),
            groups=len(set(groups) - {None}),
        )

    def copy(self) -> "Standing":
        """As it is now, whatever is said from now on."""
        return Standing(dict(self.pairs), dict(self.places), dict(self.names), self.answers)


def ordered(a: str, b: str) -> Pair:
    """The same pair, whichever item was named first."""
    return (a, b) if a < b else (b, a)
