"""Locks: one at a time, also where the file of the lock is removed by another in the wrong moment."""

import time
from concurrent.futures import ThreadPoolExecutor

from pts3h.cache import locks
from pts3h.cache.locks import if_unused, locked, remove_unused


def test_one_at_a_time(tmp_path):
    inside, most = [], []

    def work(_):
        remove_unused([tmp_path / "lock"])  # as a run that begins does
        with locked(tmp_path / "lock"):
            inside.append(1)
            most.append(len(inside))
            time.sleep(0.01)
            inside.pop()
            (tmp_path / "lock").unlink()  # as a run that ends does

    with ThreadPoolExecutor(4) as threads:
        list(threads.map(work, range(40)))
    assert len(most) == 40 and max(most) == 1


def test_a_file_that_is_removed_before_it_is_locked_is_made_again(tmp_path, monkeypatch):
    path, lock, tries = tmp_path / "lock", locks.lock, []

    def late(file, operation, *, wait=True):
        if wait and not tries:
            tries.append(operation)
            remove_unused([path])
            assert not path.exists()
        lock(file, operation, wait=wait)

    monkeypatch.setattr(locks, "lock", late)
    with locked(path):
        assert tries == ["LOCK_EX"]
        with if_unused(path) as unused:
            assert not unused  # whoever comes now waits
