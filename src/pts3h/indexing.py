"""Models meet indexes: keep an index in step with a collection, and search with a query's content.

An item's metadata keeps a stamp of its content, so that a second run codes only what is new or changed, and
a run that was stopped goes on where it was.
"""

import hashlib
import json
import re
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from .codes import By
from .data.images import ImageFiles, Positions
from .data.items import Items, read_rows
from .errors import SkippedWarning, UserError
from .index import Hits, Index
from .util.addresses import shown_address
from .util.files import cache_folder, state_of, valid_text, write_text
from .util.progress import Progress, bar

if TYPE_CHECKING:
    from .model.model import Model

BATCH = 512
USUAL = 10  # hits, if nobody says how many
STAMP, PATH = "_stamp", "_path"
FINGERPRINT = re.compile(r"[0-9a-f]{8,128}")  # hexadecimal digits


@dataclass
class Indexed:
    """What a run did, in numbers of items."""

    added: int = 0
    changed: int = 0
    unchanged: int = 0
    removed: int = 0
    skipped: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Answer:
    """What one query found.

    Attributes:
        query: name of the query.
        path: the query's file, where it has one.
        hits: ids and distances.
        meta: metadata of each hit.
    """

    query: str
    path: Path | None
    hits: Hits
    meta: list[dict[str, Any]]


def index_items(
    model: "Model",
    items: Items,
    index: Index,
    *,
    prune: bool = False,
    meta: Mapping[str, Mapping[str, Any]] | None = None,
    progress: Progress = None,
) -> Indexed:
    """Bring ``index`` up to date with ``items``: encode and add what is new or changed.

    Args:
        model: makes the codes.
        items: the whole collection.
        index: where the codes go; made with the same model.
        prune: remove what is in the index but not among the items.
        meta: metadata by item id; a change of it counts as a change of the item.
        progress: show a bar; None asks whether standard error is a terminal.
    """
    check_same_bits(model, index)
    refuse_reserved(meta or {})
    if meta is not None and (unknown := sorted(set(meta) - set(items.ids))):
        raise UserError(f"the metadata names {unknown[0]!r}, which is not among the {len(items)} items")
    done = Indexed()
    with bar("indexing", len(items), unit="items", progress=progress) as advance:
        for positions in batches(len(items)):
            ids = [items.ids[position] for position in positions]
            wanted = [
                describe(items, int(p), (meta or {}).get(name))
                for p, name in zip(positions, ids, strict=True)
            ]
            held = index.get(ids)
            todo = [place for place, item in enumerate(held) if item is None or item.meta != wanted[place]]
            skipped: dict[str, str] = {}
            if todo:
                skipped = add_batch(model, items, index, positions[todo], [wanted[place] for place in todo])
                done.skipped |= skipped
            written = [place for place in todo if ids[place] not in skipped]
            added = sum(held[place] is None for place in written)
            done.added += added
            done.changed += len(written) - added
            done.removed += sum(held[place] is not None for place in todo if ids[place] in skipped)
            done.unchanged += len(ids) - len(todo)
            advance(len(ids))
    if prune:
        done.removed += remove_vanished(index, set(items.ids) - set(done.skipped))
    if done.skipped:
        first = next(iter(done.skipped.values()))
        warnings.warn(
            f"{len(done.skipped)} of {len(items)} pictures cannot be read and are skipped: {first}",
            SkippedWarning,
            stacklevel=2,
        )
    return done


def check_same_bits(model: "Model", index: Index) -> None:
    """Raise if the codes of a model mean something else than those of an index, even if they are as long."""
    made, held = model.layout, index.layout
    if (made.meaning, made.look) != (held.meaning, held.look):
        raise UserError(
            f"the model makes codes of {made}, the index holds codes of {held}: use the model that made it"
        )


def batches(count: int) -> Iterator[Positions]:
    """All positions, a batch at a time."""
    for start in range(0, count, BATCH):
        yield np.arange(start, min(start + BATCH, count))


def describe(items: Items, position: int, meta: Mapping[str, Any] | None) -> dict[str, Any]:
    """The metadata that is kept with an item: the user's, its path, and a stamp of its content."""
    content = items.content
    if isinstance(content, ImageFiles):
        path = content.paths[position]
        return {**(meta or {}), PATH: valid_text(str(path.absolute())), STAMP: file_stamp(path) or "missing"}
    row = content[position] if isinstance(content, np.ndarray) else content.pixels[position]
    return {**(meta or {}), STAMP: hashlib.sha256(np.ascontiguousarray(row).tobytes()).hexdigest()[:16]}


def file_stamp(path: Path) -> str | None:
    """What changes with a file; None if it cannot be reached."""
    state = state_of(path)
    return None if state is None else f"{state.st_size}-{state.st_mtime_ns}"


