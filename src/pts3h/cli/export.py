"""pts3h export: an index into a file that other programs read, a model into a format that needs no torch."""

import json
from pathlib import Path
from typing import Annotated

import typer

import pts3h

from ..errors import UserError
from ..exchange import export_index
from ..index.engines import ENGINES
from ..model.described import ONNX
from ..util.extras import require
from .file_format import FileFormat
from .output import AsJson, say
from .search import refuse_missing

EXAMPLE = "pts3h export photos.index --to photos.parquet    or: pts3h export model/ --onnx"


def export(
    source: Annotated[
        str,
        typer.Argument(
            help=f"{' or '.join(engine.address for engine in ENGINES)}; with --onnx, the folder of a model."
        ),
    ],
    to: Annotated[
        Path | None,
        typer.Option(
            "--to",
            help="The file, whose suffix says the format; with --onnx, by default model.onnx in the folder.",
        ),
    ] = None,
    format: FileFormat = None,
    onnx: Annotated[
        bool, typer.Option("--onnx", help="A model as ONNX: encoding needs no torch. Checked against torch.")
    ] = False,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace the file.")] = False,
    as_json: AsJson = False,
) -> None:
    """Write the items of an index into one file (Parquet, faiss, sqlite-vec or .npy), or a model as ONNX."""
    if onnx:
        if format is not None:
            raise UserError("--format is for an index: leave it out with --onnx")
        facts, said = export_model(Path(source), to, overwrite)
    elif to is None:
        raise UserError("say where to with --to FILE; a model is exported with --onnx")
    else:
        facts, said = export_items(source, to, format, overwrite)
    if as_json:
        print(json.dumps(facts))
    else:
        say(said)


def export_items(
    address: str, to: Path, format: str | None, overwrite: bool
) -> tuple[dict[str, object], str]:
    """Write the items of an index; return what was written, for programs and for people."""
    refuse_missing(address)
    done = export_index(address, to, format=format, overwrite=overwrite)
    facts = {"file": str(to), "format": done.format, "items": done.items, "with_meta": done.with_meta}
    without = "" if done.with_meta else f"; {done.format} holds no metadata"
    return facts | done.about.facts(), f"{done.items:,} codes of {done.about.layout} are in {to}{without}"


def export_model(folder: Path, to: Path | None, overwrite: bool) -> tuple[dict[str, object], str]:
    """Write the ONNX file of a model; return what was written, for programs and for people."""
    require("torch", "exporting to ONNX")
    from ..model.onnx_export import export_onnx

    path = folder / ONNX if to is None else to
    if to is not None and to.exists() and not overwrite:
        raise UserError(f"{to} is there already: choose another --to, or replace it with --overwrite")
    model = pts3h.load_model(folder)
    export_onnx(model, path)
    said = f"{path} encodes as the model does, without torch: pip install 'pts3h[onnx]' runs it"
    return {"file": str(path), "format": "onnx", "model": model.fingerprint}, said
