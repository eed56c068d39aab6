"""Turns are taken in the order in which threads come."""

import threading
import time

import pytest

from pts3h.util.turns import Turns


class Crowd:
    """Threads that come one after the other, each of which notes when its turn is."""

    def __init__(self, turns, count):
        self.turns, self.order, self.may_leave = turns, [], threading.Event()
        self.threads = []
        for number in range(count):
            before = len(turns._waiting)
            thread = threading.Thread(target=self.come, args=(number,))
            thread.start()
            self.threads.append(thread)
            while len(turns._waiting) == before and number not in self.order:
                time.sleep(0.001)

    def come(self, number):
        with self.turns:
            self.order.append(number)
            self.may_leave.wait()

    def all_leave(self):
        self.may_leave.set()
        for thread in self.threads:
            thread.join()


def test_who_comes_first_goes_first():
    crowd = Crowd(Turns(1), 6)
    assert crowd.order == [0]
    crowd.all_leave()
    assert crowd.order == [0, 1, 2, 3, 4, 5]


def test_no_more_than_there_are_places():
    turns = Turns(2)
    crowd = Crowd(turns, 6)
    assert crowd.order == [0, 1], "two places"
    crowd.all_leave()
    assert sorted(crowd.order) == [0, 1, 2, 3, 4, 5]  # two at a time, so that either may note it first
    with turns, turns:
        assert turns._free == 0
    assert turns._free == 2


def test_a_place_is_handed_on_and_not_taken_back():
    turns = Turns(1)
    turns.__enter__()
    crowd = Crowd(turns, 1)
    turns.__exit__()
    again = threading.Thread(target=crowd.come, args=("again",))
    again.start()
    while not crowd.order:
        time.sleep(0.001)
    assert crowd.order == [0], "although the first would have been quicker"
    crowd.all_leave()
    again.join()
    assert crowd.order == [0, "again"]


def test_a_failure_gives_the_place_back():
    turns = Turns(1)
    with pytest.raises(ValueError, match="odd"), turns:
        raise ValueError("odd")
    assert turns._free == 1


class Stopped:
    """Stands for the lock of one who waits and is stopped by Ctrl-C."""

    meanwhile = staticmethod(lambda: None)

    def __init__(self):
        self.taken = False

    def acquire(self):
        if self.taken:
            self.meanwhile()
            raise KeyboardInterrupt
        self.taken = True

    def release(self):
        self.taken = False


@pytest.mark.parametrize("handed_over", [False, True])
def test_one_who_leaves_while_waiting_holds_nobody_up(monkeypatch, handed_over):
    turns = Turns(1)
    turns.__enter__()
    monkeypatch.setattr("pts3h.util.turns.threading.Lock", Stopped)
    if handed_over:  # in the very moment in which it is stopped
        monkeypatch.setattr(Stopped, "meanwhile", staticmethod(turns.__exit__))
    with pytest.raises(KeyboardInterrupt):
        turns.__enter__()
    if not handed_over:
        turns.__exit__()
    assert turns._free == 1 and not turns._waiting
