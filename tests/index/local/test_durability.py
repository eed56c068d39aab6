"""kill -9 at random moments: what was acknowledged is stored, and nothing is half stored."""

import random
import signal
import subprocess
import sys
import textwrap
import time

import numpy as np
import pytest

from pts3h.index import open_index

# Says what it is about to do, does it, and says that it is done. Low thresholds make it merge records,
# rewrite the log and save the cache all the time.
WRITER = textwrap.dedent("""
    import random, sys
    import numpy as np
    from pts3h.index import open_index
    from pts3h.index.local import index as local, log, snapshot

    folder, seed, version = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    local.RECENT, snapshot.RECENT, local.GARBAGE, log.RECORD = 8, 8, 200, 64
    rng = random.Random(seed)

    def code(key, version):
        return np.random.default_rng([key, version]).integers(0, 256, 8, np.uint8)

    def say(*words):
        print(*words, flush=True)

    index = open_index(folder, 64)
    say("ready")
    while True:
        version += 1
        keys = rng.sample(range(300), rng.choice([1, 1, 2, 5, 40]))
        choice = rng.random()
        if choice < 0.6:
            say("add", version, *keys)
            codes = np.stack([code(key, version) for key in keys])
            index.add(keys, codes, [{"version": version}] * len(keys))
        elif choice < 0.85:
            say("remove", version, *keys)
            index.remove(keys)
        else:
            say("nothing", version)
            index.close()
            index = open_index(folder)
            index.count
        say("done")
""")


def code(key, version):
    return np.random.default_rng([key, version]).integers(0, 256, 8, np.uint8)


def after(state, line):
    """The state after an announced step."""
    step, version, *keys = line.split()
    state = dict(state)
    for key in map(int, keys):
        if step == "add":
            state[key] = int(version)
        else:
            state.pop(key, None)
    return state, int(version)


def run_and_kill(folder, seed, version, steps, seconds):
    """The lines a writer printed before it was killed, this many seconds after so many steps."""
    command = [sys.executable, "-c", WRITER, str(folder), str(seed), str(version)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as writer:
        first, said = writer.stdout.readline(), ""
        while said.count("done\n") < steps and (line := writer.stdout.readline()):
            said += line
        time.sleep(seconds)
        writer.send_signal(signal.SIGKILL)
        said, complaints = said + writer.stdout.read(), writer.stderr.read()
    assert first == "ready\n", complaints
    assert complaints == ""
    return said.splitlines() if said.endswith("\n") else said.splitlines()[:-1]


def kill_again_and_again(folder, times):
    rng = random.Random(times)
    state, version, steps = {}, 0, 0
    for kill in range(times):
        unsure = state
        for line in run_and_kill(folder, kill, version, rng.randint(0, 8), rng.uniform(0, 0.02)):
            if line == "done":
                state = unsure
                steps += 1
            else:
                unsure, version = after(state, line)
        with open_index(folder, 64) as index:
            items = {item.id: item for item in index.get(range(300)) if item is not None}
            found = {key: item.meta["version"] for key, item in items.items()}
            assert found in (state, unsure), f"kill {kill}"
            state = found
            assert index.count == len(state)
            for key, item in items.items():
                np.testing.assert_array_equal(item.code, code(key, state[key]))
            if state:
                key = rng.choice(sorted(state))
                (hits,) = index.search(items[key].code, k=1000)
                assert sorted(hits.ids) == sorted(state)
                (hits,) = index.search(items[key].code, k=1000, where={"version": state[key]})
                assert sorted(hits.ids) == sorted(one for one in state if state[one] == state[key])
    assert steps >= times  # the writers did get somewhere


def test_a_few_kills(tmp_path):
    kill_again_and_again(tmp_path / "index", 12)


@pytest.mark.slow
def test_two_hundred_kills(tmp_path):
    kill_again_and_again(tmp_path / "index", 200)
