"""pts3h index: keep an index in step with a collection."""

import json
from pathlib import Path
from typing import Annotated

import typer

import pts3h

from ..data.items import read_items
from ..index.engines import ENGINES, engine_of
from ..indexing import index_items, read_meta, remember_model
from ..util.addresses import shown_address
from .arguments import ItemsSource, ModelFolder, Root
from .output import AsJson, say

EXAMPLE = "pts3h index model/ photos/ --to photos.index"


def index(
    model: ModelFolder,
    items: ItemsSource,
    to: Annotated[str, typer.Option("--to", help=f"{' or '.join(engine.address for engine in ENGINES)}.")],
    meta: Annotated[
        Path | None, typer.Option(help="CSV with an id column and one column per kind of metadata.")
    ] = None,
    root: Root = None,
    prune: Annotated[bool, typer.Option("--prune", help="Remove what is no longer among the items.")] = False,
    as_json: AsJson = False,
) -> None:
    """Encode items and add them to an index; run again, only what is new or changed is encoded."""
    encoder, collection = pts3h.load_model(model), read_items(items, root=root)
    table = None if meta is None else read_meta(meta)
    options, layout = engine_of(to).writing, encoder.layout
    with pts3h.open_index(
        to, layout.meaning, look_bits=layout.look, weight=layout.weight, model=encoder.fingerprint, **options
    ) as target:
        done = index_items(encoder, collection, target, prune=prune, meta=table)
        remember_model(encoder, model)
        count = target.count
    if as_json:
        print(json.dumps({"index": shown_address(to), "count": count, **vars(done)}))
        return
    for reason in done.skipped.values():
        say(f"skipped {reason}")
    figures = ("added", "changed", "unchanged", "removed")
    did = ", ".join(f"{getattr(done, name):,} {name}" for name in figures)
    say(f"{did}; {shown_address(to)} holds {count:,} items")
