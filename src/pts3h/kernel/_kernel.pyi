from typing import Any

_Raw = tuple[bytes, bytes, bytes]
_Array = Any  # anything with the buffer protocol

def levels() -> list[str]: ...
def nearest(
    level: str,
    bits: int,
    queries: _Array,
    columns: _Array,
    stride: int,
    begin: int,
    end: int,
    k: int,
    allowed: _Array | None,
    weights: _Array | None,
    /,
) -> _Raw: ...
def within(
    level: str,
    bits: int,
    queries: _Array,
    columns: _Array,
    stride: int,
    begin: int,
    end: int,
    radius: int,
    allowed: _Array | None,
    /,
) -> _Raw: ...
def histograms(
    level: str,
    bits: int,
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
    bits: int,
    queries: _Array,
    columns: _Array,
    n: int,
    radius: int,
    parts: tuple[tuple[Any, ...], ...],
    flips: _Array,
    most: int,
    allowed: _Array | None,
    /,
) -> _Raw: ...
