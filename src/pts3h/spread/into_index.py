"""A folder of shards → an index of any engine: what is new or changed is added, a batch at a time."""

import warnings
from collections.abc import Sequence
from typing import Any

from ..errors import SkippedWarning, UserError
from ..exchange.items import Batch, Incoming
from ..index.contract import Index
from ..indexing import Indexed, remove_vanished
from ..util.progress import Progress, bar


def index_shards(items: Incoming, index: Index, *, prune: bool = False, progress: Progress = None) -> Indexed:
    """Bring ``index`` up to date with shards; if it is stopped, run again and it goes on.

    Args:
        items: what :func:`pts3h.exchange.shards.read_shards` read.
        index: where the codes go; made with the same model.
        prune: remove what is in the index but not in the shards.
        progress: show a bar; None asks whether standard error is a terminal.
    """
    done, empty = Indexed(), index.count == 0
    present = set[Any]()
    with bar("indexing", items.count, unit="items", progress=progress) as advance:
        for batch in items.batches:
            held = [None] * len(batch.ids) if empty else index.get(batch.ids)
            meta = batch.meta or [{} for _ in batch.ids]
            todo = [
                place
                for place, item in enumerate(held)
                if item is None
                or item.meta != meta[place]
                or item.code.tobytes() != batch.codes[place].tobytes()
            ]
            _add(index, batch, meta, todo)
            added = sum(held[place] is None for place in todo)
            done.added += added
            done.changed += len(todo) - added
            done.unchanged += len(batch.ids) - len(todo)
            if prune:
                present.update(batch.ids)
            advance(len(batch.ids))
    if prune:
        done.removed = remove_vanished(index, present)
    if empty and (twice := done.added - index.count) > 0:
        done.added -= twice
        warnings.warn(
            f"{twice:,} ids are in more than one shard: of each, the last code is in the index",
            SkippedWarning,
            stacklevel=2,
        )
    return done


def _add(index: Index, batch: Batch, meta: Sequence[dict[str, Any]], places: Sequence[int]) -> None:
    if places:
        index.add([batch.ids[p] for p in places], batch.codes[list(places)], [meta[p] for p in places])


def check_model(items: Incoming, fingerprint: str) -> None:
    """Raise if the shards are another model's."""
    made = None if items.about is None else items.about.model
    if made != fingerprint:
        who = "the student of a model" if made is None else f"model {made}"
        raise UserError(
            f"these shards are codes of {who}, not of model {fingerprint}: name the model that made them"
        )
