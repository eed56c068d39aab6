"""What is served can be exchanged while people read it."""

import logging
import threading

from pts3h.errors import UserError
from pts3h.web.collection import Collection


class Generation:
    """As much of an index and of what is served as a collection asks for."""

    def __init__(self, fails=False):
        self.index, self.readers = self, 0
        self.fails, self.closed_by = fails, []

    def close(self):
        self.closed_by.append(threading.current_thread().name)
        if self.fails:
            raise UserError("the disk is full")


def test_the_last_reader_does_not_wait_for_the_old_one_to_be_closed():
    """The last reader may be the loop that answers everybody, and closing writes to the disk."""
    old, new = Generation(), Generation()
    collection = Collection(old, "photos")
    with collection.reading() as first, collection.reading():
        collection.swap(new)
        with collection.reading() as later:
            assert later is new and first is old and not old.closed_by
    collection.close()
    assert [name.startswith("close") for name in old.closed_by] == [True]
    assert new.closed_by == [threading.current_thread().name]


def test_one_that_nobody_reads_is_closed_at_once():
    old = Generation()
    collection = Collection(old, "photos")
    collection.swap(Generation())
    collection.close()
    assert len(old.closed_by) == 1


def test_the_log_says_why_the_old_one_was_not_closed(caplog):
    collection = Collection(Generation(fails=True), "photos")
    with caplog.at_level(logging.ERROR, "pts3h.web"):
        collection.swap(Generation())
        collection.close()
    assert "not closed" in caplog.text and "the disk is full" in caplog.text
