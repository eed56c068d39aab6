"""One run: divide the items, encode the parts that have no shard yet, and look that all shards are there."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from ..codes import Layout
from ..errors import UserError
from ..exchange.about import About
from ..exchange.shards import Manifest, begin_or_resume, done_shards
from ..indexing import remember_model
from ..model.folder import load_model
from ..model.model import Model
from ..settings.asked import Network
from ..util.places import Place
from ..util.progress import Progress, bar
from .parts import PART, Division, Part, divide
from .tables import Columns
from .worker import Done, Packed, Worker, made_by, pack_model

HERE = "here"


@dataclass(frozen=True)
class Task:
    """What every worker is told, besides its parts."""

    packed: Packed
    out: str
    network: Network


# encodes parts somewhere; yields what became of each, in any order, some of them maybe twice
Run = Callable[[Task, Sequence[Part]], Iterator[Done]]


@dataclass(frozen=True)
class Spread:
    """What a run did.

    Attributes:
        layout: what the bits of the codes are.
        items: how many codes the folder holds.
        encoded: how many of them were made by this run.
        shards: how many shards there are.
        skipped: reason by id, for pictures that could not be read.
    """

    layout: Layout
    items: int
    encoded: int
    shards: int
    skipped: dict[str, str]


def here(task: Task, parts: Sequence[Part]) -> Iterator[Done]:
    """Encode the parts in this process, one after the other."""
    worker = Worker(task.packed, task.out, task.network)
    return (worker.encode(part) for part in parts)


def encode_on(
    where: str,
    model: Path | str,
    items: Path | str,
    out: Path | str,
    *,
    network: Network = "teacher",
    root: Path | None = None,
    size: int = PART,
    columns: Columns | None = None,
    workers: int | None = None,
    progress: Progress = None,
) -> Spread:
    """Encode items into a folder of Parquet shards; run again, only what is missing is encoded.

    Args:
        where: "here", "ray", "ray:auto" or ``ray://host:port``; see :mod:`.on_ray`.
        model: folder of the model.
        items: see :func:`.parts.divide`.
        out: the folder, which all machines share, or its address.
        network: which network makes the codes.
        root: where relative paths of a CSV or list file start.
        size: items of a part.
        columns: names of columns of Parquet files.
        workers: how many work at once; by default, as many as there is room for.
        progress: show a bar; None asks whether standard error is a terminal.
    """
    run = runner(where, workers)
    loaded, division = load_model(model), divide(items, root=root, size=size, columns=columns)
    _check_kind(loaded, division)
    folder = Place(out).absolute()
    manifest = manifest_of(loaded, network, division)
    before = begin_or_resume(manifest, folder)
    todo = [part for part in division.parts if part.number not in before]
    if todo:
        encode_parts(run, Task(pack_model(Path(model)), folder.address, network), todo, progress)
    shards = done_shards(folder, manifest)
    if missing := len(division.parts) - len(shards):
        raise UserError(f"{missing:,} of {len(division.parts):,} shards are missing in {folder}: run again")
    skipped = {one: why for _, shard in sorted(shards.items()) for one, why in shard.skipped.items()}
    items_done = sum(shard.items for shard in shards.values())
    if not items_done and skipped:
        raise UserError(
            f"none of the {len(skipped)} pictures can be read, the first: {next(iter(skipped.values()))}"
        )
    remember_model(loaded, Path(model))
    encoded = items_done - sum(shard.items for shard in before.values())
    return Spread(loaded.layout, items_done, encoded, len(shards), skipped)


def runner(where: str, workers: int | None = None) -> Run:
    """What ``--on`` stands for."""
    if where == HERE:
        if workers not in (None, 1):
            raise UserError("'here' is one worker, this process: leave --workers out, or say --on ray")
        return here
    if where in ("ray", "ray:auto") or where.startswith("ray://"):
        from .on_ray import on_ray

        return on_ray(where, workers)
    raise UserError(f"cannot encode on {where!r}: it is here, ray, ray:auto or ray://host:port")


def manifest_of(model: Model, network: Network, division: Division) -> Manifest:
    """What the folder will hold."""
    fingerprint = (
        model.fingerprint if network == "teacher" else None
    )  # it stands for the codes of the teacher
    about = About(model.layout, fingerprint, division.ids)
    return Manifest(about, made_by(model, network), tuple(part.stamp for part in division.parts))


def encode_parts(run: Run, task: Task, parts: Sequence[Part], progress: Progress) -> None:
    """Encode parts; those that cannot be are named in the end, when all others are done."""
    failed: dict[int, str] = {}
    with bar("encoding", len(parts), unit="parts", progress=progress) as advance:
        for done in run(task, parts):
            if done.failed:
                failed[done.part] = done.failed
            advance(1)
    if failed:
        first = failed[min(failed)]
        raise UserError(
            first
            if len(failed) == len(parts) == 1
            else f"{first} ({len(failed):,} of {len(parts):,} parts cannot be encoded; the others are done)"
        )


def _check_kind(model: Model, division: Division) -> None:
    """Refuse pictures for a model of vectors before there is a folder; of a table, a worker will say it."""
    pictures = all(part.kind in ("files", "tar") for part in division.parts)
    if pictures and not model.used.takes_pictures:
        raise UserError(f"this model encodes vectors of {model.width} numbers, and these items are pictures")
