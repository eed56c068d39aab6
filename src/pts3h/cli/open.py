"""pts3h open: search a folder of pictures, with nothing prepared."""

from pathlib import Path
from typing import Annotated

import typer

from ..errors import UserError
from .output import say
from .serve import require_web

EXAMPLE = "pts3h open photos/"


def open(
    photos: Annotated[Path, typer.Argument(help="Folder of pictures.")],
    workspace: Annotated[
        Path | None,
        typer.Option(help="Folder for the model, the index and answers; by default photos.pts3h beside it."),
    ] = None,
    port: Annotated[int, typer.Option(min=0, max=65535, help="0 takes any that is free.")] = 0,
    browser: Annotated[
        bool, typer.Option("--browser/--no-browser", help="Open the page in a browser.")
    ] = True,
    bits: Annotated[int, typer.Option(min=1, help="Learned bits.")] = 64,
    look_bits: Annotated[int, typer.Option(min=0, help="Look bits behind them.")] = 64,
) -> None:
    """Open the search page of a folder of pictures; the first time, it learns codes and indexes them."""
    if not photos.is_dir():
        raise UserError(f"{photos} is not a folder of pictures")
    require_web()
    from ..web.opening import open_folder

    open_folder(
        photos.absolute(), workspace, port=port, browser=browser, bits=bits, look_bits=look_bits, say=say
    )
