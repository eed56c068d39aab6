"""pts3h index: keep an index in step with a collection, or with shards of its codes."""

import json
from pathlib import Path
from typing import Annotated

import typer

import pts3h

from ..data.items import read_items
from ..errors import UserError
from ..exchange.shards import read_shards
from ..index.engines import ENGINES, engine_of
from ..indexing import Indexed, index_items, read_meta, remember_model
from ..spread.into_index import check_model, index_shards
from ..util.addresses import shown_address
from ..util.places import Place
from .arguments import Root
from .output import AsJson, say

EXAMPLE = "pts3h index model/ photos/ --to photos.index    or: pts3h index --from codes/ --to photos.index"


def index(
    to: Annotated[str, typer.Option("--to", help=f"{' or '.join(engine.address for engine in ENGINES)}.")],
    model: Annotated[
        Path | None, typer.Argument(help="Model folder; with --from, it need not be named.")
    ] = None,
    items: Annotated[
        Path | None,
        typer.Argument(help="Folder of pictures, .npy of embeddings or images, CSV, or list file."),
    ] = None,
    shards: Annotated[
        str | None,
        typer.Option("--from", help="Folder of shards that pts3h encode --on wrote, instead of items."),
    ] = None,
    meta: Annotated[
        Path | None, typer.Option(help="CSV with an id column and one column per kind of metadata.")
    ] = None,
    root: Root = None,
    prune: Annotated[bool, typer.Option("--prune", help="Remove what is no longer among the items.")] = False,
    as_json: AsJson = False,
) -> None:
    """Encode items and add them to an index; run again, only what is new or changed is encoded."""
    if shards is not None:
        if items is not None or meta is not None or root is not None:
            raise UserError("with --from the codes are made already: leave out the items, --meta and --root")
        done, count = from_shards(Place(shards), to, model, prune)
    elif model is None or items is None:
        raise UserError("name the model and the items, or shards of codes with --from")
    else:
        done, count = from_items(model, items, to, meta, root, prune)
    if as_json:
        print(json.dumps({"index": shown_address(to), "count": count, **vars(done)}))
        return
    for reason in done.skipped.values():
        say(f"skipped {reason}")
    figures = ("added", "changed", "unchanged", "removed")
    did = ", ".join(f"{getattr(done, name):,} {name}" for name in figures)
    say(f"{did}; {shown_address(to)} holds {count:,} items")


def from_items(
    model: Path, items: Path, to: str, meta: Path | None, root: Path | None, prune: bool
) -> tuple[Indexed, int]:
    """Encode what is new or changed; return what was done, and how many items the index holds."""
    encoder, collection = pts3h.load_model(model), read_items(items, root=root)
    table = None if meta is None else read_meta(meta)
    options, layout = engine_of(to).writing, encoder.layout
    with pts3h.open_index(
        to, layout.meaning, look_bits=layout.look, weight=layout.weight, model=encoder.fingerprint, **options
    ) as target:
        done = index_items(encoder, collection, target, prune=prune, meta=table)
        remember_model(encoder, model)
        return done, target.count


def from_shards(folder: Place, to: str, model: Path | None, prune: bool) -> tuple[Indexed, int]:
    """Add codes that are made already; likewise."""
    found = read_shards(folder)
    encoder = None if model is None else pts3h.load_model(model)
    if encoder is not None:
        check_model(found, encoder.fingerprint)
    assert found.about is not None  # a manifest says it
    layout = found.about.layout
    with pts3h.open_index(
        to,
        layout.meaning,
        look_bits=layout.look,
        weight=layout.weight,
        model=found.about.model,
        **engine_of(to).writing,
    ) as target:
        done = index_shards(found, target, prune=prune)
        if encoder is not None and model is not None:
            remember_model(encoder, model)
        return done, target.count
