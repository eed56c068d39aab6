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
LARGE = 1 << 20  # bytes of a block that is given back as soon as it is freed, if nobody asked to keep it
NEVER = 2**31 - 1
SWITCH = "PTS3H_KEEP_MEMORY"


@cache
def keep_freed_memory() -> bool:
    """Ask glibc to keep freed memory; says whether it will. ``PTS3H_KEEP_MEMORY=0`` switches it off.

    Only the store of the main thread can keep large blocks, so threads to come are to use it too. One that
    had a store before gets its pages anew at every batch, a third of the time a network takes.
    """
    if os.environ.get(SWITCH) == "0" or not share_freed_memory():
        return False
    mallopt = ctypes.CDLL(None).mallopt
    return bool(mallopt(MMAP_THRESHOLD, LARGEST_MMAP_THRESHOLD) and mallopt(TRIM_THRESHOLD, NEVER))


@cache
def return_large_blocks() -> bool:
    """Ask glibc to give large blocks back as soon as they are freed; says whether it will.

    By itself it raises the limit to the largest block that was ever freed, up to 32 MB, and lets each store
    of its threads keep twice as much at its end, where :func:`return_freed_memory` does not reach. So arrays
    that threads make and free one after the other stay with the process, once per store. It does nothing if
    freed memory is to be kept.
    """
    is_kept = keep_freed_memory.cache_info().currsize and keep_freed_memory()  # if anybody asked for it
    if is_kept or platform.libc_ver()[0] != "glibc":
        return False
    mallopt = ctypes.CDLL(None).mallopt
    return bool(mallopt(MMAP_THRESHOLD, LARGE) and mallopt(TRIM_THRESHOLD, 2 * LARGE))


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
