"""Every pairwise loss, one row each: what it is, what makes it, and what it trains well with."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from ..util.table import Table, load

if TYPE_CHECKING:
    from .pairwise import PairwiseLoss

Reading = Literal["auto", "code", "literal"]
Option = Literal["divide", "reading"]

SHORT = 48  # bits below which a steep loss trains with a smaller rate


@dataclass(frozen=True, kw_only=True)
class Loss:
    """A pairwise loss and its defaults, measured on frozen features of CIFAR-10 (docs/decisions.md).

    Attributes:
        name: what settings call it.
        label: what tables print.
        source: the paper it comes from.
        make: called with the code length and with what ``options`` names of ``divide`` and ``reading``;
            returns a :class:`~pts3h.losses.pairwise.PairwiseLoss`. A callable, or "package.module:name".
        options: which of the two it understands.
        omega: weight of the unlabelled terms.
        gamma: weight of the quantized similarity loss within them.
        eta: weight of the quantization loss.
        learning_rate: of SGD on frozen features.
        steepness: below 48 bits the rate is multiplied by (bits / 48) to this power.
        labelled_per_batch: labelled items per batch beside unlabelled ones.
        labelled_alone: labelled items per batch where no unlabelled ones join.
    """

    name: str
    label: str
    source: str
    make: "str | Callable[..., PairwiseLoss]"
    options: tuple[Option, ...] = ()
    omega: float = 0.5
    gamma: float = 0.5
    eta: float = 0.0
    learning_rate: float = 0.1
    steepness: float = 0.0
    labelled_per_batch: int = 32
    labelled_alone: int = 32

    def build(self, bits: int, *, divide: bool = True, reading: Reading = "auto") -> "PairwiseLoss":
        """The loss for codes of ``bits`` bits."""
        given: dict[Option, Any] = {"divide": divide, "reading": reading}
        built: PairwiseLoss = load(self.make)(bits, **{name: given[name] for name in self.options})
        return built

    def rate(self, bits: int) -> float:
        """Learning rate of SGD on frozen features, for this code length."""
        slower: float = (min(bits, SHORT) / SHORT) ** self.steepness
        return self.learning_rate * slower


LOSSES = Table(
    "loss",
    Loss,
    [
        Loss(
            name="dsh",
            label="DSH",
            source="Deep Supervised Hashing, Liu et al., CVPR 2016",
            make="pts3h.losses.dsh:DSH",
            options=("divide", "reading"),
            omega=0.6,
            eta=0.004,
            learning_rate=0.15,
        ),
        Loss(
            name="dpsh",
            label="DPSH",
            source="Deep Pairwise-Supervised Hashing, Li et al., IJCAI 2016",
            make="pts3h.losses.dpsh:DPSH",
            options=("reading",),
            gamma=1.0,
            eta=0.05,
            learning_rate=0.02,
        ),
        Loss(
            name="ksh",
            label="KSH (deep)",
            source="Supervised Hashing with Kernels, Liu et al., CVPR 2012",
            make="pts3h.losses.ksh:KSH",
            options=("divide", "reading"),
            omega=0.6,
            eta=0.004,
            steepness=0.75,  # of fourth degree: at 12 bits a rate of 0.05 still trained, 0.1 did not
        ),
        Loss(
            name="dhn",
            label="DHN",
            source="Deep Hashing Network, Zhu et al., AAAI 2016",
            make="pts3h.losses.dhn:DHN",
            options=("reading",),
            gamma=1.0,
            learning_rate=0.02,  # eta stays 0: the loss has a rounding term itself
        ),
        Loss(
            name="hashnet",
            label="HashNet",
            source="HashNet, Cao et al., ICCV 2017",
            make="pts3h.losses.hashnet:HashNet",
            options=("reading",),
        ),
        Loss(
            name="mihash",
            label="MIHash",
            source="MIHash, Cakir et al., ICCV 2017",
            make="pts3h.losses.mihash:MIHash",
            learning_rate=0.1,
            # a histogram over the three alike that 32 labelled items leave an anchor says little
            labelled_per_batch=96,
            labelled_alone=128,
        ),
    ],
)
