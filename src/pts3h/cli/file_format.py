"""The argument that the commands on files of codes share."""

from typing import Annotated

import typer

from ..exchange.formats import FORMATS

FileFormat = Annotated[
    str | None,
    typer.Option("--format", help=f"{', '.join(FORMATS.names())}; by default, the suffix decides."),
]
