"""What a job does: train on the answers, encode everything anew, compare with what is in use."""

import time
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from ..codes import pack
from ..data.items import Items
from ..errors import UserError
from ..hasher import Hasher
from ..index.contract import Index
from ..index.engines import open_index
from ..indexing import index_items
from ..model.folder import load_model
from ..teaching.answers import Answers
from ..teaching.judging import gain, judge
from ..teaching.lesson import lesson
from ..teaching.standing import Standing
from ..training.loop import Outputs
from ..util.files import write_json
from .journal import Journal
from .request import RESULT, Request
from .sources import new_index, pictures_of
from .steps import lesson_settings
from .telling import Teller
from .vectors import as_vectors, keep_outputs

COMPARED = 8  # chance queries
SHOWN = 8  # hits of each


def retrain(request: Request, folder: Path, journal: Journal) -> None:
    """From answers to a model and an index that are ready to be used."""
    with open_index(request.index, read_only=True) as index, Answers(request.answers) as answers:
        standing = answers.standing()
        items, meta = pictures_of(index)
        learned = lesson(standing, items.ids, transitive=request.transitive)
        if not learned.arguments:
            raise UserError("there is too little to learn from: answer some more questions")
        trained_on = {"answers": standing.counts().answers, "items": learned.items, "pairs": learned.pairs}
        journal.write("state", state="features", trained_on=trained_on)
        teller = Teller(journal, "features")
        held_out = HeldOut(standing, items, transitive=request.transitive)
        hasher = Hasher.load(request.model)
        by_labels = "labels" in learned.arguments
        hasher.settings = lesson_settings(hasher.settings, len(items), labels=by_labels)
        hasher.fit(
            items,
            labels=learned.arguments.get("labels"),
            pairs=learned.arguments.get("pairs"),
            out=request.new_model,
            overwrite=True,
            watch=teller.watch,
            judge=held_out.judge,
            progress=teller.listen,
        )
        journal.write("state", state="comparing")
        with new_index(hasher.model, request.new_index) as fresh:
            index_items(hasher.model, items, fresh, meta=meta, progress=teller.listen)
            keep_outputs(hasher.model, items, Path(request.new_model).parent)
            result = compared(standing, index, fresh, request)
        write_json(folder / RESULT, result)
        journal.write("state", state="ready", figures=result["figures"])


def update(request: Request, journal: Journal) -> None:
    """Bring the new index in step with what came into the old one, or left it, since it was made."""
    with open_index(request.index, read_only=True) as index:
        items, meta = pictures_of(index)
        model = load_model(request.new_model)
        with new_index(model, request.new_index) as fresh:
            index_items(
                model, items, fresh, meta=meta, prune=True, progress=Teller(journal, "switching").listen
            )
    journal.write("progress", phase="indexed")


class HeldOut:
    """Judges a run by the answers that were kept back."""

    def __init__(self, standing: Standing, items: Items, *, transitive: bool) -> None:
        spoken = {*standing.places, *(name for pair in standing.pairs for name in pair)}
        places = [place for place, name in enumerate(items.ids) if name in spoken]
        self.names, self.places = [items.ids[place] for place in places], np.array(places, np.int64)
        self.standing, self.transitive = standing, transitive

    def judge(self, outputs: Outputs) -> Mapping[str, float]:
        """The area under the ROC by the codes at this point."""
        codes = pack(outputs(self.places))
        figures = judge(self.standing, dict(zip(self.names, codes, strict=True)), transitive=self.transitive)
        return {} if figures is None else {"held_out": round(figures.auc, 4)}


def compared(standing: Standing, old: Index, new: Index, request: Request) -> dict[str, Any]:
    """Figures on what was kept back, and what the same chance queries find, before and after."""
    names = sorted({*standing.places, *(name for pair in standing.pairs for name in pair)})
    before, after = (
        judge(standing, rows_of(index, names), transitive=request.transitive) for index in (old, new)
    )
    figures: dict[str, Any] | None = None
    if before is not None and after is not None:
        better, error = gain(before, after)
        figures = {
            "before": before.to_json(),
            "after": after.to_json(),
            "gain": round(better, 4),
            "error": round(error, 4),
        }
    ids = sorted(str(one) for some, _ in new.scan() for one in some)
    rng = np.random.default_rng(request.number)
    chosen = [ids[place] for place in sorted(rng.choice(len(ids), min(COMPARED, len(ids)), replace=False))]
    queries = [{"id": name, "before": nearest(old, name), "after": nearest(new, name)} for name in chosen]
    return {"figures": figures, "queries": queries, "made": round(time.time(), 3)}


def rows_of(index: Index, names: Iterable[str]) -> dict[str, Any]:
    """Vectors of some items, whose cosines say what distances say."""
    held = [item for item in index.get(keys(index, names)) if item is not None]
    if not held:
        return {}
    vectors = as_vectors(np.stack([item.code for item in held]), index.layout)
    return {str(item.id): row for item, row in zip(held, vectors, strict=True)}


def nearest(index: Index, name: str) -> list[dict[str, Any]]:
    """What an item finds, besides itself."""
    (item,) = index.get(keys(index, [name]))
    if item is None:
        return []
    (hits,) = index.search(item.code, SHOWN + 1)
    others = [(str(one), far) for one, far in hits if str(one) != name]
    return [{"id": one, "distance": far} for one, far in others[:SHOWN]]


def keys(index: Index, names: Iterable[str]) -> list[Any]:
    """The ids by which an index knows these items."""
    first = next((ids for ids, _ in index.scan(1)), [""])
    return [int(name) for name in names] if isinstance(first[0], int) else list(names)
