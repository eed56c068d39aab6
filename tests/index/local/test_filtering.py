"""Filters beside other work: nobody waits, what is known survives a write, an answer is of one moment."""

import sqlite3
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pts3h.index import open_index
from pts3h.index.filters import Compare, OneOf
from pts3h.index.local import filtering, snapshot
from pts3h.index.local.metadata import LONG, Metadata

from ..oracle import METAS, WHERES, Oracle, as_pairs, random_codes

N = 400
CODES = np.random.default_rng(0).integers(0, 256, (N, 8), np.uint8)
RED = {"colour": "red"}


@pytest.fixture
def index(tmp_path):
    with open_index(tmp_path / "index", 64) as index:
        index.add(range(N), CODES, [{"colour": "red" if n % 2 else "blue", "n": n} for n in range(N)])
        yield index


@pytest.fixture
def asked(monkeypatch):
    """What is read of the metadata: conditions, and ids one by one."""
    conditions, ids = [], []
    ids_where, get = Metadata.ids_where, Metadata.get

    def counted_where(self, condition):
        conditions.append(condition)
        return ids_where(self, condition)

    def counted_get(self, some):
        ids.extend(some)
        return get(self, some)

    monkeypatch.setattr(Metadata, "ids_where", counted_where)
    monkeypatch.setattr(Metadata, "get", counted_get)
    return conditions, ids


class Stopped:
    """A filter in another thread that stops inside of the database until it is told to go on."""

    def __init__(self, index, monkeypatch, where):
        self.inside, self.go_on = threading.Event(), threading.Event()
        ids_where, first = Metadata.ids_where, threading.Lock()

        def stops(metadata, condition):
            found = ids_where(metadata, condition)
            if first.acquire(blocking=False):
                self.inside.set()
                assert self.go_on.wait(60)
            return found

        monkeypatch.setattr(Metadata, "ids_where", stops)
        self.threads = ThreadPoolExecutor(2)
        self.answer = self.threads.submit(lambda: index.within(CODES[0], 64, where)[0].ids)
        assert self.inside.wait(60)

    def meanwhile(self, work):
        """Do something in a second thread, which must not wait for the first."""
        return self.threads.submit(work).result(30)

    def end(self):
        self.go_on.set()
        found = self.answer.result(60)
        self.threads.shutdown()
        return found


def test_nobody_waits_for_a_filter(index, monkeypatch):
    stopped = Stopped(index, monkeypatch, RED)
    try:
        assert stopped.meanwhile(lambda: index.search(CODES[3], 1)[0].ids) == [3]
        assert stopped.meanwhile(lambda: index.within(CODES[3], 0)[0].ids) == [3]
        assert stopped.meanwhile(lambda: index.count) == N
        assert stopped.meanwhile(lambda: index.get([7])[0].meta["n"]) == 7
        assert stopped.meanwhile(lambda: index.within(CODES[0], 64, {"n": {"<": 3}})[0].ids.sort()) is None
        stopped.meanwhile(lambda: index.add([N], CODES[:1], [{"colour": "red"}]))
        assert stopped.meanwhile(lambda: index.count) == N + 1
    finally:
        found = stopped.end()
    assert sorted(found) == list(range(1, N, 2))
    assert sorted(index.within(CODES[0], 64, RED)[0].ids) == [*range(1, N, 2), N]


def test_nobody_waits_for_a_long_get(index, monkeypatch):
    get, inside, go_on = Metadata.get, threading.Event(), threading.Event()

    def stops(self, ids):
        if len(ids) == N:
            inside.set()
            assert go_on.wait(60)
        return get(self, ids)

    monkeypatch.setattr(Metadata, "get", stops)
    with ThreadPoolExecutor(2) as threads:
        everything = threads.submit(lambda: index.get(range(N)))
        assert inside.wait(60)
        try:
            assert threads.submit(lambda: index.search(CODES[3], 1)[0].ids).result(30) == [3]
        finally:
            go_on.set()
        assert [item.id for item in everything.result(60)] == list(range(N))


