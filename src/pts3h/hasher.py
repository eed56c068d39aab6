"""Hasher: fit, encode, save, load. The library in one class."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .codes import Codes, pack
from .data.items import read_items
from .errors import UserError
from .model.model import Model, load_model
from .settings import Config, Network
from .training.loop import Record
from .training.output_folder import claim_folder, is_unfinished
from .training.preparation import read_supervision
from .training.stages import Fitting, Validation
from .training.tensorboard import watcher
from .training.tuning import Trial


class Hasher:
    """Learns binary codes from items and a few known pairs.

    Every setting is a keyword, see :class:`pts3h.settings.Config`::

        hasher = Hasher(bits=64, loss="dsh", seed=0)
        hasher.fit("photos/", pairs="pairs.csv")
        codes = hasher.encode("photos/")
        hasher.save("model/")

    Attributes:
        config: the settings; after ``fit`` with every default filled in.
        history: named losses, thr, learning rate and omega of every step.
        skipped: reason by id, for pictures that could not be read in ``fit``.
        trials: what validation tried, and how each combination did.
    """

    def __init__(self, **settings: Any) -> None:
        self.config = Config.from_keywords(settings)
        self.skipped: dict[str, str] = {}
        self.trials: list[Trial] = []
        self._model: Model | None = None

    def fit(
        self,
        items: Any,
        *,
        pairs: Any = None,
        labels: Any = None,
        unlabelled: ArrayLike | None = None,
        validation: float | None = None,
        grid: Mapping[str, Sequence[float]] | None = None,
        out: Path | str | None = None,
        resume: bool = False,
        overwrite: bool = False,
        tensorboard: Path | str | None = None,
        progress: bool | None = None,
    ) -> "Hasher":
        """Learn from items of which a few pairs are known.

        Args:
            items: a folder, list of paths, ``.npy``, CSV or list file, array of images or embeddings (n, d).
            pairs: CSV path, or array (m, 3) of a, b, similar with positions into items.
            labels: instead of pairs: one an item, -1 where unknown; or 0/1 rows, all -1 where unknown; a CSV
                of id,label; or "folder" for class folders.
            unlabelled: positions of the items to use without labels; by default all in no known pair.
            validation: share of the labelled items to hold out for choosing among ``grid``; then all are
                trained on.
            grid: values to try by setting, such as ``{"omega": [0.3, 0.6]}``.
            out: folder for checkpoints while training and for the model afterwards.
            resume: go on with an unfinished run in ``out``.
            overwrite: replace what is in ``out``.
            tensorboard: folder for TensorBoard's event files, written while training.
            progress: draw bars; None asks whether standard error is a terminal.
        """
        items = read_items(items)
        images = items.images
        known = read_supervision(items, pairs, labels)
        config = self.config.resolved(
            images=images is not None,
            side=images.typical_side() if images else 0,
            count=len(items),
            labelled=len(known.labelled),
        )
        folder = None if out is None else claim_folder(Path(out), resume=resume, overwrite=overwrite)
        with watcher(tensorboard) as watch:
            fitting = Fitting(
                config,
                items,
                known,
                unlabelled,
                folder,
                resume and folder is not None and is_unfinished(folder),
                Validation(validation, grid),
                progress,
                watch,
            )
            self._model = fitting.model()
        self.config, self.trials = self._model.config, fitting.trials
        self.skipped = {items.ids[position]: reason for position, reason in sorted(fitting.broken.items())}
        if folder is not None:
            self.save(folder, overwrite=True)
        return self

    def encode(self, items: Any, *, network: Network = "teacher", progress: bool | None = None) -> Codes:
        """Packed codes (n, ceil(bits / 8)) of items of any kind that ``fit`` takes.

        Args:
            items: what to code.
            network: "teacher", or "student" for variant S.
            progress: draw bars; None asks whether standard error is a terminal.
        """
        outputs, broken = self.outputs(items, network=network, progress=progress)
        if broken:
            raise UserError(
                f"{len(broken)} of {len(outputs)} pictures cannot be read, so they have no code; "
                f"the first: {broken[min(broken)]}"
            )
        return pack(outputs)

    def outputs(
        self, items: Any, *, network: Network = "teacher", progress: bool | None = None
    ) -> tuple[NDArray[np.float32], dict[int, str]]:
        """Real outputs (n, bits), and the reason by position for pictures that cannot be read."""
        return self.model.outputs(read_items(items), network=network, show=progress)

    @property
    def model(self) -> Model:
        """The trained networks."""
        if self._model is None:
            raise UserError("this hasher is not trained: call fit, or Hasher.load a model folder")
        return self._model

    @property
    def bits(self) -> int:
        """Code length."""
        return self.config.bits

    @property
    def history(self) -> list[Record]:
        """Named losses, thr, learning rate and omega of every step."""
        return self.model.history

    @property
    def fingerprint(self) -> str:
        """A short name of the model; codes of models with different names do not compare."""
        return self.model.fingerprint()

    def save(self, folder: Path | str, *, overwrite: bool = False) -> None:
        """Write the model as a folder; see :mod:`pts3h.model.model`."""
        self.model.save(Path(folder), overwrite=overwrite)

    @classmethod
    def load(cls, folder: Path | str) -> "Hasher":
        """Read a model folder."""
        hasher = cls()
        hasher._model = load_model(Path(folder))
        hasher.config = hasher._model.config
        return hasher
