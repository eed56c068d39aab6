"""What people read on a terminal, as it is: the name of a file is no markup and steers no terminal."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console


def plain_console(width: int | None = None) -> "Console":
    """Standard output for tables; ``[bold]`` and ``:smile:`` are letters like others."""
    from rich.console import Console  # most commands print no table, and do not wait for it

    return Console(width=width, markup=False, emoji=False)


def printable(text: str) -> str:
    """The text with whatever cannot be printed written out: ``\\x1b``, ``\\n``, ``\\udcff``."""
    return "".join(sign if sign.isprintable() else ascii(sign)[1:-1] for sign in text)
