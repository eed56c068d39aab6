"""Binary codes: signs, packed bytes and Hamming distance. The only place that knows bit order.

On the wire bit 0 is the most significant bit of byte 0, a set bit means a positive output, and the bits
that pad the last byte are zero.
"""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .errors import UserError

MAX_BITS = 4096
Codes = NDArray[np.uint8]
Signs = NDArray[np.int8]


def check_bits(bits: int) -> int:
    """Return ``bits`` if it is a usable code length, else raise."""
    if isinstance(bits, bool) or not isinstance(bits, (int, np.integer)) or not 1 <= bits <= MAX_BITS:
        raise UserError(f"bits must be a whole number from 1 to {MAX_BITS}, got {bits!r}")
    return int(bits)


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
    return np.packbits(positive, axis=-1)


def unpack(codes: ArrayLike, bits: int) -> Signs:
    """The inverse of :func:`pack`: (..., ceil(bits / 8)) uint8 → (..., bits) of -1/+1."""
    codes = check_codes(codes, bits)
    set_bits = np.unpackbits(codes, axis=-1, count=bits)
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


def as_words(codes: Codes) -> NDArray[np.uint64]:
    """Packed codes (n, bytes) as whole 64-bit words (n, ceil(bytes / 8)), padded with zeros.

    Distances are unchanged, and one XOR then covers eight bytes.
    """
    n, width = codes.shape
    words = (width + 7) // 8
    if width == words * 8:
        return np.ascontiguousarray(codes).view(np.uint64)
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
