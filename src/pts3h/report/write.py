"""From a model and items to a page on disk."""

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from ..data.items import ItemsLike, read_items
from ..data.known_pairs import KnownPairs
from ..errors import UserError
from ..util.files import write_text
from ..util.progress import Progress
from .coded import encode_for_page
from .distances import pair_distances
from .page import Findings, page
from .queries import chance_queries

if TYPE_CHECKING:  # torch is imported by whoever has a model
    from ..model.model import Model

MOST_QUERIES = 100


def write_report(
    model: "Model",
    items: ItemsLike,
    path: Path | str,
    *,
    known: KnownPairs | None = None,
    queries: int = 8,
    seed: int = 0,
    progress: Progress = None,
) -> None:
    """Write one HTML page by which a person can judge a model.

    Args:
        model: what is judged.
        items: what it is shown on, of any kind that ``encode`` takes.
        path: the page; what is there is replaced.
        known: what is known of which pair of the items, to compare with.
        queries: how many to show.
        seed: draws the queries and whatever else is a sample.
        progress: show bars; None asks whether standard error is a terminal.
    """
    if not 1 <= queries <= MOST_QUERIES:
        raise UserError(f"queries must be from 1 to {MOST_QUERIES}, got {queries}")
    if seed < 0:
        raise UserError(f"seed must be 0 or more, got {seed}")
    rng = np.random.default_rng(seed)
    coded = encode_for_page(model, read_items(items), known, rng, progress=progress)
    shown = chance_queries(coded, known, queries, rng)
    findings = Findings(coded, shown, pair_distances(coded, known, rng), seed)
    write_text(path, page(model, findings))
