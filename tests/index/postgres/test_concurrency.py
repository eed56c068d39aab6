"""Many who read and write one table at a time, and some who are killed."""

import os
import subprocess
import sys
import textwrap
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from pts3h.errors import UserError

from ..moving_window import check_readers_beside_a_writer, check_two_writers, codes_of
from .checks import name_of

pytestmark = pytest.mark.postgres


def test_threads_and_processes_read_while_one_writes(postgres):
    check_readers_beside_a_writer(postgres.address())


def test_two_writers_take_turns(postgres):
    check_two_writers(postgres.address())


def test_writers_of_the_same_ids_in_opposite_orders(postgres):
    """Row by row, each would wait for the other. One after the other, the last one has written everything."""
    ids, codes = list(range(2000)), codes_of(range(2000))
    with postgres.open(postgres.address(), bits=64) as index:

        def write(who):
            for _ in range(5):
                order = ids if who % 2 else ids[::-1]
                index.add(order, codes[order], [{"by": who}] * 2000)
                index.remove(order[:10])
                index.add(order[:10], codes[order[:10]], [{"by": who}] * 10)

        with ThreadPoolExecutor(4) as threads:
            list(threads.map(write, range(4)))
        assert index.count == 2000
        (item,) = index.get([1000])
        assert len(index.search(codes[0], 3000, {"by": item.meta["by"]})[0]) >= 1990


def test_a_batch_of_queries_sees_one_moment(postgres):
    codes = codes_of(range(100))
    with postgres.open(postgres.address(), bits=64) as index, postgres.open(postgres.address(), bits=64):
        index.add(range(100), codes, [{"step": 0}] * 100)
        done = threading.Event()

        def write():
            step = 0
            while not done.is_set():
                step += 1
                index.add(range(100), codes, [{"step": step % 2}] * 100)

        writer = threading.Thread(target=write)
        writer.start()
        try:
            for _ in range(20):
                found = {len(hits) for hits in index.search(np.repeat(codes[:1], 30, 0), 100, {"step": 1})}
                assert found in ({0}, {100})
                assert len({item.meta["step"] for item in index.get(range(100))}) == 1
        finally:
            done.set()
            writer.join()


WRITER = textwrap.dedent("""
    import os, signal, sys
    import numpy as np
    from pts3h.index import open_index
    from pts3h.index.postgres.items import Items

    put, moment = Items.put, sys.argv[2]

    def die(self, connection, *what):
        if moment == "during":
            copy = connection.cursor().copy("COPY " + sys.argv[3] + " FROM STDIN")
            copy.__enter__().write_row((7, "0" * 64, "{}"))
            os.kill(os.getpid(), signal.SIGKILL)
        put(self, connection, *what)
        os.kill(os.getpid(), signal.SIGKILL)

    with open_index(sys.argv[1]) as index:
        index.add([1, 2, 3], np.zeros((3, 8), np.uint8), [{"from": "the living"}] * 3)
        Items.put = die
        index.add([3, 4, 5], np.ones((3, 8), np.uint8), [{"from": "the dead"}] * 3)
""")


@pytest.mark.parametrize("moment", ["during", "before the end"])
def test_a_killed_writer_leaves_nothing_half_done_and_holds_nobody_up(postgres, moment):
    address = postgres.address()
    with postgres.open(address, bits=64) as index:
        index.add([0], np.zeros((1, 8), np.uint8))
        command = [sys.executable, "-c", WRITER, address, moment, name_of(address)]
        assert subprocess.run(command, timeout=120).returncode == -9
        index.add([6], np.zeros((1, 8), np.uint8))
        assert index.within(np.zeros(8, np.uint8), 64)[0].ids == [0, 1, 2, 3, 6]
        assert index.get([3])[0].meta == {"from": "the living"}


@pytest.mark.skipif(not hasattr(os, "fork"), reason="processes do not fork here")
def test_a_forked_process_opens_its_own(postgres):
    code = textwrap.dedent("""
        import os, sys
        import numpy as np
        from pts3h.errors import UserError
        from pts3h.index import open_index

        codes = np.random.default_rng(0).integers(0, 256, (100, 8), np.uint8)
        index = open_index(sys.argv[1], 64)
        index.add(range(100), codes)
        child = os.fork()
        if child == 0:
            try:
                index.search(codes[3])
            except UserError as error:
                assert "open it again" in str(error)
                index.close()
                with open_index(sys.argv[1]) as own:
                    own.add([100], codes[:1])
                    assert own.within(codes[0], 0)[0].ids == [0, 100]
                os._exit(7)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
        assert index.within(codes[0], 0)[0].ids == [0, 100]
        index.close()
    """)
    subprocess.run([sys.executable, "-c", code, postgres.address()], check=True, timeout=120)


def test_closing_while_others_search(postgres):
    index = postgres.open(postgres.address(), bits=64)
    index.add(range(100), codes_of(range(100)))
    own = "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'pts3h'"

    def search(_):
        try:
            return len(index.search(codes_of([1]), 5)[0])
        except UserError as error:
            return str(error)

    with ThreadPoolExecutor(8) as threads:
        answers = [threads.submit(search, number) for number in range(200)]
        index.close()
    assert {answer.result() for answer in answers} <= {
        5,
        "the index is closed; open it again with open_index",
    }
    while postgres.sql(own) != [(0,)]:  # a server takes a moment to notice
        pass
