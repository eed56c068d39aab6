"""Pairwise losses by the name that settings call them."""

from ..codes import check_bits
from ..errors import UserError
from .dhn import DHN
from .hashnet import HashNet
from .mihash import MIHash
from .names import LOSSES, Reading
from .pairwise import DPSH, DSH, KSH, PairwiseLoss


def pairwise_loss(name: str, bits: int, *, divide: bool = True, reading: Reading = "auto") -> PairwiseLoss:
    """The pairwise loss called ``name`` for codes of ``bits`` bits."""
    check_bits(bits)
    match name:
        case "dsh":
            return DSH(bits, divide=divide, reading=reading)
        case "dpsh":
            return DPSH(bits, reading=reading)
        case "ksh":
            return KSH(bits, divide=divide, reading=reading)
        case "dhn":
            return DHN(bits, reading=reading)
        case "hashnet":
            return HashNet(bits, reading=reading)
        case "mihash":
            return MIHash(bits)
    raise UserError(f"loss must be one of {', '.join(LOSSES)}, got {name!r}")
