"""What a worker does, whoever started it: it reads a part, encodes it, and writes its shard.

Plain Python without Ray or Spark, so that either can run it, or none.
"""

import json
import platform
import shutil
import tempfile
import weakref
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from ..errors import UserError
from ..exchange.items import Batch
from ..exchange.shards import MANIFEST, Manifest, write_shard
from ..model.described import CONFIG, HISTORY, ONNX, WEIGHTS
from ..model.folder import load_model
from ..model.model import Model
from ..model.replacing import current, read_together
from ..settings.asked import Network
from ..util.places import Place
from .parts import Part
from .reading import read_part

SHIPPED = (WEIGHTS, ONNX, HISTORY, CONFIG)  # what a model needs to be loaded

Packed = Mapping[str, bytes]


def pack_model(folder: Path) -> Packed:
    """The files of a model, for workers on machines that do not see its folder."""

    def read() -> Packed:
        places = {name: current(folder, name) for name in SHIPPED}
        return {name: place.read_bytes() for name, place in places.items() if place.is_file()}

    return read_together(folder, SHIPPED, read)


def unpack_model(packed: Packed) -> Model:
    """The model again. It may look into its folder later, so that this stays as long as the model."""
    folder = tempfile.mkdtemp(prefix="pts3h-model-")
    try:
        for name, content in packed.items():
            Path(folder, Path(name).name).write_bytes(content)
        model = load_model(folder)
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    weakref.finalize(model, shutil.rmtree, folder, ignore_errors=True)
    return model


@dataclass(frozen=True)
class Done:
    """What became of a part.

    Attributes:
        part: its number.
        items: how many codes its shard holds.
        skipped: reason by id, for pictures that could not be read.
        failed: why there is no shard; empty if there is one.
    """

    part: int
    items: int = 0
    skipped: Mapping[str, str] = field(default_factory=dict)
    failed: str = ""

    def to_json(self) -> str:
        """Text, for whatever carries it back."""
        return json.dumps(asdict(self))

    @classmethod
    def from_json(cls, text: str) -> "Done":
        """What :meth:`to_json` wrote."""
        return cls(**json.loads(text))


class Worker:
    """Encodes parts into a folder of shards. Its model is loaded once.

    Args:
        packed: the model; see :func:`pack_model`.
        out: address of the folder, where the manifest is.
        network: which network makes the codes.
    """

    def __init__(self, packed: Packed, out: str, network: Network = "teacher") -> None:
        self.model, self.network = unpack_model(packed), network
        self.folder = Place(out)
        manifest = Manifest.read(self.folder)
        if manifest is None:
            raise UserError(
                f"there is no {MANIFEST} in {out} on {platform.node()}: --out must be a folder that all "
                "machines share, or an address such as s3://bucket/codes"
            )
        if manifest.made_by != made_by(self.model, network):
            raise UserError(f"the manifest in {out} is of another model: choose another --out")
        self.manifest = manifest

    def encode(self, part: Part) -> Done:
        """Write the shard of a part; what is wrong with it is told, not raised: the other parts go on."""
        try:
            return self._encode(part)
        except UserError as error:
            return Done(part.number, failed=str(error))

    def _encode(self, part: Part) -> Done:
        batches, skipped, seen = list[Batch](), dict[str, str](), set[Any]()
        for some in read_part(part):
            if repeated := _repeated(some.ids, seen):
                raise UserError(f"the id {repeated[0]!r} is twice in {Place(part.source)}: ids must differ")
            if not some.ids:
                continue
            encoded = self.model.encode(some.items, network=self.network, keep=False, progress=False)
            kept = encoded.kept.tolist()
            meta = None if some.meta is None else [some.meta[place] for place in kept]
            batches.append(Batch([some.ids[place] for place in kept], encoded.codes, meta))
            skipped |= encoded.skipped
        if part.count is not None and part.count != sum(len(one.ids) for one in batches) + len(skipped):
            raise UserError(f"{Place(part.source)} has changed since the parts were counted: run again")
        shard = write_shard(self.folder, self.manifest, part.number, batches, skipped)
        return Done(part.number, shard.items, skipped)


def _repeated(ids: Any, seen: set[Any]) -> list[Any]:
    """Ids that were seen before; they all are now."""
    repeated = []
    for one in ids:
        if one in seen:
            repeated.append(one)
        seen.add(one)
    return repeated


def made_by(model: Model, network: Network) -> str:
    """Names what makes the codes."""
    return f"{network} of model {model.fingerprint}"
