"""Threads of torch, set when this is imported: by whoever runs torch before anything else may have."""

from functools import partial

import torch

from .cores import thread_limit
from .forks import after_fork

if (limit := thread_limit()) is not None:
    torch.set_num_threads(limit)
# OpenMP's threads stay behind when a process forks, and a child that counts on them waits for ever.
after_fork(partial(torch.set_num_threads, 1))
