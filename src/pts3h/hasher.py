"""Hasher: fit, encode, save, load. The library in one class."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from numpy.typing import ArrayLike

from .codes import Codes
from .data.items import ItemsLike, read_items
from .data.known_pairs import PairList
from .data.pair_files import read_supervision
from .data.training_set import TrainingSet, unlabelled_pool
from .errors import UserError
from .losses.table import LOSSES, Loss, Reading
from .model.folder import load_model, save_model
from .model.model import Model, Record
from .model.runner import Outputs
from .nets.backbones.table import BackboneRow
from .settings.asked import Network, Optimizer, Precision, Settings, check_names
from .settings.defaults import LOOK_BITS
from .settings.resolve import resolve
from .settings.used import Used
from .util.extras import require
from .util.progress import Progress

if TYPE_CHECKING:  # training needs torch, encoding may do without
    from .training.loop import Judge, Watcher
    from .training.tuning import Trial


class Hasher:
    """Learns binary codes from items and a few known pairs::

        hasher = Hasher(bits=64, loss="dsh", seed=0)
        hasher.fit("photos/", pairs="pairs.csv")
        codes = hasher.encode("photos/")
        hasher.save("model/")

    Attributes:
        settings: what was asked for; ``fit`` leaves it alone.
        skipped: reason by id, for pictures that could not be read in ``fit``.
        trials: what validation tried, and how each combination did.
    """

    def __init__(
        self,
        *,
        bits: int = 64,
        look_bits: int | None = None,
        loss: str | Loss = "dsh",
        seed: int = 0,
        omega: float | None = None,
        gamma: float | None = None,
        eta: float | None = None,
        consistency: bool | None = None,
        alpha: float | None = None,
        similar_share: float | None = None,
        neighbours: float | None = None,
        fade: float | None = None,
        classes: float | None = None,
        pseudo: Reading = "auto",
        divide: bool | None = None,
        labelled_per_batch: int | None = None,
        unlabelled_per_batch: int | None = None,
        steps: int | None = None,
        epochs: float | None = None,
        optimizer: Optimizer = "auto",
        learning_rate: float | None = None,
        backbone_rate: float | None = None,
        momentum: float | None = None,
        weight_decay: float | None = None,
        clip: float | None = None,
        warmup: float | None = None,
        lead: float | None = None,
        ramp: float | None = None,
        backbone: str | BackboneRow = "auto",
        weights: str | None = None,
        freeze: bool | None = None,
        warm_start: bool | None = None,
        fixed_blocks: int | None = None,
        fixed_norm: bool | None = None,
        hidden: int | None = None,
        dropout: float | None = None,
        image_size: int | None = None,
        code_size: int | None = None,
        mirror: bool | None = None,
        views: int | None = None,
        crop: float | None = None,
        flip: float | None = None,
        jitter: float | None = None,
        noise: float | None = None,
        drop: float | None = None,
        device: str = "auto",
        precision: Precision = "auto",
        compile: bool | None = None,
    ) -> None:
        """Choose settings; ``None`` and "auto" leave the choice to the loss, the data and the defaults.

        Args:
            bits: Number of learned bits.
            look_bits: Number of look bits behind them: not learned from pairs, they break ties
                and find near-copies. By default 0.
            loss: Pairwise loss: a name, or a Loss of your own.
            seed: Seed of everything random. The same seed and data give the same model on the
                same machine.
            omega: Weight of the unlabelled terms; 0 is supervised training. By default the loss
                decides.
            gamma: Weight of the quantized similarity loss among them; 0 is variant P. By default
                the loss decides.
            eta: Weight of the quantization loss, which pulls outputs towards -1 and +1. By
                default the loss decides.
            consistency: Whether the consistent similarity loss takes part; off is variant Q. By
                default it does.
            alpha: How much the teacher keeps of itself at each step. The paper's 0.995 is for
                tens of thousands of steps; by default the window is a fiftieth of the run, and
                alpha at most 0.995.
            similar_share: rho, the share of unknown pairs taken for alike. By default the share
                among labelled items; from a list of pairs it is estimated, since people mark
                about as many alike as not.
            neighbours: How much of the similarities of unknown pairs comes from the graph of
                nearest neighbours, along which known pairs are spread; the teacher supplies the
                rest, and all of it if 0, as in the paper. By default 1.
            fade: Share of the steps over which the neighbours give way to the teacher, evenly; 0
                for never. By default 0.7 for labels, 0 for pairs and where nothing is known.
            classes: Weight of a classifier beside the pairs, which learns from labels and from
                what the teacher is sure of; 0 as in the paper. By default 0.5 for labels where
                neighbours teach, else 0.
            pseudo: How the pairwise loss reads normalised outputs: "code" scales them to code
                space, "literal" not.
            divide: Whether DSH is divided by bits and KSH by bits², so that omega fits every code
                length. By default yes.
            labelled_per_batch: Labelled items per batch. By default 32; MIHash takes 96, or 128
                without unlabelled items.
            unlabelled_per_batch: Unlabelled items per batch. By default 96: 1 : 3 items make 1 :
                15 pairs, the paper's ratio.
            steps: Optimiser steps. By default 1000 on vectors and frozen features, fewer for few
                items, up to 4000 for thousands of labelled ones, up to 2000 for tens of thousands
                of others where neighbours teach.
            epochs: Passes over the unlabelled items, instead of steps. By default 5 for fine-
                tuning.
            optimizer: "sgd" with momentum, or "adamw". By default AdamW for fine-tuning, else
                SGD.
            learning_rate: Learning rate of the hash layer and the hidden layer. By default the
                loss decides; 0.001 for fine-tuning.
            backbone_rate: Learning rate of a fine-tuned backbone, as a share of
                ``learning_rate``. By default 0.1.
            momentum: Momentum of SGD. By default 0.9.
            weight_decay: Weight decay. By default 0.0005.
            clip: Longest step of SGD, as its learning rate times the norm of the gradient; 0 for
                any. A batch holds few pairs of a list, and by chance they can drive a run apart.
                By default 0.075 for pairs, else 0.
            warmup: Share of the steps over which the learning rate grows. By default 0.1.
            lead: Share of the steps before unlabelled items join. They cost little then, and the
                teacher knows more when they do. By default 0.
            ramp: Share of the steps over which omega grows, after ``lead``. By default 0.3 (the
                paper: about 5 epochs of 60).
            backbone: Image network: a name, timm:<model>, torchvision:<model>, or a BackboneRow
                of your own. By default efficientnet-lite0.
            weights: "pretrained", "random", or a weight file. By default pretrained, if the
                backbone has such weights.
            freeze: Whether the backbone's features are computed once and only what is above it is
                trained. By default yes, unless the backbone is untrained.
            warm_start: Whether fine-tuning starts from a head trained on frozen features. By
                default yes, unless the backbone is untrained.
            fixed_blocks: How many of the backbone's first blocks stay as they are while fine-
                tuning, so that what they make of a picture is computed once. By default 0.
            fixed_norm: Whether fine-tuning keeps the backbone's BatchNorm statistics. By default
                yes, unless the backbone is untrained.
            hidden: Width of the hidden layer; 0 for none. By default 512, or none behind AlexNet
                and VGG.
            dropout: Dropout of the hidden layer. By default 0.1.
            image_size: Pixels per side. By default three times the pictures' own, 96 to 224.
            code_size: Pixels per side when pictures are encoded. Random crops enlarge what is in
                a picture, so that encoding at a third more than training gains. By default
                ``image_size``.
            mirror: Whether a picture is encoded together with its mirror image: better codes in
                twice the time. By default no.
            views: Perturbed copies of each picture in the feature cache. By default 3.
            crop: Smallest share of a picture's area that a random crop keeps. By default 0.5.
            flip: Probability of mirroring a picture. By default 0.5.
            jitter: Strength of random brightness, contrast and saturation. By default 0.2.
            noise: Gaussian noise on vectors, in their own spread. By default 0.2, 0 for features.
            drop: Share of a vector's entries that is dropped. By default 0.1, 0 for features.
            device: "cpu", "cuda", ...; by default a GPU where there is one.
            precision: Numbers that networks compute with while training: "float32", or
                "bfloat16", half as long, which some processors are quicker with. Losses, weights
                and encoding stay at float32. By default float32.
            compile: Whether the networks are compiled for training: it takes a minute, and a C++
                compiler, or Triton on a GPU. By default no.
        """
        given = {name: value for name, value in locals().items() if name != "self"}
        self.settings = Settings.from_keywords(given)
        self.skipped: dict[str, str] = {}
        self.trials: list[Trial] = []
        self._model: Model | None = None
        self._unknown_loss: str | None = None

    @classmethod
    def from_settings(cls, settings: Mapping[str, Any]) -> "Hasher":
        """From names and values, as they come from a file; an unknown name is answered with the nearest."""
        check_names(settings)
        return cls(**settings)

    def fit(
        self,
        items: ItemsLike,
        *,
        pairs: str | Path | ArrayLike | PairList | None = None,
        labels: str | Path | ArrayLike | None = None,
        transitive: bool = False,
        check: bool = True,
        unlabelled: ArrayLike | None = None,
        validation: float | None = None,
        grid: Mapping[str, Sequence[float]] | None = None,
        out: Path | str | None = None,
        resume: bool = False,
        overwrite: bool = False,
        tensorboard: Path | str | None = None,
        watch: "Watcher | None" = None,
        judge: "Judge | None" = None,
        progress: Progress = None,
    ) -> "Hasher":
        """Learn from items of which a few pairs are known.

        Args:
            items: a folder, list of paths, ``.npy``, CSV or list file, array of images or embeddings (n, d).
            pairs: CSV path, or array (m, 3) of a, b, similar with positions into items.
            labels: instead of pairs: one per item, -1 where unknown; or 0/1 rows, all -1 where unknown; a CSV
                of id,label; or "folder" for class folders.
            transitive: also learn what follows from the pairs: alike of alike is alike. Leave it off where
                likeness has several sides.
            check: keep a tenth back first, see by it whether training beats codes without training, and hand
                over the better; then train on all. Off saves that first run.
            unlabelled: positions of the items to use without labels; by default all in no known pair.
            validation: share of the labelled items to hold out for choosing among ``grid``; afterwards all
                are trained on. By default a tenth, if there is a grid.
            grid: values to try by setting, such as ``{"omega": [0.3, 0.6]}``. By default some of omega and
                gamma, if there is a validation share.
            out: folder for checkpoints while training and for the model afterwards.
            resume: go on with an unfinished run in ``out``.
            overwrite: replace what is in ``out``.
            tensorboard: folder for TensorBoard's event files, written while training.
            watch: called after each step with its record: named losses, thr, learning rate.
            judge: called twenty times in a run with a function that returns the teacher's outputs (n, bits)
                of the items at some positions. The figures that it returns join the step's record.
            progress: show bars; None asks whether standard error is a terminal. Or a function that is told
                what is being done, how many are done, and of how many.
        """
        require("torch", "training")
        from .training.output_folder import claim_once
        from .training.ranks import joined
        from .training.stages import Trainer
        from .training.tensorboard import watcher
        from .training.tuning import Tuning

        if self._unknown_loss is not None:
            loss = f"a loss of your own, {self._unknown_loss}"
            raise UserError(f"this model was trained with {loss}: give it to Hasher.load(folder, loss=...)")
        with joined() as ranks:
            items = read_items(items)
            known = read_supervision(items, pairs, labels, transitive=transitive)
            training = TrainingSet(items, known, unlabelled_pool(len(items), known, unlabelled))
            used = resolve(self.settings, training)
            first = ranks is None or ranks.begin(training, used)
            tuning = Tuning.asked(validation, grid)
            folder, going_on = claim_once(out, ranks, resume=resume, overwrite=overwrite)
            with watcher(tensorboard if first else None, watch if first else None) as told:
                fitted = Trainer(
                    tuning=tuning,
                    folder=folder,
                    resume=going_on,
                    watch=told,
                    judge=judge if first else None,
                    progress=progress if first else False,
                    checked=check,
                    asked=self.settings.to_json(),
                    ranks=ranks,
                ).fit(training, used)
        self._model, self.trials = fitted.model, fitted.trials
        self.skipped = {items.ids[position]: reason for position, reason in sorted(fitted.broken.items())}
        return self

    def encode(self, items: ItemsLike, *, network: Network = "teacher", progress: Progress = None) -> Codes:
        """Packed codes (n, ceil(bits / 8)) of items of any kind that ``fit`` takes: learned bits, then look.

        Args:
            items: what to encode.
            network: "teacher", or "student" for variant S.
            progress: show bars; None asks whether standard error is a terminal.
        """
        return self.model.encode(items, network=network, progress=progress).all_codes

    def outputs(
        self, items: ItemsLike, *, network: Network = "teacher", progress: Progress = None
    ) -> Outputs:
        """Real outputs (n, bits) of the learned part, and the reason by position for unreadable pictures."""
        return self.model.outputs(items, network=network, progress=progress)

    @property
    def model(self) -> Model:
        """The trained networks."""
        if self._model is None:
            raise UserError("this hasher is not trained: call fit, or Hasher.load a model folder")
        return self._model

    @property
    def used(self) -> Used:
        """The settings that the last fit used, with every choice made."""
        return self.model.used

    @property
    def bits(self) -> int:
        """Code length: learned bits and look bits."""
        if self._model is not None:
            return self._model.bits
        look = LOOK_BITS if self.settings.look_bits is None else self.settings.look_bits
        return self.settings.bits + look

    @property
    def history(self) -> list[Record]:
        """Named losses, thr, learning rate and omega of every step."""
        return self.model.history

    @property
    def fingerprint(self) -> str:
        """A short name of the model; codes of models with different names do not compare."""
        return self.model.fingerprint

    def save(self, folder: Path | str, *, overwrite: bool = False) -> None:
        """Write the model as a folder; see :mod:`pts3h.model.folder`."""
        save_model(self.model, Path(folder), overwrite=overwrite)

    @classmethod
    def load(
        cls, folder: Path | str, *, backbone: BackboneRow | None = None, loss: Loss | None = None
    ) -> "Hasher":
        """Read a model folder.

        Args:
            folder: what ``save`` wrote.
            backbone: the backbone of your own that the model was trained with, if it was.
            loss: the loss of your own that it was trained with; only a further ``fit`` needs it.
        """
        model = load_model(folder, backbone=backbone)
        asked = {**model.asked, **({} if loss is None else {"loss": loss})}
        unknown = asked.pop("loss") if asked.get("loss", "dsh") not in (loss, *LOSSES.names()) else None
        hasher = cls.from_settings(asked)
        hasher._model, hasher._unknown_loss = model, unknown
        return hasher
