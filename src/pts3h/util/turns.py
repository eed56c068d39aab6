"""Turns: at most so many threads at once, and who comes first goes first."""

import threading
from collections import deque


class Turns:
    """A semaphore that is fair: a place that becomes free is handed to the thread that has waited longest.

    Python's own lets a thread that is running take the place again before the one that was woken up comes to.
    Of 50 threads that search without a pause, some would wait for a hundred turns of the others.
    """

    def __init__(self, places: int) -> None:
        self._free = places
        self._waiting = deque[threading.Lock]()
        self._lock = threading.Lock()  # guards the two above

    @property
    def free(self) -> int:
        """How many could come in now."""
        return self._free

    def __enter__(self) -> None:
        with self._lock:
            if self._free:
                self._free -= 1
                return
            mine = threading.Lock()
            mine.acquire()
            self._waiting.append(mine)
        try:
            mine.acquire()  # until it is handed over
        except BaseException:  # Ctrl-C: nobody may wait for one who has left
            with self._lock:
                if mine in self._waiting:
                    self._waiting.remove(mine)
                    raise
            self.__exit__()
            raise

    def __exit__(self, *_: object) -> None:
        with self._lock:
            if self._waiting:
                self._waiting.popleft().release()
            else:
                self._free += 1
