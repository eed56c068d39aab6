"""Every system by name, and where it is made. Imports nothing heavy: listing names must be quick."""

from collections.abc import Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from importlib import import_module
from typing import TYPE_CHECKING, Any, Literal

from ..errors import UserError

if TYPE_CHECKING:
    from .system import Method

Kind = Literal["semi-supervised", "supervised", "unsupervised"]


@dataclass(frozen=True)
class Entry:
    """Where a system is made and what it is compared with.

    Attributes:
        module: below ``pts3h.methods``; has ``make(name, settings)``, which returns a Method.
        kind: which part of the paper's table it stands in.
        label: what tables print.
        base: the supervised system that it extends, if any: significance is tested against it.
    """

    module: str
    kind: Kind
    label: str
    base: str | None = None


METHODS: dict[str, Entry] = {
    "pts3h-dsh": Entry("deep_table", "semi-supervised", "PTS3H-DSH", base="dsh"),
    "pts3h-dpsh": Entry("deep_table", "semi-supervised", "PTS3H-DPSH", base="dpsh"),
    "pts3h-ksh": Entry("deep_table", "semi-supervised", "PTS3H-KSH", base="ksh"),
    "pts3h-dhn": Entry("deep_table", "semi-supervised", "PTS3H-DHN", base="dhn"),
    "pts3h-hashnet": Entry("deep_table", "semi-supervised", "PTS3H-HashNet", base="hashnet"),
    "pts3h-mihash": Entry("deep_table", "semi-supervised", "PTS3H-MIHash", base="mihash"),
    "pts3h-p": Entry("deep_table", "semi-supervised", "PTS3H-DSH, P (no pseudo pairs)", base="dsh"),
    "pts3h-q": Entry("deep_table", "semi-supervised", "PTS3H-DSH, Q (no consistency)", base="dsh"),
    "pts3h-s": Entry("deep_table", "semi-supervised", "PTS3H-DSH, S (student's codes)", base="dsh"),
    "mean-teacher": Entry("deep_table", "semi-supervised", "DSH + Mean Teacher", base="dsh"),
    "temp-ens": Entry("deep_table", "semi-supervised", "DSH + TempEns", base="dsh"),
    "vat": Entry("deep_table", "semi-supervised", "DSH + VAT", base="dsh"),
    "sntg": Entry("deep_table", "semi-supervised", "DSH + SNTG", base="dsh"),
    "ssdh": Entry("deep_table", "semi-supervised", "SSDH"),
    "bgdh": Entry("deep_table", "semi-supervised", "BGDH", base="dpsh"),
    "dsh-gans": Entry("deep_table", "semi-supervised", "DSH-GANs"),
    "splh": Entry("shallow", "semi-supervised", "SPLH"),
    "dsh": Entry("deep_table", "supervised", "DSH"),
    "dpsh": Entry("deep_table", "supervised", "DPSH"),
    "ksh": Entry("deep_table", "supervised", "KSH (deep)"),
    "dhn": Entry("deep_table", "supervised", "DHN"),
    "hashnet": Entry("deep_table", "supervised", "HashNet"),
    "mihash": Entry("deep_table", "supervised", "MIHash"),
    "dsdh": Entry("deep_table", "supervised", "DSDH"),
    "dmdh": Entry("deep_table", "supervised", "DMDH"),
    "dish": Entry("deep_table", "supervised", "DISH"),
    "ksh-kernel": Entry("shallow", "supervised", "KSH (kernel)"),
    "fasth": Entry("shallow", "supervised", "FastH"),
    "itq": Entry("shallow", "unsupervised", "ITQ"),
    "sh": Entry("shallow", "unsupervised", "SH"),
    "lsh": Entry("shallow", "unsupervised", "LSH"),
}


def check_method(name: str) -> str:
    """Return ``name`` if there is such a method, else raise with the nearest that exists."""
    if name not in METHODS:
        near = get_close_matches(name, METHODS, n=1, cutoff=0.5)
        hint = f": did you mean {near[0]}?" if near else "; see pts3h bench --list"
        raise UserError(f"there is no method {name!r}{hint}")
    return name


def make_method(name: str, settings: Mapping[str, Any]) -> "Method":
    """A method by name.

    Args:
        name: one of METHODS.
        settings: of :class:`pts3h.settings.Config`, for the methods that train a network; what is not named
            is for the method to choose, and bits and seed are given to ``fit``.
    """
    entry = METHODS[check_method(name)]
    method: Method = import_module(f"{__package__}.{entry.module}").make(name, settings)
    return method
