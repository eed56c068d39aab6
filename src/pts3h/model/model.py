"""A trained model: from items to codes."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..codes import Codes, Layout, pack
from ..data.items import Items, ItemsLike, read_items
from ..errors import UserError
from ..settings.asked import Network
from ..settings.used import Used
from ..util.progress import Progress
from .runner import Outputs, Runner

if TYPE_CHECKING:  # torch is imported by whoever runs on it
    from .trained import Networks

Record = dict[str, float]


@dataclass(frozen=True)
class Encoded:
    """Codes of the items that could be read.

    Attributes:
        ids: of those items, in their order.
        codes: (n, bytes) packed, one row per id.
        skipped: reason by id, for pictures that could not be read.
        kept: positions of the items that have a code.
        layout: what the bits of the codes are.
    """

    ids: list[str]
    codes: Codes
    skipped: dict[str, str]
    kept: NDArray[np.int64]
    layout: Layout

    @property
    def bits(self) -> int:
        """Code length: learned bits and look bits."""
        return self.layout.bits

    @property
    def all_codes(self) -> Codes:
        """The codes, refused unless every item has one."""
        if self.skipped:
            count = len(self.skipped)
            raise UserError(
                f"{count} of {count + len(self.ids)} pictures cannot be read, so they have no code; "
                f"the first: {next(iter(self.skipped.values()))}"
            )
        return self.codes


@dataclass
class Model:
    """What makes codes, and what there is to say of it.

    Attributes:
        runner: turns items into real outputs, by torch or by onnxruntime.
        summary: what it was trained on, for the card.
        history: one record per step.
        asked: what the user asked for, by setting.
    """

    runner: Runner
    summary: dict[str, Any]
    history: list[Record]
    asked: Mapping[str, Any] = field(default_factory=dict)

    @property
    def used(self) -> Used:
        """The settings."""
        return self.runner.used

    @property
    def width(self) -> int:
        """Numbers in an input vector: the embeddings', or the backbone's features."""
        return self.runner.width

    @property
    def networks(self) -> "Networks":
        """Student, teacher, frozen backbone and look, in torch; refused where it is missing."""
        return self.runner.networks

    @property
    def bits(self) -> int:
        """Code length: learned bits and look bits."""
        return self.layout.bits

    @property
    def layout(self) -> Layout:
        """What the bits of its codes are."""
        return self.used.layout

    @property
    def fingerprint(self) -> str:
        """A short name of everything that shapes the codes; an index made with another is refused."""
        return self.runner.fingerprint

    def outputs(
        self, items: ItemsLike, *, network: Network = "teacher", progress: Progress = None
    ) -> tuple[NDArray[np.float32], dict[int, str]]:
        """(n, bits) real outputs of the learned part, and the reason by position for unreadable pictures."""
        outputs, broken = self._run(read_items(items), network, keep=True, progress=progress)
        return outputs[:, : self.layout.meaning], broken

    def encode(
        self,
        items: ItemsLike,
        *,
        network: Network = "teacher",
        keep: bool = True,
        progress: Progress = None,
    ) -> Encoded:
        """Packed codes of the items that can be read, and the reasons for the others.

        Args:
            items: what to encode.
            network: "teacher", or "student" for variant S.
            keep: keep the features of new pictures on disk. Off for those that will not be seen again.
            progress: show bars; None asks whether standard error is a terminal.
        """
        items = read_items(items)
        outputs, broken = self._run(items, network, keep=keep, progress=progress)
        kept: NDArray[np.int64] = np.delete(np.arange(len(items)), list(broken))
        codes = pack(outputs[kept])
        skipped = {items.ids[position]: reason for position, reason in broken.items()}
        return Encoded([items.ids[position] for position in kept.tolist()], codes, skipped, kept, self.layout)

    def _run(self, items: Items, network: Network, *, keep: bool, progress: Progress) -> Outputs:
        if network not in ("teacher", "student"):
            raise UserError(f"network must be 'teacher' or 'student', got {network!r}")
        self._check_kind(items)
        return self.runner.run(items, network, keep=keep, progress=progress)

    def _check_kind(self, items: Items) -> None:
        """Refuse vectors where pictures are encoded, and the reverse, and vectors of another width."""
        if items.images is not None:
            if not self.used.takes_pictures:
                raise UserError(
                    f"this model encodes vectors of {self.width} numbers, and these items are pictures"
                )
            return
        if self.used.takes_pictures:
            raise UserError("this model encodes pictures, and these items are vectors")
        width = np.asarray(items.content).shape[1]
        if width != self.width:
            raise UserError(f"this model encodes vectors of {self.width} numbers, these have {width}")