def picture_of(meta: Mapping[str, Any]) -> Path | None:
    """Where an item's picture lies, if it still is what was indexed.

    Whoever may write to an index may name any file of this machine in its metadata. So a path is believed
    only beside the stamp of that very file, which nobody knows who has not seen it.
    """
    path, stamp = meta.get(PATH), meta.get(STAMP)
    if not isinstance(path, str) or stamp is None or stamp != file_stamp(Path(path)):
        return None
    return Path(path)


def refuse_reserved(meta: Mapping[str, Mapping[str, Any]]) -> None:
    """A user's metadata cannot take the names under which we keep our own."""
    for name, values in meta.items():
        if taken := {STAMP, PATH} & set(values):
            raise UserError(
                f"the metadata of {name!r} has {min(taken)!r}, a name that is kept for the index itself: "
                "call it something else"
            )


def add_batch(
    model: "Model", items: Items, index: Index, positions: Positions, meta: Sequence[dict[str, Any]]
) -> dict[str, str]:
    """Encode some items and add them; those that cannot be read are taken out if they were in, and named."""
    encoded = model.encode(items.subset(positions), progress=False)
    if encoded.ids:
        index.add(encoded.ids, encoded.codes, meta=[meta[place] for place in encoded.kept])
    if encoded.skipped:
        index.remove(list(encoded.skipped))
    return encoded.skipped


def remove_vanished(index: Index, present: set[str]) -> int:
    """Take out of the index what is not ``present``."""
    vanished = [name for ids, _ in index.scan() for name in ids if name not in present]
    if vanished:
        index.remove(vanished)
    return len(vanished)


def find(
    model: "Model",
    items: Items,
    index: Index,
    *,
    k: int | None = None,
    radius: int | None = None,
    where: Mapping[str, Any] | None = None,
    by: By = "both",
) -> list[Answer]:
    """Search with items as queries: the ``k`` nearest, or what is within ``radius``, by these bits.

    Without either, ten; with both, the nearest within the radius.
    """
    check_same_bits(model, index)
    encoded = model.encode(items)
    if not encoded.ids:
        raise UserError(f"no query can be read: {next(iter(encoded.skipped.values()))}")
    for reason in encoded.skipped.values():
        warnings.warn(f"a query cannot be read: {reason}", SkippedWarning, stacklevel=2)
    if radius is not None and k is None:
        found = index.within(encoded.codes, radius, where=where, by=by)
    else:
        found = index.search(encoded.codes, USUAL if k is None else k, where, by=by, radius=radius)
    paths = items.paths
    answers = []
    for place, hits in zip(encoded.kept, found, strict=True):
        held = index.get(hits.ids)
        meta = [{} if item is None else item.meta for item in held]
        answers.append(Answer(items.ids[place], paths[place] if paths else None, hits, meta))
    return answers


def visible(meta: Mapping[str, Any]) -> dict[str, Any]:
    """The user's part of an item's metadata."""
    return {name: value for name, value in meta.items() if name not in (STAMP, PATH)}


def read_meta(path: Path) -> dict[str, dict[str, Any]]:
    """Metadata by id from a CSV with an ``id`` column; numbers and true/false are understood as such."""
    rows = read_rows(path)
    header = [name.strip() for name in rows[0]] if rows else []
    if "id" not in header:
        raise UserError(f"{path} needs a header with an 'id' column, and one column a kind of metadata")
    table: dict[str, dict[str, Any]] = {}
    for number, row in enumerate(rows[1:], start=2):
        if len(row) != len(header):
            raise UserError(f"{path} row {number} has {len(row)} columns, the header has {len(header)}")
        texts = {name: cell.strip() for name, cell in zip(header, row, strict=True)}
        one = texts.pop("id")
        if not one or one in table:
            raise UserError(f"{path} row {number} has {f'the id {one!r} a second time' if one else 'no id'}")
        table[one] = {name: plain_value(text) for name, text in texts.items() if text}
    return table


def plain_value(text: str) -> Any:
    """A cell as number, boolean or text."""
    try:
        value = json.loads(text.lower() if text.lower() in ("true", "false") else text)
    except (ValueError, RecursionError):  # brackets without end
        return text
    return value if isinstance(value, (int, float, bool)) else text


def remember_model(model: "Model", folder: Path) -> None:
    """Note where a model lies, so that searching its indexes needs no second mention of it."""
    write_text(cache_folder("models") / f"{model.fingerprint}.txt", str(folder.absolute()))


def recall_model(fingerprint: str | None, address: str) -> Path:
    """Where the model of an index lies. An index may call its model anything; only digits name a file."""
    if fingerprint is not None and FINGERPRINT.fullmatch(fingerprint):
        note = cache_folder("models") / f"{fingerprint}.txt"
        if note.is_file() and (folder := Path(note.read_text())).is_dir():
            return folder
    shown = shown_address(address)
    raise UserError(f"the model that made {shown} is not known here: name its folder with --model")