def test_an_answer_is_of_the_moment_in_which_it_began(index, monkeypatch):
    """One write takes the colour from one item and gives it to another: no answer may see half of it."""
    stopped = Stopped(index, monkeypatch, RED)
    try:
        stopped.meanwhile(lambda: index.add([1, 2], CODES[1:3], [{"colour": "blue"}, {"colour": "red"}]))
        later = stopped.meanwhile(lambda: index.within(CODES[0], 64, RED)[0].ids)
    finally:
        found = stopped.end()
    assert sorted(found) == list(range(1, N, 2))
    assert sorted(later) == [2, *range(3, N, 2)]
    assert sorted(index.within(CODES[0], 64, RED)[0].ids) == [2, *range(3, N, 2)]


def test_what_a_filter_found_survives_writes(index, asked):
    conditions, ids = asked
    assert len(index.within(CODES[0], 64, RED)[0]) == N // 2
    assert len(conditions) == 1
    for number in range(5):
        index.add([N + number], CODES[:1], [{"colour": "red"}])
        index.remove([2 * number + 1])
        ids.clear()
        for _ in range(3):
            assert len(index.within(CODES[0], 64, RED)[0]) == N // 2
        assert N + number in ids and set(ids) <= set(range(N, N + number + 1))  # new items alone,
        assert len(ids) == len(set(ids))  # and once
    assert len(conditions) == 1


def test_what_a_filter_found_survives_the_merging_of_segments(index, asked, monkeypatch):
    monkeypatch.setattr(snapshot, "RECENT", 10)
    monkeypatch.setattr(snapshot, "RECENT_SHARE", 0)
    conditions, _ = asked
    index.within(CODES[0], 64, RED)
    for number in range(40):
        index.add([N + number], CODES[:1], [{"colour": "red"}])
        assert len(index.within(CODES[0], 64, RED)[0]) == N // 2 + number + 1
    assert len(conditions) == 1


def test_filters_that_are_used_are_kept(index, asked):
    conditions, _ = asked
    for number in range(3 * filtering.FILTERS_KEPT):
        index.search(CODES[0], 1, {"n": number})
        index.search(CODES[0], 1, RED)
    assert len(conditions) == 3 * filtering.FILTERS_KEPT + 1


def test_many_values_are_one_question(index, monkeypatch):
    questions = []
    ids = Metadata._ids
    monkeypatch.setattr(Metadata, "_ids", lambda self, *a: questions.append(a) or ids(self, *a))
    wanted = [*range(0, N, 3), *map(str, range(100)), True]
    assert sorted(index.within(CODES[0], 64, {"n": {"in": wanted}})[0].ids) == list(range(0, N, 3))
    assert len(questions) <= 3  # a kind each


def test_filters_in_threads_while_one_writes(tmp_path, monkeypatch):
    """A step makes one item red and another blue: no answer sees half of it."""
    monkeypatch.setattr(snapshot, "RECENT", 20)
    monkeypatch.setattr(filtering, "FILTERS_KEPT", 2)  # fewer than are in use, so that some are forgotten
    red, done = 10, threading.Event()

    def colours(first):
        return [{"colour": "red" if first <= n < first + red else "blue", "n": n} for n in range(60)]

    with open_index(tmp_path / "index", 64) as index:
        index.add(range(60), CODES[:60], colours(0))

        def read(number):
            front = asked = 0
            while not done.is_set() or asked < 5:
                found = sorted(index.within(CODES[0], 64, RED)[0].ids)
                assert found == list(range(found[0], found[0] + red)) and found[0] >= front
                assert sorted(index.search(CODES[0], 60, {"n": {"<": number}})[0].ids) == list(range(number))
                front, asked = found[0], asked + 1

        with ThreadPoolExecutor(4) as threads:
            readers = [threads.submit(read, number) for number in (5, 20, 40, 59)]
            for step in range(50):
                changed = [step, step + red]
                index.add(changed, CODES[changed], [colours(step + 1)[n] for n in changed])
            done.set()
            for reader in readers:
                reader.result(60)


