"""How commands speak: data on standard output, words on standard error."""

import sys
from typing import Annotated, Any, NoReturn

import typer

from ..codes import Layout
from ..util.console import printable

AsJson = Annotated[bool, typer.Option("--json", help="Print JSON for another program to read.")]


def say(text: str) -> None:
    """A line for people."""
    print(printable(text), file=sys.stderr)


def fail(message: str, code: int = 2) -> NoReturn:
    """One line, and the end."""
    print(f"pts3h: {printable(' '.join(message.split()))}", file=sys.stderr)
    sys.exit(code)


def bits_facts(layout: Layout) -> dict[str, int]:
    """What the bits of codes are, for another program."""
    parts = {"look_bits": layout.look, "weight": layout.weight} if layout.look else {}
    return {"bits": layout.meaning, **parts}


def show_warning(message: Warning | str, *_: Any, **__: Any) -> None:
    """Warnings as one line, without the place in the code."""
    print(f"pts3h: warning: {printable(' '.join(str(message).split()))}", file=sys.stderr)
