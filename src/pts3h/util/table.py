"""Tables of named rows: losses, systems, backbones, data sets, engines. A user's own row is as good as ours.

A row says all there is to say of one thing. What it is made by may be heavy, so a row can name it as
"package.module:name" and the import waits until it is needed: listing names stays quick.
"""

from collections.abc import Callable, Iterable, Iterator
from difflib import get_close_matches
from importlib import import_module
from typing import Any, Generic, Protocol, TypeVar

from ..errors import UserError


class Row(Protocol):
    """Anything with a name."""

    @property
    def name(self) -> str:
        """What settings and the command line call it."""
        ...


R = TypeVar("R", bound=Row)


class Table(Generic[R]):
    """Rows of one kind by name.

    Args:
        kind: what a row is, for messages: "loss".
        row: the type of a row.
        rows: our own.
    """

    def __init__(self, kind: str, row: type, rows: Iterable[R]) -> None:
        self.kind, self.row = kind, row
        self._rows = {one.name: one for one in rows}
        self._ours = frozenset(self._rows)

    def __iter__(self) -> Iterator[R]:
        return iter(self._rows.values())

    def __len__(self) -> int:
        return len(self._rows)

    def __contains__(self, name: object) -> bool:
        return name in self._rows

    def names(self) -> list[str]:
        """All names, ours first, in the order of the table."""
        return list(self._rows)

    def own(self) -> list[R]:
        """The rows that users brought."""
        return [row for name, row in self._rows.items() if name not in self._ours]

    def find(self, given: str | R) -> R:
        """The row called so. A user's own row is kept under its name from then on, and returned."""
        if not isinstance(given, str):
            return self.keep(given)
        if given not in self._rows:
            near = get_close_matches(given, self._rows, n=1, cutoff=0.5)
            hint = f"did you mean {near[0]}?" if near else f"choose from {', '.join(self._rows)}"
            raise UserError(f"there is no {self.kind} {given!r}: {hint}")
        return self._rows[given]

    def keep(self, own: R) -> R:
        """Accept a user's own row; it cannot take the name of one of ours."""
        name = getattr(own, "name", None)
        if not isinstance(name, str) or not isinstance(own, self.row):
            raise UserError(f"{_a(self.kind)} is a name or {_a(self.row.__name__)}, got {own!r}")
        if name in self._ours and self._rows[name] is not own:
            raise UserError(f"there is {_a(self.kind)} called {name} already: give yours another name")
        self._rows[name] = own
        return own


def _a(noun: str) -> str:
    """A noun with its article."""
    return f"{'an' if noun[0] in 'aeiouAEIOU' else 'a'} {noun}"


def module_of(made_by: str | Callable[..., Any]) -> str:
    """Where what a row is made by is written."""
    return made_by.__module__ if callable(made_by) else made_by.partition(":")[0]


def load(made_by: str | Callable[..., Any]) -> Callable[..., Any]:
    """What a row is made by: itself, or what "package.module:name" stands for."""
    if callable(made_by):
        return made_by
    module, _, name = made_by.partition(":")
    found: Callable[..., Any] = getattr(import_module(module), name)
    return found
