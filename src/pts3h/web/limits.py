"""How much one request may ask for."""

import re
import threading
import time
from dataclasses import dataclass

from .errors import Refused

MAX_WAITING = 16  # uploads that wait for the network; more are refused at once


@dataclass(frozen=True)
class Limits:
    """Bounds on every request. What goes over one is refused in one line.

    Attributes:
        k: hits of one search.
        window: hits before and on a page together; ``offset + k``.
        radius: largest distance of a search by radius.
        duplicates_radius: largest distance of near-duplicates.
        queries: codes in one search, and items in ``like`` and ``unlike`` together.
        upload_bytes: size of a picture that is uploaded.
        pixels: width x height of a picture that is uploaded.
        json_bytes: size of any other body.
        csv_bytes: size of a list of pairs that is uploaded.
        depth: how deep JSON may be nested.
        uploads_per_minute: pictures that may be uploaded in a minute, by all together.
    """

    k: int = 1_000
    window: int = 10_000
    radius: int = 64
    duplicates_radius: int = 16
    queries: int = 1_000
    upload_bytes: int = 20_000_000
    pixels: int = 50_000_000
    json_bytes: int = 1_000_000
    csv_bytes: int = 20_000_000
    depth: int = 40
    uploads_per_minute: int = 120


class Rate:
    """So many per minute, evenly filled up; a quarter of a minute's may come at once."""

    def __init__(self, per_minute: int) -> None:
        self.per_second = per_minute / 60
        self.most = max(1.0, per_minute / 4)
        self._left, self._at, self._lock = self.most, time.monotonic(), threading.Lock()

    def take(self) -> None:
        """Count one, or refuse it and say when there is room again."""
        with self._lock:
            now = time.monotonic()
            self._left = min(self.most, self._left + (now - self._at) * self.per_second)
            self._at = now
            if self._left >= 1:
                self._left -= 1
                return
            wait = (1 - self._left) / self.per_second
        raise Refused(429, "too_many", "too many uploads: wait a moment", retry_after=int(wait) + 1)


_TEXTS = re.compile(rb'"(?:[^"\\]|\\.)*"?', re.DOTALL)
_BRACKETS = re.compile(rb"[\[\]{}]")


def check_depth(content: bytes, most: int) -> None:
    """Refuse JSON that is nested deeper than ``most``, before it is parsed."""
    depth = 0
    for bracket in _BRACKETS.findall(_TEXTS.sub(b"", content)):
        depth += 1 if bracket in b"[{" else -1
        if depth > most:
            raise Refused(422, "bad_request", f"JSON may be nested {most} deep: write it flatter")
