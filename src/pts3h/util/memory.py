"""Where glibc keeps freed memory, and for how long: a network's activations come and go at every batch.

By default glibc gives blocks over a limit back to the system as soon as they are freed, and the next batch
has to get them again, page by page. On some machines that took half of the time. The price: what a process
once used stays with it until it ends.
"""

import ctypes
import os
import platform
from functools import cache

TRIM_THRESHOLD, MMAP_THRESHOLD, MOST_STORES = -1, -3, -8  # names of glibc's mallopt, from malloc.h
LARGEST_MMAP_THRESHOLD = 1 << 30
NEVER = 2**31 - 1
SWITCH = "PTS3H_KEEP_MEMORY"


@cache
def keep_freed_memory() -> bool:
    """Ask glibc to keep freed memory; says whether it will. ``PTS3H_KEEP_MEMORY=0`` switches it off."""
    if os.environ.get(SWITCH) == "0" or platform.libc_ver()[0] != "glibc":
        return False
    mallopt = ctypes.CDLL(None).mallopt
    return bool(mallopt(MMAP_THRESHOLD, LARGEST_MMAP_THRESHOLD) and mallopt(TRIM_THRESHOLD, NEVER))


@cache
def share_freed_memory() -> bool:
    """Ask glibc to give threads to come no store of their own; says whether it will.

    What a thread has freed stays in its store. So what threads used one after the other adds up, as if they
    had used it at once.
    """
    return platform.libc_ver()[0] == "glibc" and bool(ctypes.CDLL(None).mallopt(MOST_STORES, 1))


def return_freed_memory() -> bool:
    """Give what is free back to the system, after work that took much for a moment; says whether it did."""
    return platform.libc_ver()[0] == "glibc" and bool(ctypes.CDLL(None).malloc_trim(0))
