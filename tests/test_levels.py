"""The run of all instruction levels finds a wrong answer, and says which tool is missing."""

import struct
import sys

import numpy as np
import pytest
from tools import run_levels
from tools.run_levels import Answers, Problem, Way


def written(problem, near, name=b"neon"):
    """What the program would write for these distances."""
    chosen = np.flatnonzero(near < problem.limit)
    parts = [near.astype(np.uint16), np.array([len(chosen)], np.uint64)]
    parts += [chosen.astype(np.uint16), near[chosen].astype(np.uint16)]
    return name.ljust(16, b"\0") + b"".join(part.tobytes() for part in parts) + bytes(16)


def problems(count=20):
    rng = np.random.default_rng(7)
    return [Problem(rng) for _ in range(count)]


def test_a_right_answer_counts():
    for problem in problems():
        assert problem.check(Answers(written(problem, problem.near)), "here") == {"neon"}


def test_a_wrong_one_ends_the_run():
    problem = next(one for one in problems() if len(one.near))
    near = problem.near.copy()
    near[-1] += 1
    with pytest.raises(SystemExit, match="neon on here is wrong"):
        problem.check(Answers(written(problem, near)), "here")
    with pytest.raises(SystemExit, match="too little"):
        problem.check(Answers(written(problem, problem.near)[:-1]), "here")


def test_distances_are_those_of_single_bits():
    for problem in problems():
        words, _, first, second, stride, begin, end, _ = struct.unpack("8Q", problem.bytes[:64])
        numbers = np.frombuffer(problem.bytes[64:], np.uint64)
        masks, query, columns = numbers[:words], numbers[words : 2 * words], numbers[2 * words :]
        for row in range(begin, min(end, begin + 5)):
            differ = [int(query[w] ^ columns[w * stride + row]) for w in range(words)]
            both = zip(differ, map(int, masks), strict=True)
            far = sum(first * (d & m).bit_count() + second * (d & ~m).bit_count() for d, m in both)
            assert far == problem.near[row - begin]


def test_what_is_not_installed_is_named(monkeypatch, capsys):
    monkeypatch.setattr(run_levels, "WAYS", [Way("an emulator", [sys.executable], ["no-such-emulator"])])
    monkeypatch.setattr(sys, "argv", ["run_levels.py", "--problems", "1"])
    run_levels.main()
    said = capsys.readouterr().out.splitlines()
    assert said[0] == "an emulator is left out: no-such-emulator is not installed"
    levels = [line for line in said if "NOT RUN" in line]
    assert [line.split()[0] for line in levels] == ["avx512", "avx2", "neon", "portable"]
