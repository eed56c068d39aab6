"""Readers and writers of one folder at a time."""

import subprocess
import sys
import textwrap

import pytest

from ..moving_window import check_readers_beside_a_writer, check_two_writers


def test_threads_and_processes_read_while_one_writes(tmp_path):
    check_readers_beside_a_writer(tmp_path / "index")


def test_two_writers_take_turns(tmp_path):
    check_two_writers(tmp_path / "index")


def test_a_forked_process_opens_its_own(tmp_path):
    pytest.importorskip("pts3h.kernel.native", exc_type=ImportError)
    code = textwrap.dedent("""
        import os, sys
        import numpy as np
        from pts3h.errors import UserError
        from pts3h.index import open_index
        from pts3h.kernel import native

        native.WORDS_PER_THREAD, native.threads = 10, lambda: 2
        codes = np.random.default_rng(0).integers(0, 256, (100, 8), np.uint8)
        index = open_index(sys.argv[1], 64)
        index.add(range(100), codes)
        assert index.search(codes[3], k=1)[0].ids == [3]
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
    """)
    subprocess.run([sys.executable, "-c", code, str(tmp_path / "index")], check=True, timeout=60)
