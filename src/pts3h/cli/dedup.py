"""pts3h dedup: find near-duplicates."""

import json
from typing import Annotated

import typer

import pts3h

from ..codes import By
from ..index.duplicates import duplicate_groups, likeness
from .arguments import IndexAddress
from .output import AsJson, say
from .search import refuse_missing

EXAMPLE = "pts3h dedup photos.index --radius 2"


def dedup(
    address: IndexAddress,
    radius: Annotated[
        int, typer.Option("--radius", "-r", help="Largest distance of two near-duplicates.")
    ] = 2,
    by: Annotated[
        By | None,
        typer.Option(
            help="Which bits count; by default 'look', if the codes have look bits, else 'meaning'."
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Print groups of near-duplicates: items linked by steps of at most the radius."""
    refuse_missing(address)
    with pts3h.open_index(address, read_only=True) as target:
        by = likeness(target) if by is None else by
        groups = duplicate_groups(target, radius, by=by)
    if as_json:
        print(json.dumps(groups))
        return
    for group in groups:
        print("\n".join(map(str, group)) + "\n")
    extra = sum(map(len, groups)) - len(groups)
    say(
        f"groups by {by}, radius {radius}: {len(groups):,}; keeping one item of each would leave out "
        f"{extra:,}"
    )
