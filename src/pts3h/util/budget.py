"""Something that threads share and that must not run out: each takes its part and gives it back."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from .forks import after_fork


class Budget:
    """So much of something, for all threads of this process together.

    Args:
        total: how much there is.
    """

    def __init__(self, total: int) -> None:
        self.total = total
        self._begin()
        after_fork(self._begin)

    def _begin(self) -> None:
        self._free, self._changed = self.total, threading.Condition()

    @contextmanager
    def take(self, amount: int) -> Iterator[None]:
        """Hold ``amount`` in the block; wait until so much is free. More than there is, is never free."""
        if amount > self.total:
            raise ValueError(f"{amount} is more than there is, {self.total}")
        with self._changed:
            self._changed.wait_for(lambda: self._free >= amount)
            self._free -= amount
        try:
            yield
        finally:
            with self._changed:
                self._free += amount
                self._changed.notify_all()
