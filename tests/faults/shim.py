"""Faults of the disk, at the n-th call that changes something: see ``shim.c``."""

import ctypes
import errno
import subprocess
from dataclasses import dataclass, replace
from pathlib import Path

OPEN, CREATE, WRITE, SYNC, MOVE = 1, 2, 4, 8, 16


@dataclass(frozen=True)
class Fault:
    """What happens at the n-th call of some kinds.

    Attributes:
        name: for the table.
        error: number of the error; 0 for kill -9.
        kinds: which calls count.
        lasting: whether all later calls fail too.
        number: which call is the first to fail; 0 for none, to count them.
    """

    name: str
    error: int
    kinds: int
    lasting: bool = True
    number: int = 0

    def at(self, number):
        return replace(self, number=number)

    def arm(self, folder):
        """From now on, in this process."""
        loaded().faults_arm(str(folder).encode(), self.number, self.error, self.lasting, self.kinds)


KILL = Fault("kill -9", 0, OPEN | CREATE | WRITE | SYNC | MOVE)
FULL = Fault("disk full", errno.ENOSPC, CREATE | WRITE | SYNC)
READ_ONLY = Fault("disk turns read-only", errno.EROFS, OPEN | CREATE | MOVE)
FAILING = Fault("disk fails once", errno.EIO, WRITE | SYNC | MOVE, lasting=False)


def loaded():
    library = ctypes.CDLL(None)
    library.faults_arm.argtypes = [ctypes.c_char_p, ctypes.c_long, ctypes.c_int, ctypes.c_int, ctypes.c_int]
    library.faults_seen.restype = ctypes.c_long
    return library


def build(folder):
    """Compile the library into ``folder``."""
    library = folder / "faults.so"
    source = Path(__file__).with_name("shim.c")
    subprocess.run(["cc", "-shared", "-fPIC", "-O1", "-o", library, source, "-ldl"], check=True)
    return library
