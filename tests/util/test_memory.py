"""glibc keeps freed memory when it is asked to, and gives it back otherwise."""

import os
import platform
import subprocess
import sys

import pytest

from pts3h.util.memory import return_large_blocks

# memory of this process in pages, after a large array came and went
PROGRAM = """
import numpy as np
from pathlib import Path
from pts3h.util.memory import keep_freed_memory

def resident():
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4096

kept = keep_freed_memory()
before = resident()
array = np.ones(25_000_000)
del array
print(kept, resident() - before > 100_000_000)
"""


@pytest.mark.parametrize(("switch", "kept"), [("1", "True True"), ("0", "False False")])
def test_what_becomes_of_freed_memory(switch, kept):
    if platform.libc_ver()[0] != "glibc":
        kept = "False"
    environment = os.environ | {"PTS3H_KEEP_MEMORY": switch}
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, env=environment)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip().startswith(kept)


RETURNED = """
from pts3h.util.memory import return_freed_memory
print(return_freed_memory(), resident() - before > 100_000_000)
"""


def test_what_is_kept_is_given_back_when_asked():
    expected = "True False" if platform.libc_ver()[0] == "glibc" else "False"
    program, environment = PROGRAM + RETURNED, os.environ | {"PTS3H_KEEP_MEMORY": "1"}
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, env=environment)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1].startswith(expected)


# Threads one after the other, each alive until the end and so with a store of its own, make and free arrays
STORES = """
import threading
import numpy as np
from pathlib import Path
from pts3h.util.memory import keep_freed_memory, return_large_blocks

def resident():
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4096

def work(mine, over):
    array = np.ones(1_000_000)
    del array
    mine.set()
    over.wait()

first = np.ones(2_000_000)
del first  # now blocks of 16 MB are no longer large to glibc
before, over = resident(), threading.Event()
threads = []
{ask}
for _ in range(6):
    mine = threading.Event()
    threads.append(threading.Thread(target=work, args=(mine, over)))
    threads[-1].start()
    mine.wait()
print(resident() - before > 20_000_000)
over.set()
"""


@pytest.mark.parametrize(
    ("switch", "ask", "stays"),
    [
        ("1", "print(return_large_blocks())", "True False"),
        ("1", "", "True"),  # what this is good for: without it, it stays
        ("1", "print(keep_freed_memory(), return_large_blocks())", "True False False"),  # all in one store
        ("0", "print(keep_freed_memory(), return_large_blocks())", "False True False"),
    ],
)
def test_large_blocks_do_not_stay_with_each_thread(switch, ask, stays):
    if platform.libc_ver()[0] != "glibc":
        assert not return_large_blocks()
        return
    environment = os.environ | {"PTS3H_KEEP_MEMORY": switch}
    program = STORES.replace("{ask}", ask)
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, env=environment)
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == stays.split()


# A thread makes and frees what a network makes of a batch, again and again
BATCHES = """
import resource, threading
from pts3h.util.memory import keep_freed_memory

def work():
    for _ in range(3):
        faults = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
        before = b"x" * 50_000_000  # numpy would ask for huge pages, which are few
        after = b"x" * 50_000_000
        del before, after
        faults = resource.getrusage(resource.RUSAGE_SELF).ru_minflt - faults
    print(faults > 1_000)

keep_freed_memory()
thread = threading.Thread(target=work)
thread.start()
thread.join()
"""


@pytest.mark.parametrize(("switch", "again"), [("1", "False"), ("0", "True")])
def test_a_thread_gets_its_pages_once(switch, again):
    """What empties a store of a thread's own would go back to the system each time."""
    if platform.libc_ver()[0] != "glibc":
        return
    environment = os.environ | {"PTS3H_KEEP_MEMORY": switch}
    done = subprocess.run([sys.executable, "-c", BATCHES], capture_output=True, text=True, env=environment)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == again
