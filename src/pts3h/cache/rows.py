"""Rows of one kind: a folder of segments, searched together."""

import mmap
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from ..errors import DiskError
from ..util.files import cache_folder, explain_os_errors
from .segment import KEY_BYTES, Appender, Key, Segment, open_segment

# A segment is the least that leaves the cache. One that has grown to this size gets no more fills; a fill is
# never split, so that the rows of a collection stay together and can be mapped as they are.
FULL_SEGMENT = 256 << 20
CHUNK = 1024  # rows copied at a time
IN_MEMORY = 1 << 30  # bytes that are copied to memory; more are copied to a mapped file

NOWHERE: Key = b""  # in the place of a key: never found


@dataclass(frozen=True)
class Kind:
    """Rows of one shape and meaning.

    Attributes:
        folder: for the segments.
        parts: vectors in a row.
        width: numbers in a vector.
        dtype: of the numbers.
    """

    folder: Path
    parts: int
    width: int
    dtype: DTypeLike = np.float16

    @property
    def row_bytes(self) -> int:
        """Length of a row."""
        return self.parts * self.width * np.dtype(self.dtype).itemsize

    def segments(self) -> list[Segment]:
        """What there is now, oldest first. It is in use as long as its rows are."""
        opened = (
            open_segment(file, self.parts, self.width, self.dtype)
            for file in sorted(self.folder.glob("*.rows"))
        )
        return [segment for segment in opened if segment is not None]

    @contextmanager
    def filling(self, count: int) -> Iterator[Appender]:
        """Append rows, about ``count`` of them, whose space is taken before the block."""
        with explain_os_errors(self.folder):
            self.folder.mkdir(parents=True, exist_ok=True)
            appender = Appender(self._segment_to_fill(), self.row_bytes)
        with closing(appender):
            appender.reserve(count)
            yield appender

    def _segment_to_fill(self) -> Path:
        files = sorted(self.folder.glob("*.rows"))
        if not files:
            return self.folder / f"{1:06}.rows"
        last = files[-1]
        return last if last.stat().st_size < FULL_SEGMENT else last.with_stem(f"{int(last.stem) + 1:06}")


@dataclass(frozen=True)
class Found:
    """Where the rows of some keys lie.

    Attributes:
        segments: that were searched.
        segment: number of the segment per key; -1 where there is no row.
        row: its row in there.
    """

    segments: Sequence[Segment]
    segment: NDArray[np.int64]
    row: NDArray[np.int64]

    @property
    def known(self) -> NDArray[np.bool_]:
        """Which keys have a row."""
        return self.segment >= 0

    def array(self, parts: int, width: int, dtype: DTypeLike = np.float16) -> NDArray[Any]:
        """The first ``parts`` vectors of each row; zero where there is none.

        Rows that lie one after the other are mapped and not to be written to, others are copied.
        """
        if len(self.row) and (self.segment == self.segment[0]).all() and self.segment[0] >= 0:
            first = int(self.row[0])
            if (self.row == np.arange(first, first + len(self.row))).all():
                mapped: NDArray[Any] = self.segments[self.segment[0]].rows
                return mapped[first : first + len(self.row), :parts]
        return self._copy(parts, width, np.dtype(dtype))

    def _copy(self, parts: int, width: int, dtype: np.dtype[Any]) -> NDArray[Any]:
        """A large copy lies in a file without a name, so that it need not stay in memory."""
        shape = (len(self.row), parts, width)
        size = int(np.prod(shape)) * dtype.itemsize
        if size > IN_MEMORY:
            with suppress(OSError, DiskError), tempfile.TemporaryFile(dir=cache_folder()) as file:
                for chunk in self._chunks(shape, dtype):
                    file.write(chunk.data)
                file.flush()
                mapped = mmap.mmap(file.fileno(), size, access=mmap.ACCESS_COPY)
                return np.frombuffer(mapped, dtype).reshape(shape)
        copied = np.empty(shape, dtype)
        for place, chunk in enumerate(self._chunks(shape, dtype)):
            copied[place * CHUNK : (place + 1) * CHUNK] = chunk
        return copied

    def _chunks(self, shape: tuple[int, int, int], dtype: np.dtype[Any]) -> Iterator[NDArray[Any]]:
        for start in range(0, shape[0], CHUNK):
            numbers, rows = self.segment[start : start + CHUNK], self.row[start : start + CHUNK]
            chunk = np.zeros((len(rows), *shape[1:]), dtype)
            for number in np.unique(numbers[numbers >= 0]):
                chunk[numbers == number] = self.segments[number].rows[rows[numbers == number], : shape[1]]
            yield chunk

    def at(self, positions: NDArray[np.int64]) -> "Found":
        """The same for some of the keys."""
        return Found(self.segments, self.segment[positions], self.row[positions])


def find(segments: Sequence[Segment], keys: Sequence[Key]) -> Found:
    """Look for the row of each key; a newer segment counts more."""
    wanted = set(keys) - {NOWHERE}
    heads = np.frombuffer(b"".join(wanted), "<u8")[:: KEY_BYTES // 8]
    places: dict[Key, tuple[int, int]] = {}
    for number, segment in enumerate(segments):
        places |= {key: (number, row) for key, row in segment.find(wanted, heads).items()}
    lies = np.array([places.get(key, (-1, -1)) for key in keys], np.int64).reshape(len(keys), 2)
    return Found(segments, lies[:, 0], lies[:, 1])
