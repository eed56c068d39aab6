"""What threads share never runs out."""

import random
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from pts3h.util.budget import Budget


def test_no_more_is_held_than_there_is():
    budget, held, most, lock = Budget(10), [0], [0], threading.Lock()

    def work(amount):
        with budget.take(amount):
            with lock:
                held[0] += amount
                most[0] = max(most[0], held[0])
            with lock:
                held[0] -= amount

    amounts = [random.Random(0).randint(0, 10) for _ in range(500)]
    with ThreadPoolExecutor(16) as threads:
        list(threads.map(work, amounts))
    assert held == [0] and most[0] <= 10


def test_what_failed_gives_back_its_part():
    budget = Budget(10)
    for _ in range(3):
        with pytest.raises(RuntimeError), budget.take(10):
            raise RuntimeError


def test_more_than_there_is_does_not_wait_for_ever():
    with pytest.raises(ValueError, match="11 is more than there is, 10"), Budget(10).take(11):
        pass