@settings(
    max_examples=40,
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=list(HealthCheck),
)
@given(st.data())
def test_any_history_with_the_same_filters_again_and_again(tmp_path_factory, data):
    rng = np.random.default_rng(data.draw(st.integers(0, 1000)))
    wheres = data.draw(st.lists(st.sampled_from(WHERES), min_size=1, max_size=3))
    names = data.draw(st.sampled_from([list(range(30)), [f"ä{n}" for n in range(30)]]))
    oracle = Oracle()
    with pytest.MonkeyPatch.context() as patch, open_index(tmp_path_factory.mktemp("i") / "i", 16) as index:
        patch.setattr(snapshot, "RECENT", data.draw(st.sampled_from([2, 8, 100])))
        patch.setattr(filtering, "FILTERS_KEPT", data.draw(st.sampled_from([1, 2, 16])))
        patch.setattr(snapshot, "MASKS_KEPT", data.draw(st.sampled_from([1, 4])))
        patch.setattr(filtering, "FEW", data.draw(st.sampled_from([0, 0.125, 1])))
        for _ in range(data.draw(st.integers(1, 12))):
            ids = data.draw(st.lists(st.sampled_from(names), unique=True, min_size=1, max_size=12))
            if data.draw(st.booleans()):
                codes = random_codes(rng, len(ids), 16)
                meta = [data.draw(st.sampled_from(METAS)) for _ in ids]
                index.add(ids, codes, meta)
                oracle.add(ids, codes, meta)
            elif oracle.items:
                index.remove(ids)
                oracle.remove(ids)
            query = random_codes(rng, 1, 16)
            for where in wheres:
                assert as_pairs(index.search(query, 5, where)) == oracle.search(query, 5, where)
                assert as_pairs(index.within(query, 9, where)) == oracle.within(query, 9, where)


def test_long_texts_are_compared_to_their_end(tmp_path):
    """The database index holds their beginnings only."""
    start = "a" * LONG
    texts = ["", "a", start[:-1], start, start + "a", start + "b", start + "b" * 5000, start[:-1] + "b", "b"]
    texts += ["ä" * LONG, "ä" * (LONG + 1), "ä" * LONG + "日", "\U0001f600" * (LONG + 1)]
    oracle, codes = Oracle(), random_codes(np.random.default_rng(1), len(texts), 64)
    metas = [{"text": text} for text in texts]
    oracle.add(range(len(texts)), codes, metas)
    with open_index(tmp_path / "index", 64) as index:
        index.add(range(len(texts)), codes, metas)
        for text in texts:
            for op in ("==", "!=", "<", "<=", ">", ">="):
                where = {"text": {op: text}}
                assert as_pairs(index.within(codes[:1], 64, where)) == oracle.within(codes[:1], 64, where)
        for some in (texts[::2], texts[1::2]):
            where = {"text": {"in": some}}
            assert as_pairs(index.within(codes[:1], 64, where)) == oracle.within(codes[:1], 64, where)
        longest = index._store._connection.execute("SELECT max(length(value)) FROM facts").fetchone()
        assert longest == (LONG,)
        index.remove(range(len(texts)))
        assert index._store._connection.execute("SELECT count(*) FROM facts").fetchone() == (0,)


@pytest.mark.parametrize("most", [None, 40])
def test_ids_come_back_as_they_are_even_if_one_text_cannot_hold_them(tmp_path, most):
    """The ids that pass are read as one text; beyond what SQLite lets a text be, one by one."""
    odd = ['"', "\\", "[1]", "null", "1", "a,b", "\x01\x1f\x7f", "ä\u2028日\U0001f600", "'", " ", "\n\t"]
    for name, ids in (("text", odd), ("int", [0, -1, 7, 2**63 - 1, -(2**63), 10**12])):
        codes = random_codes(np.random.default_rng(2), len(ids), 64)
        with open_index(tmp_path / name, 64) as index:
            index.add(ids, codes, [{"n": place} for place in range(len(ids))])
            with index._moment() as (_, reader):
                if most is not None:
                    reader._connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, most)
                assert reader.metadata.ids_where(Compare("n", "<", 100)) == ids
                assert reader.metadata.ids_where(OneOf("n", tuple(range(len(ids))))) == ids
                assert reader.metadata.ids_where(Compare("n", ">", 100)) == []
