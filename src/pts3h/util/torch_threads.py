"""Threads of torch, set when this is imported: by whoever runs torch before anything else may have."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial

import torch

from .cores import thread_limit
from .forks import after_fork

if (limit := thread_limit()) is not None:
    torch.set_num_threads(limit)
# OpenMP's threads stay behind when a process forks, and a child that counts on them waits for ever.
after_fork(partial(torch.set_num_threads, 1))


@contextmanager
def one_thread() -> Iterator[None]:
    """Run torch on one thread, unless ``OMP_NUM_THREADS`` asks for more.

    For thousands of short operations: each waits until all its threads are done. Where other programs use the
    cores too, one of them is always late, and two threads take ten times as long as one.
    """
    before = torch.get_num_threads()
    if not os.environ.get("OMP_NUM_THREADS"):
        torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)
