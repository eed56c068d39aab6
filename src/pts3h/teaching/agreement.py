"""What answers say together where likeness is transitive: kinds of items, and which kinds differ.

Items and groups are nodes. "Alike", and "belongs to this group", join two nodes; "not alike" keeps two apart,
and any two groups are apart. Answers are heard newest first. One that contradicts what newer ones say is left
out, and named with the chain of answers that it contradicts.
"""

from collections import deque
from dataclasses import dataclass, field

from .standing import Standing

Node = str | int  # an item by its id, or a group by its number


@dataclass(frozen=True)
class Contradiction:
    """An answer that newer ones overrule.

    Attributes:
        number: of the answer, to look at or to undo.
        text: what it says, and the chain that says otherwise.
    """

    number: int
    text: str


@dataclass(frozen=True, order=True)
class Statement:
    """Two nodes are alike or not, by the answer of this number."""

    number: int
    alike: bool
    one: Node = field(compare=False)
    other: Node = field(compare=False)


def statements(standing: Standing) -> list[Statement]:
    """All that was said of pairs and groups, the newest first."""
    said = [
        Statement(said.number, said.similar, a, b)
        for (a, b), said in standing.pairs.items()
        if said.similar is not None
    ]
    said += [
        Statement(place.number, True, item, place.group)
        for item, place in standing.places.items()
        if place.group is not None
    ]
    return sorted(said, reverse=True)


@dataclass
class Kind:
    """Nodes that are all alike.

    Attributes:
        nodes: the items, and the group if one is among them.
        apart: kinds that are known to differ, each by two nodes that do: one of here, one of there.
    """

    nodes: list[Node]
    apart: dict[int, tuple[Node, Node]] = field(default_factory=dict)

    @property
    def group(self) -> int | None:
        """The group that these items are in, if any."""
        return next((node for node in self.nodes if isinstance(node, int)), None)

    @property
    def items(self) -> list[str]:
        """The items among the nodes."""
        return [node for node in self.nodes if isinstance(node, str)]


class Agreement:
    """What the answers agree on.

    Args:
        standing: what was said.

    Attributes:
        kinds: all kinds by a number of their own.
        contradictions: what had to be left out, newest first.
    """

    def __init__(self, standing: Standing) -> None:
        self.kinds: dict[int, Kind] = {}
        self.contradictions: list[Contradiction] = []
        self._names = standing.names
        self._kind_of: dict[Node, int] = {}
        self._links: dict[Node, list[Node]] = {}
        for statement in statements(standing):
            self._hear(statement)

    def differ(self, one: int, other: int) -> tuple[Node, Node] | None:
        """Two nodes, of either kind, that say that these kinds differ; None where nothing is known of it."""
        groups = self.kinds[one].group, self.kinds[other].group
        if groups[0] is not None and groups[1] is not None:
            return groups[0], groups[1]
        return self.kinds[one].apart.get(other)

    def _hear(self, said: Statement) -> None:
        one, other = self._find(said.one), self._find(said.other)
        if not said.alike and one != other:
            self.kinds[one].apart.setdefault(other, (said.one, said.other))
            self.kinds[other].apart.setdefault(one, (said.other, said.one))
        elif not said.alike:
            self._leave_out(said, f"a chain of alike pairs joins them: {self._chain(said.one, said.other)}")
        elif one == other or (ends := self.differ(one, other)) is None:
            self._join(said, one, other)
        else:
            mine, yours = self._chain(said.one, ends[0]), self._chain(ends[1], said.other)
            self._leave_out(said, f"{mine} and {yours} are not alike")

    def _find(self, node: Node) -> int:
        if node not in self._kind_of:
            self._kind_of[node] = len(self._kind_of)
            self.kinds[self._kind_of[node]] = Kind([node])
            self._links[node] = []
        return self._kind_of[node]

    def _join(self, said: Statement, one: int, other: int) -> None:
        """Make two kinds one; the smaller one moves."""
        self._links[said.one].append(said.other)
        self._links[said.other].append(said.one)
        if one == other:
            return
        stays, goes = (
            (one, other) if len(self.kinds[one].nodes) >= len(self.kinds[other].nodes) else (other, one)
        )
        gone, kept = self.kinds.pop(goes), self.kinds[stays]
        kept.nodes += gone.nodes
        for node in gone.nodes:
            self._kind_of[node] = stays
        for third, (mine, theirs) in gone.apart.items():
            del self.kinds[third].apart[goes]
            kept.apart.setdefault(third, (mine, theirs))
            self.kinds[third].apart.setdefault(stays, (theirs, mine))

    def _leave_out(self, said: Statement, why: str) -> None:
        one, other = self._name(said.one), self._name(said.other)
        verb = "belongs to" if isinstance(said.other, int) else "is like" if said.alike else "is not like"
        self.contradictions.append(Contradiction(said.number, f"{one} {verb} {other}, but {why}"))

    def _chain(self, start: Node, end: Node) -> str:
        """The shortest chain of alike nodes between two of one kind."""
        came_from: dict[Node, Node] = {start: start}
        waiting = deque([start])
        while waiting and end not in came_from:
            node = waiting.popleft()
            for near in self._links[node]:
                if near not in came_from:
                    came_from[near] = node
                    waiting.append(near)
        chain = [end]
        while chain[-1] != start:
            chain.append(came_from[chain[-1]])
        return " - ".join(self._name(node) for node in reversed(chain))

    def _name(self, node: Node) -> str:
        if isinstance(node, str):
            return node
        name = self._names.get(node)
        return f"group {node} ({name})" if name else f"group {node}"
