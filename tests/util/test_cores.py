"""How many threads networks get, whether torch is there yet or not."""

import os
import subprocess
import sys

import pytest

SCRIPT = """
import sys
from pts3h.util.cores import limit_threads, network_threads, usable_cores
print(network_threads(), usable_cores())
if sys.argv[1] == "before":
    limit_threads(3)
import pts3h.model.inference, torch
if sys.argv[1] == "after":
    limit_threads(3)
print(network_threads(), torch.get_num_threads())
"""


def said(when, **environment):
    command = [sys.executable, "-c", SCRIPT, when]
    kept = {name: text for name, text in os.environ.items() if name != "OMP_NUM_THREADS"}
    done = subprocess.run(command, env=kept | environment, capture_output=True, text=True, check=True)
    return [[int(word) for word in line.split()] for line in done.stdout.splitlines()]


@pytest.mark.parametrize("when", ["before", "after"])
def test_a_limit_holds_for_torch_imported_before_or_later(when):
    (before, cores), after = said(when)
    assert before == cores and after == [3, 3]


def test_the_environment_decides_where_nobody_set_a_limit():
    first, second = said("never", OMP_NUM_THREADS="2")
    assert first[0] == 2 and second == [2, 2]
    assert said("never", OMP_NUM_THREADS="2,1")[0][0] == first[1]
