"""One job ahead of whoever uses what is made."""

import threading

import pytest

from pts3h.util.ahead import ahead


@pytest.mark.parametrize("count", [0, 1, 2, 5])
def test_everything_once_and_in_order(count):
    assert list(ahead(lambda job: 10 * job, range(count))) == [10 * job for job in range(count)]


def test_the_next_is_made_while_one_is_used():
    made = [threading.Event() for _ in range(4)]

    def make(job):
        made[job].set()
        return job

    for job in ahead(make, range(4)):
        assert made[min(job + 1, 3)].wait(timeout=60)  # nobody asked for it yet
        assert not any(event.is_set() for event in made[job + 2 :])  # no further: what is made takes memory


def test_an_error_is_raised_in_its_place():
    def make(job):
        if job == 2:
            raise ValueError("the third")
        return job

    got = []
    with pytest.raises(ValueError, match="the third"):
        for made in ahead(make, range(5)):
            got.append(made)
    assert got == [0, 1]


def test_whoever_leaves_early_leaves_no_thread():
    before = threading.active_count()
    made = ahead(str, range(5))
    assert next(made) == "0"
    made.close()
    assert threading.active_count() == before


def test_one_job_needs_no_thread():
    assert list(ahead(lambda _: threading.current_thread(), [0])) == [threading.current_thread()]
