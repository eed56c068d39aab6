from collections.abc import Callable
from typing import Any

_Raw = tuple[bytes, bytes, bytes]
_Array = Any  # anything with the buffer protocol
_Measure = tuple[int, int, int, _Array]  # see measure.py

def levels() -> list[str]: ...

# level, measure, queries, columns, stride, begin, end, k, allowed, weights
nearest: Callable[[str, _Measure, _Array, _Array, int, int, int, int, _Array | None, _Array | None], _Raw]

# level, measure, queries, columns, stride, begin, end, radius, allowed
within: Callable[[str, _Measure, _Array, _Array, int, int, int, int, _Array | None], _Raw]

def histograms(
    level: str,
    measure: _Measure,
    queries: _Array,
    columns: _Array,
    stride: int,
    n: int,
    kind: int,
    relevance: _Array,
    labels: _Array | None,
    width: int,
    out: _Array,
    /,
) -> None: ...
def group(
    columns: _Array, stride: int, n: int, first: int, width: int, starts: _Array, rows: _Array, /
) -> None: ...
def lookup(
    level: str,
    measure: _Measure,
    queries: _Array,
    columns: _Array,
    n: int,
    radius: int,
    parts: tuple[tuple[Any, ...], ...],
    flips: _Array,
    most: int,
    may_scan: bool,
    allowed: _Array | None,
    /,
) -> _Raw | None: ...
