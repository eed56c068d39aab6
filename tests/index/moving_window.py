"""Readers in threads and in other processes while one writer adds and removes.

The writer moves a window over the whole numbers: item n has a code made from n, items are added at the front
and removed at the back, a batch at a time. At any moment an index holds whole batches, so an answer can be
checked on its own: the items found must be one window with the right codes, and windows never go back.
"""

import subprocess
import sys
import textwrap
import threading
from pathlib import Path

import numpy as np

from pts3h.index import open_index

BATCH, KEPT = 50, 20  # a step adds a batch and removes the one that was added KEPT steps before


def codes_of(numbers):
    mixed = (np.asarray(numbers, np.uint64) + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)
    return mixed.view(np.uint8).reshape(-1, 8)


def check_answer(hits, query, front):
    """Whether one answer over everything is a window not behind ``front``; returns its front."""
    numbers = sorted(hits.ids)
    newest = numbers[-1] + 1
    oldest = numbers[0]
    assert numbers == list(range(oldest, newest)), "a hole"
    # between the add and the remove of a step there is one batch more
    assert newest % BATCH == 0 and oldest % BATCH == 0
    assert oldest in (max(0, newest - KEPT * BATCH), max(0, newest - (KEPT + 1) * BATCH))
    assert newest >= front, "an answer older than one given before"
    distances = np.bitwise_count(codes_of(hits.ids) ^ query).sum(axis=1).tolist()
    assert hits.distances == distances
    assert list(zip(distances, hits.ids, strict=True)) == sorted(zip(distances, hits.ids, strict=True))
    return newest


def read(index, stop, at_least=0):
    """Search until told to stop, at least ``at_least`` times."""
    rng = np.random.default_rng()
    front = asked = 0
    while not stop() or asked < at_least:
        query = rng.integers(0, 256, 8, np.uint8)
        front = check_answer(index.search(query, k=10_000)[0], query, front)
        near = index.within(query, 30)[0]
        assert all(distance <= 30 for distance in near.distances)
        front = check_answer(index.within(query, 64)[0], query, front)
        asked += 1
    return asked


READER = textwrap.dedent("""
    import sys
    sys.path.insert(0, sys.argv[2])
    import select
    from pts3h.index import open_index
    from tests.index.moving_window import read

    with open_index(sys.argv[1]) as index:
        print("reading", flush=True)
        read(index, lambda: bool(select.select([sys.stdin], [], [], 0)[0]), 5)
    print("fine", flush=True)
""")


def check_readers_beside_a_writer(address):
    """Threads and processes read while one writes."""
    with open_index(address, 64) as index:
        index.add(range(BATCH), codes_of(range(BATCH)))
        command = [sys.executable, "-c", READER, str(address), str(Path(__file__).parents[2])]
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
        processes = [subprocess.Popen(command, **pipes) for _ in range(2)]
        for process in processes:
            assert process.stdout.readline() == "reading\n"

        done = threading.Event()
        wrong = []

        def reader(own_index):
            try:
                read(own_index, done.is_set, 3)
            except BaseException as error:
                wrong.append(error)

        other = open_index(address)  # half of the threads share the writer's index, half another one
        threads = [threading.Thread(target=reader, args=(index if n % 2 else other,)) for n in range(8)]
        for thread in threads:
            thread.start()
        for step in range(1, 80):
            numbers = range(step * BATCH, (step + 1) * BATCH)
            index.add(numbers, codes_of(numbers))
            # what was acknowledged is seen at once, here and through another connection
            for seen_by in (index, other):
                assert seen_by.search(codes_of([numbers[-1]]), k=1)[0].ids == [numbers[-1]]
            if step >= KEPT:
                index.remove(range((step - KEPT) * BATCH, (step - KEPT + 1) * BATCH))
            if wrong:
                break
        done.set()
        for thread in threads:
            thread.join()
        other.close()
        assert not wrong, wrong
        for process in processes:
            said, complaints = process.communicate("stop\n", timeout=60)
            assert said == "fine\n", complaints
        assert index.count == KEPT * BATCH


def check_two_writers(address):
    """Neither loses what the other wrote."""
    with open_index(address, 64) as one, open_index(address) as two:

        def write(index, first):
            for number in range(first, 60, 2):
                index.add([number], codes_of([number]), [{"by": first}])

        threads = [threading.Thread(target=write, args=pair) for pair in ((one, 0), (two, 1))]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        for index in (one, two):
            assert sorted(index.within(codes_of([0]), 64)[0].ids) == list(range(60))
            assert len(index.search(codes_of([0]), 100, where={"by": 1})[0]) == 30
