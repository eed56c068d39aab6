"""Arguments that several commands share."""

from pathlib import Path
from typing import Annotated

import typer

from ..codes import By
from ..index.engines import ENGINES

ModelFolder = Annotated[Path, typer.Argument(help="Model folder.")]
ItemsSource = Annotated[
    Path, typer.Argument(help="Folder of pictures, .npy of embeddings or images, CSV, or list file.")
]
Root = Annotated[Path | None, typer.Option(help="Where relative paths of a CSV or list file start.")]
IndexAddress = Annotated[str, typer.Argument(help=f"{' or '.join(engine.address for engine in ENGINES)}.")]
SearchBy = Annotated[
    By,
    typer.Option(
        "--by",
        help="Which bits count: 'meaning' (the learned ones), 'look', or 'both', where look breaks ties.",
    ),
]
