"""What pandas, polars, Arrow, torch and numpy hold → numpy, without importing any of them.

Each of them can make itself an array. What is left to do: tensors that numpy does not take, and rows that
come one by one, as where a table has a column of vectors.
"""

import sys
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import UserError


def as_array(source: Any) -> NDArray[Any]:
    """An array of what ``source`` holds, else raise.

    Args:
        source: an array, a tensor, a table of numbers, or a column of vectors.
    """
    try:
        array = np.asarray(_readable(source))
        return _numbers(array) if array.dtype == np.object_ else array
    except (TypeError, ValueError) as error:
        raise UserError(
            f"this {type(source).__name__} makes no array: it holds something else than numbers, or rows of "
            f"different shapes ({error})"
        ) from error


def _readable(source: Any) -> Any:
    """A tensor where numpy can read it: without its gradient, in main memory, of numbers that numpy has."""
    torch = sys.modules.get("torch")
    if torch is None or not isinstance(source, torch.Tensor):
        return source
    plain = source.detach().cpu()
    return plain.float() if plain.dtype == torch.bfloat16 else plain


def _numbers(array: NDArray[Any]) -> NDArray[Any]:
    """Objects as numbers: numbers that may be missing, or vectors in the rows of one column."""
    if array.ndim == 0:
        raise ValueError(
            "it gives numpy no rows; .collect() a lazy table, take .toarray() of a sparse matrix"
        )
    column = array[:, 0] if array.ndim == 2 and array.shape[1] == 1 else array
    if column.ndim == 1 and len(column) and np.ndim(column[0]) == 1:
        return np.stack([np.asarray(row) for row in column])
    guessed = np.array(array.tolist())
    return guessed if guessed.dtype.kind in "biuf" else array.astype(np.float64)  # which says what is none
