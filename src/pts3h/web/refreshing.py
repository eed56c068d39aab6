"""Starts the process that brings an index in step, and says what it did."""

import json
import logging
import subprocess
import sys
import threading
from collections.abc import Callable

from .workspace import Place

log = logging.getLogger("pts3h.web")


class Refreshing:
    """One run in the background.

    Args:
        source: a folder of pictures, or the address of an index that names them.
        place: the index that is served, and its model.
        say: told what changed, if anything did.
    """

    def __init__(self, source: str, place: Place, say: Callable[[str], None]) -> None:
        command = [sys.executable, "-m", "pts3h.web.refresh", source, place.index, str(place.model)]
        self.process = subprocess.Popen(  # nosec: our own module, no shell
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,  # Ctrl-C is for the server, which ends this
        )
        self.say, self.stopped = say, False
        self.thread = threading.Thread(target=self._wait, name="refresh", daemon=True)
        self.thread.start()

    def _wait(self) -> None:
        out, trouble = self.process.communicate()
        if self.stopped:
            return
        if self.process.returncode:
            lines = trouble.strip().splitlines()
            log.warning(
                "new pictures could not be indexed: %s", lines[-1] if lines else self.process.returncode
            )
            return
        done = {name: count for name, count in json.loads(out).items() if count}
        if done.keys() - {"skipped"}:
            self.say("pictures: " + ", ".join(f"{count:,} {name}" for name, count in done.items()))

    def stop(self) -> None:
        """End it. What is indexed stays; the rest follows next time."""
        self.stopped = True
        self.process.terminate()
        try:
            self.process.wait(2)
        except subprocess.TimeoutExpired:
            self.process.kill()
        self.thread.join(2)
