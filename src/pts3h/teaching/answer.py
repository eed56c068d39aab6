"""What a person said, and what follows from it: the types."""

from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """One thing that was said. What it does not say is None.

    Attributes:
        number: 1, 2, 3, ..., in the order of time.
        at: when, ISO 8601, UTC.
        who: who said it, if they gave a name.
        model: fingerprint of the model that the page searched with.
        kind: "pair", "place", "name", "merge" or "split".
        a: of a pair: one item.
        b: of a pair: the other.
        similar: of a pair: alike or not; None is unsure.
        item: the item that was placed.
        group: where it was placed (None is unsure), or the group that was named, merged or split.
        new: whether placing it began the group.
        name: of a group.
        into: the group that another was merged into, or that was split off.
        items: what was split off.
        undone: whether it was taken back.
    """

    number: int
    at: str
    who: str
    model: str
    kind: str
    a: str | None = None
    b: str | None = None
    similar: bool | None = None
    item: str | None = None
    group: int | None = None
    new: bool = False
    name: str | None = None
    into: int | None = None
    items: tuple[str, ...] = ()
    undone: bool = False

    def to_json(self) -> dict[str, Any]:
        """As a page reads it."""
        return asdict(self)


@dataclass(frozen=True)
class Group:
    """Items that are alike.

    Attributes:
        number: stays the same for ever; no other group gets it.
        name: "" where nobody named it.
        items: in the order in which they came.
    """

    number: int
    name: str
    items: list[str]


@dataclass(frozen=True)
class Counts:
    """How much was said, without what was taken back.

    Attributes:
        answers: answers about pairs and items, those that a newer one replaced too.
        pairs: pairs that are known to be alike or not, by an answer of their own.
        alike: those that are.
        not_alike: those that are not.
        unsure: pairs and items that nobody could tell.
        placed: items in groups.
        groups: groups that hold an item.
    """

    answers: int
    pairs: int
    alike: int
    not_alike: int
    unsure: int
    placed: int
    groups: int
