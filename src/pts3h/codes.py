"""Binary codes: signs, packed bytes and their distances. The only place that knows bit order.

On the wire bit 0 is the most significant bit of byte 0, a set bit means a positive output, and the bits
that pad the last byte are zero. A code has one part, the learned bits, or two: see :class:`Layout`.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .errors import UserError

BIT_ORDER: Literal["big"] = "big"  # as above, in numpy's words
MAX_BITS = 4096
MAX_WEIGHT = 16
# How much a learned bit counts beside a look bit, unless someone says otherwise: the least by which look
# bits cost no precision over all ranks (docs/decisions.md).
DEFAULT_WEIGHT = 3
# Distances are kept as int16.
MAX_DISTANCE = 2**15 - 1
Codes = NDArray[np.uint8]
Signs = NDArray[np.int8]
By = Literal["meaning", "look", "both"]


def check_bits(bits: int) -> int:
    """Return ``bits`` if it is a usable code length, else raise."""
    _check_whole("bits", bits, 1, MAX_BITS)
    return int(bits)


@dataclass(frozen=True)
class Layout:
    """What the bits of a code are: first the learned ones, "meaning", then unsupervised ones, "look".

    The distance by "both" is weight * Hamming(meaning) + Hamming(look), so that look breaks the ties of
    meaning. By "meaning" or by "look" it is the Hamming distance of that part. A code without look bits is
    ``Layout(bits)``; all its distances are plain.

    Attributes:
        meaning: number of learned bits.
        look: number of look bits, packed directly behind them.
        weight: how much a learned bit counts beside a look bit; 1 if there are no look bits.
    """

    meaning: int
    look: int = 0
    weight: int = 1

    def __post_init__(self) -> None:
        check_bits(self.meaning)
        _check_whole("look_bits", self.look, 0, MAX_BITS - 1)
        _check_whole("weight", self.weight, 1, MAX_WEIGHT)
        if not self.look:
            object.__setattr__(self, "weight", 1)
        if self.bits > MAX_BITS:
            raise UserError(
                f"a code has at most {MAX_BITS} bits, got {self}: take fewer bits or fewer look_bits"
            )
        if self.largest > MAX_DISTANCE:
            raise UserError(
                f"distances go up to {MAX_DISTANCE}, and {self} with weight {self.weight} reach "
                f"{self.largest}: take fewer bits or a smaller weight"
            )

    def __str__(self) -> str:
        return f"{self.meaning} + {self.look} bits" if self.look else f"{self.meaning} bits"

    @property
    def bits(self) -> int:
        """Length of the packed code."""
        return self.meaning + self.look

    @property
    def largest(self) -> int:
        """The largest distance by "both"."""
        return self.weight * self.meaning + self.look

    def weights(self, by: By = "both") -> tuple[int, int]:
        """How much a meaning bit and a look bit count."""
        if by not in get_args(By):
            raise UserError(f"by must be one of {', '.join(get_args(By))}, got {by!r}")
        if by == "look" and not self.look:
            raise UserError("these codes have no look bits: fit with look_bits=..., or search by meaning")
        return {"meaning": (1, 0), "look": (0, 1), "both": (self.weight, 1)}[by]

    @property
    def mask(self) -> Codes:
        """(bytes,) a packed code in which the meaning bits are set, and no others."""
        return np.packbits(np.arange(self.bits) < self.meaning, bitorder=BIT_ORDER)

    def farthest(self, by: By = "both") -> int:
        """The largest distance there can be."""
        meaning, look = self.weights(by)
        return meaning * self.meaning + look * self.look


def _check_whole(name: str, value: int, low: int, high: int) -> None:
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or not low <= value <= high:
        raise UserError(f"{name} must be a whole number from {low} to {high}, got {value!r}")


def code_bytes(bits: int) -> int:
    """Bytes of one packed code."""
    return (check_bits(bits) + 7) // 8


def sign(outputs: ArrayLike) -> Signs:
    """-1 or +1 for each output; zero counts as positive.

    Args:
        outputs: real numbers, any shape.
    """
    outputs = np.asarray(outputs)
    if np.isnan(outputs).any():
        raise UserError("outputs contain NaN, so they have no sign: the network diverged or the input did")
    return np.where(outputs >= 0, np.int8(1), np.int8(-1))


def pack(signs: ArrayLike) -> Codes:
    """Pack signs or booleans, positive → 1, into bytes along the last axis.

    Args:
        signs: (..., bits) of -1/+1, real outputs or booleans.

    Returns:
        (..., ceil(bits / 8)) uint8.
    """
    signs = np.asarray(signs)
    if signs.ndim == 0:
        raise UserError("pack needs an array of signs with the bits on its last axis")
    check_bits(signs.shape[-1])
    positive = signs if signs.dtype == np.bool_ else sign(signs) > 0
    return np.packbits(positive, axis=-1, bitorder=BIT_ORDER)


def unpack(codes: ArrayLike, bits: int) -> Signs:
    """The inverse of :func:`pack`: (..., ceil(bits / 8)) uint8 → (..., bits) of -1/+1."""
    codes = check_codes(codes, bits)
    set_bits = np.unpackbits(codes, axis=-1, count=bits, bitorder=BIT_ORDER)
    return (2 * set_bits.view(np.int8) - 1).astype(np.int8, copy=False)


def check_codes(codes: ArrayLike, bits: int) -> Codes:
    """Return ``codes`` as a contiguous uint8 array of the width that ``bits`` needs, else raise."""
    codes = np.asarray(codes)
    width = code_bytes(bits)
    if codes.dtype != np.uint8:
        raise UserError(f"codes must be packed uint8 (see pts3h.pack), got {codes.dtype}")
    if codes.ndim == 0 or codes.shape[-1] != width:
        raise UserError(f"codes of {bits} bits are {width} bytes wide, got an array of shape {codes.shape}")
    padding = width * 8 - bits
    if padding and (codes[..., -1] & ((1 << padding) - 1)).any():
        raise UserError(
            f"codes have bits set beyond bit {bits}: they are longer codes, or not packed by pts3h"
        )
    return np.ascontiguousarray(codes)


def as_text(codes: Codes, bits: int) -> list[str]:
    """Packed codes (n, bytes) as texts of ``bits`` zeros and ones, bit 0 first."""
    digits = np.unpackbits(codes, axis=1, count=bits) + np.uint8(ord("0"))
    return [row.tobytes().decode() for row in digits]


def from_text(texts: Sequence[str], bits: int) -> Codes:
    """The inverse of :func:`as_text`."""
    digits = np.frombuffer("".join(texts).encode(), np.uint8).reshape(len(texts), bits)
    return np.packbits(digits == ord("1"), axis=1)


def as_words(codes: Codes) -> NDArray[np.uint64]:
    """Packed codes (n, bytes) as whole 64-bit words (n, ceil(bytes / 8)), padded with zeros.

    Distances are unchanged, and one XOR then covers eight bytes.
    """
    n, width = codes.shape
    words = (width + 7) // 8
    if width == words * 8:
        whole = np.ascontiguousarray(codes).view(np.uint64)
        return whole if whole.flags.aligned else whole.copy()  # bytes may begin anywhere
    padded = np.zeros((n, words * 8), np.uint8)
    padded[:, :width] = codes
    return padded.view(np.uint64)


def hamming(a: ArrayLike, b: ArrayLike) -> NDArray[np.int16]:
    """Hamming distance of every code of ``a`` to every code of ``b``.

    Args:
        a: (n, bytes) packed codes, or one code (bytes,).
        b: (m, bytes) packed codes, or one code (bytes,).

    Returns:
        (n, m) int16; an axis given as one code is dropped.
    """
    a, b = np.asarray(a), np.asarray(b)
    if a.dtype != np.uint8 or b.dtype != np.uint8:
        raise UserError(f"hamming needs packed uint8 codes (see pts3h.pack), got {a.dtype} and {b.dtype}")
    if a.ndim not in (1, 2) or b.ndim not in (1, 2) or a.shape[-1] != b.shape[-1]:
        raise UserError(f"hamming needs codes of one width, got shapes {a.shape} and {b.shape}")
    words_a, words_b = as_words(np.atleast_2d(a)), as_words(np.atleast_2d(b))
    distances = np.zeros((len(words_a), len(words_b)), np.int16)
    for column in range(words_a.shape[1]):
        distances += np.bitwise_count(words_a[:, column, None] ^ words_b[None, :, column])
    return distances.reshape(a.shape[:-1] + b.shape[:-1])


def distances(a: ArrayLike, b: ArrayLike, layout: Layout, by: By = "both") -> NDArray[np.int16]:
    """Distance of every code of ``a`` to every code of ``b``; arguments and result as in :func:`hamming`.

    Args:
        a: (n, bytes) packed codes, or one code (bytes,).
        b: (m, bytes) packed codes, or one code (bytes,).
        layout: what their bits are.
        by: which of them count.
    """
    a, b = check_codes(a, layout.bits), check_codes(b, layout.bits)
    of_meaning, of_look = layout.weights(by)
    mask = layout.mask
    meaning = hamming(a & mask, b & mask)
    return np.asarray(of_meaning * meaning + of_look * (hamming(a, b) - meaning), np.int16)
