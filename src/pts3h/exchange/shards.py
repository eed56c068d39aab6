"""Codes as a folder of Parquet shards, one for each part of the items, and a manifest of the parts.

A shard is a table as :mod:`.parquet` writes it. In the metadata of its file it also says of which part it is
made, and which pictures of it could not be read. So a shard is done or not by what it says itself: who writes
it again replaces it, and whoever looks at the folder sees which parts are missing.
"""

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

from ..errors import UserError
from ..util.files import text_writer
from ..util.places import Place
from ..util.sealed import sealed, unsealed
from .about import About
from .items import Batch, Incoming, Outgoing, arriving
from .parquet import KIND, arrow_and_parquet, parquet_writer, read_parquet
from .unreadable import refused_as

MANIFEST = "manifest.json"
FORMAT = 1
KEY = b"pts3h.part"  # in the metadata of a shard
READERS = 16  # shards whose metadata is read at once: mostly it waits for a store


@dataclass(frozen=True)
class Manifest:
    """What a folder of shards holds when it is whole.

    Attributes:
        about: what the codes are.
        made_by: the model and which of its networks, also where ``about`` names no model.
        stamps: of each part, what changes whenever its items do.
    """

    about: About
    made_by: str
    stamps: tuple[str, ...]

    def to_json(self) -> str:
        """Text for the file."""
        about = json.loads(self.about.to_json())
        facts = {"format": FORMAT, "about": about, "made_by": self.made_by, "parts": list(self.stamps)}
        return json.dumps(sealed(facts), indent=0) + "\n"

    def write(self, folder: Place) -> None:
        """Into the folder."""
        (folder / MANIFEST).write(text_writer(self.to_json()))

    @classmethod
    def read(cls, folder: Place) -> "Manifest | None":
        """The one of a folder; None if it has none."""
        place = folder / MANIFEST
        if not place.is_file():
            return None
        try:
            facts = unsealed(json.loads(place.read()))
            if facts["format"] != FORMAT:
                raise ValueError(f"it is of format {facts['format']}, and {FORMAT} is read")
            about = About.from_json(json.dumps(facts["about"]), str(place))
            return cls(about, str(facts["made_by"]), tuple(map(str, facts["parts"])))
        except (ValueError, KeyError, TypeError, RecursionError) as error:
            raise UserError(f"{place} cannot be read as a manifest of shards: {error}") from error

    def seal_of(self, number: int) -> str:
        """What the shard of a part says if it is made of this part, by this model."""
        about = self.about.to_json()
        made_of = json.dumps([about, self.made_by, number, self.stamps[number]])
        return hashlib.sha256(made_of.encode()).hexdigest()[:32]


@dataclass(frozen=True)
class Shard:
    """What a shard says of itself.

    Attributes:
        items: how many codes it holds.
        skipped: reason by id, for pictures that could not be read.
    """

    items: int
    skipped: Mapping[str, str] = field(default_factory=dict)


def shard_name(number: int) -> str:
    """The file of a part, by its number alone."""
    return f"part-{number:06}.parquet"


def write_shard(
    folder: Place, manifest: Manifest, number: int, batches: Sequence[Batch], skipped: Mapping[str, str]
) -> Shard:
    """Write the codes of one part, whole; what was there is replaced."""
    said = json.dumps(sealed({"seal": manifest.seal_of(number), "skipped": dict(skipped)}))
    (folder / shard_name(number)).write(parquet_writer(Outgoing(manifest.about, batches), {KEY: said}))
    return Shard(sum(len(batch.ids) for batch in batches), skipped)


def done_shards(folder: Place, manifest: Manifest) -> dict[int, Shard]:
    """The shards that are there and whole, of these very parts."""
    there = {one.name for one in folder.files()} if folder.is_folder() else set[str]()
    numbers = [number for number in range(len(manifest.stamps)) if shard_name(number) in there]
    with ThreadPoolExecutor(READERS) as readers:
        shards = readers.map(lambda number: _read_shard(folder, manifest, number), numbers)
        return {number: shard for number, shard in zip(numbers, shards, strict=True) if shard is not None}


def _read_shard(folder: Place, manifest: Manifest, number: int) -> Shard | None:
    """None if it is of something else, or cut short."""
    arrow, parquet = arrow_and_parquet()
    with (folder / shard_name(number)).open() as file:
        try:
            footer = parquet.read_metadata(file)
            said = unsealed(json.loads((footer.metadata or {})[KEY]))
            ours = said["seal"] == manifest.seal_of(number)
            return Shard(footer.num_rows, dict(said["skipped"])) if ours else None
        except (arrow.ArrowException, ValueError, KeyError, TypeError, RecursionError):
            return None


def read_shards(folder: Place) -> Incoming:
    """All codes of a folder, refused unless every part is there."""
    manifest = Manifest.read(folder)
    if manifest is None:
        raise UserError(f"{folder} has no {MANIFEST}: give the folder that pts3h encode --on wrote")
    done = done_shards(folder, manifest)
    if missing := [number for number in range(len(manifest.stamps)) if number not in done]:
        raise UserError(
            f"{len(missing):,} of {len(manifest.stamps):,} shards are missing in {folder}, the first is "
            f"{shard_name(missing[0])}: run the same pts3h encode again, it goes on where it was"
        )
    count = sum(shard.items for shard in done.values())
    return Incoming(count, _batches(folder, manifest), manifest.about)


def _batches(folder: Place, manifest: Manifest) -> Iterator[Batch]:
    arrow, _ = arrow_and_parquet()
    for number in range(len(manifest.stamps)):
        place = folder / shard_name(number)
        with place.open() as file, refused_as(str(place), KIND, arrow.ArrowException, OSError):
            yield from arriving(read_parquet(str(place), file), str(place))


def begin_or_resume(manifest: Manifest, folder: Place) -> dict[int, Shard]:
    """Begin a folder, or go on with one; return what is done. What other models or items made is refused."""
    before = Manifest.read(folder)
    if before is None:
        if folder.is_folder() and folder.files():
            raise UserError(f"{folder} is not empty, and no folder of shards: choose another --out")
        manifest.write(folder)
        return {}
    if (before.made_by, before.about) != (manifest.made_by, manifest.about):
        raise UserError(
            f"{folder} holds codes of {before.about.layout} by the {before.made_by}, not of "
            f"{manifest.about.layout} by the {manifest.made_by}: choose another --out"
        )
    done = done_shards(folder, before)
    if len(before.stamps) != len(manifest.stamps) or any(
        before.stamps[number] != manifest.stamps[number] for number in done
    ):
        raise UserError(
            f"{folder} was begun with other items, or some of them have changed since, or they were divided "
            "otherwise: choose another --out"
        )
    if before != manifest:  # what was not encoded yet may have been mended
        manifest.write(folder)
    return done
