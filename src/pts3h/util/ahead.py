"""Make the next while the last is used: reading pictures and running a network do not wait for each other."""

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeVar

Job = TypeVar("Job")
Made = TypeVar("Made")


def ahead(make: Callable[[Job], Made], jobs: Sequence[Job]) -> Iterator[Made]:
    """What ``make`` makes of each job, in order; a second thread is one job ahead of whoever uses them.

    An error is raised where its result would have been. Whoever leaves early waits for the job under way.
    """
    if len(jobs) < 2:  # there is nothing to be ahead of
        yield from map(make, jobs)
        return
    with ThreadPoolExecutor(1, thread_name_prefix="ahead") as thread:
        pending: Future[Made] | None = None
        for job in jobs:
            following = thread.submit(make, job)
            if pending is not None:
                yield pending.result()
            pending = following
        if pending is not None:
            yield pending.result()
