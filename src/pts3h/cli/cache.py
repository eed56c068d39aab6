"""pts3h cache: what is kept that can be made again, and how to get rid of it."""

import json
from dataclasses import asdict
from datetime import datetime
from typing import Annotated

import typer

from ..cache.bound import Entry, cache_limit, clear, keep_within, list_features, list_others
from ..errors import UserError
from ..util.files import cache_folder
from ..util.sizes import parse_size, plain_size
from .output import AsJson, say

EXAMPLE = "pts3h cache --limit 5GB"


def cache(
    limit: Annotated[
        str | None,
        typer.Option(help="Keep at most this much of the features (5GB, 500MB), those used last."),
    ] = None,
    clear_it: Annotated[
        bool, typer.Option("--clear", help="Remove all features, or what --kind names.")
    ] = False,
    kind: Annotated[
        list[str] | None, typer.Option(help="What to clear, a name of the listing; may be repeated.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Show what is kept: features of pictures, data sets. It can all be made again; what a run uses stays."""
    if clear_it and limit is not None:
        raise UserError("give --clear or --limit, not both")
    if kind and not clear_it:
        raise UserError("--kind says what to clear: add --clear")
    if clear_it:
        freed, in_use = clear(kind or ())
        say(f"removed {plain_size(freed)}" + "".join(f"; {name} is in use and stays" for name in in_use))
    elif limit is not None:
        freed = keep_within(parse_size(limit, name="--limit"))
        say(f"removed {plain_size(freed)}")
    show(as_json)


def show(as_json: bool) -> None:
    """Print the listing."""
    entries, bound = list_features() + list_others(), cache_limit()
    if as_json:
        facts = {"folder": str(cache_folder()), "limit": bound, "kinds": [asdict(entry) for entry in entries]}
        print(json.dumps(facts))
        return
    features = sum(entry.size for entry in entries if entry.is_features)
    print(cache_folder())
    print(f"features take {plain_size(features)}, at most {plain_size(bound)} are kept (PTS3H_CACHE_LIMIT)")
    width = max((len(entry.name) for entry in entries), default=0)
    for entry in entries:
        print(line(entry, width))


def line(entry: Entry, width: int) -> str:
    """Name, size, number of pictures, last use."""
    facts = f"{entry.name:<{width}}  {plain_size(entry.size):>7}"
    if entry.pictures is not None:
        facts += f"  {entry.pictures:>10,} pictures"
    if entry.last_used is not None:
        facts += f"  used {datetime.fromtimestamp(entry.last_used):%Y-%m-%d %H:%M}"
    return facts
