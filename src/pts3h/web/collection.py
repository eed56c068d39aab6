"""What is served now: an index and the model that made it. Another pair can take their place at any time."""

import logging
import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from ..index.contract import Id, Index, Item, check_ids
from ..indexing import picture_of
from ..model.model import Model
from .errors import not_found, refusing

log = logging.getLogger("pts3h.web")


@dataclass
class Served:
    """One generation: an index and the model that made its codes.

    Attributes:
        generation: 0 for what was given, then the number of the job that made it.
        index: what is searched.
        model: encodes uploads.
        folder: of the model.
        readers: requests that use it now.
    """

    generation: int
    index: Index
    model: Model
    folder: Path
    readers: int = field(default=0, compare=False)

    def __post_init__(self) -> None:
        first = next(
            (ids for ids, _ in self.index.scan(1)), [""]
        )  # reads the index, so that no search has to
        self.numbered = isinstance(first[0], int)

    def key(self, name: str) -> Id:
        """The id by which the index knows an item. Outside, all ids are text."""
        if not self.numbered:
            return name
        try:
            return int(name)
        except ValueError:
            raise not_found("such item") from None

    def items(self, names: Sequence[str]) -> list[Item]:
        """The items of these names; each must be there."""
        with refusing():
            keys = check_ids([self.key(name) for name in names])
        found = [item for item in self.index.get(keys) if item is not None]
        if len(found) != len(names):
            raise not_found("such item")
        return found

    def picture(self, name: str) -> Path:
        """Where the picture of an item lies, if it still is the one that was indexed."""
        (item,) = self.items([name])
        path = picture_of(item.meta)
        if path is None:
            raise not_found("picture of that item")
        return path


class Collection:
    """The generation that is served. Whoever reads it keeps it until the end, whatever takes its place.

    Args:
        served: the first one.
        name: what the page calls the collection.
    """

    def __init__(self, served: Served, name: str) -> None:
        self.current, self.name = served, name
        self._lock = threading.Lock()  # guards the numbers of readers and the exchange
        # closing writes to the disk, and the last reader may be the one who answers everybody
        self._closing = ThreadPoolExecutor(1, thread_name_prefix="close")

    @contextmanager
    def reading(self) -> Iterator[Served]:
        """What is current now, open until the block ends."""
        with self._lock:
            served = self.current
            served.readers += 1
        try:
            yield served
        finally:
            with self._lock:
                served.readers -= 1
            self._close_if_done(served)

    def swap(self, fresh: Served) -> None:
        """Serve another generation from now on; the old one is closed when its last reader is done."""
        with self._lock:
            old, self.current = self.current, fresh
        self._close_if_done(old)

    def close(self) -> None:
        """Close what is current. Nobody may read any more."""
        self._closing.shutdown()
        self.current.index.close()

    def _close_if_done(self, served: Served) -> None:
        with self._lock:
            done = served is not self.current and not served.readers
        if done:
            self._closing.submit(close_index, served.index)


def close_index(index: Index) -> None:
    """Nobody waits for it, so the log must say what goes wrong."""
    try:
        index.close()
    except Exception:
        log.exception("an index that is no longer served was not closed")
