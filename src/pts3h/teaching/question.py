"""What a person is asked: the types."""

from dataclasses import dataclass


@dataclass(frozen=True)
class NearGroup:
    """A group that an item may belong to.

    Attributes:
        group: its number.
        name: its name, or "".
        examples: some of its items: the nearest to the item that is asked about, then typical ones.
        similarity: of the item and those of the group, on average, from -1 to 1.
    """

    group: int
    name: str
    examples: list[str]
    similarity: float


@dataclass(frozen=True)
class Placing:
    """Where does this item belong?

    Attributes:
        item: the item that is asked about.
        groups: up to nine, the likeliest first.
        why: why this item, in words for the page.
    """

    item: str
    groups: list[NearGroup]
    why: str


@dataclass(frozen=True)
class PairQuestion:
    """Are these two alike?

    Attributes:
        a: one item.
        b: the other.
        similarity: how alike they seem, from -1 to 1.
        why: why this pair, in words for the page.
    """

    a: str
    b: str
    similarity: float
    why: str


@dataclass(frozen=True)
class Helping:
    """Whether more answers still help.

    Attributes:
        text: in words for the page.
        figure: in how many cases an alike pair among the answers kept back is found nearer than another, or
            None while there are too few.
        error: its standard error, or None.
        stop: whether more answers of this kind are hardly worth the time.
    """

    text: str
    figure: float | None = None
    error: float | None = None
    stop: bool = False
