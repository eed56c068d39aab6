"""A table that is not there, somebody else's, changed, dropped, or wanted by several at once."""

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from pts3h.errors import UserError
from pts3h.index.postgres.table import Table

from .checks import CODES, name_of, refused
from .server import PASSWORD

pytestmark = pytest.mark.postgres


def test_no_table_yet(postgres):
    refused("give bits= to create it", lambda: postgres.open(postgres.address()))
    message = refused(
        "no index at .* yet; it was opened read-only",
        lambda: postgres.open(postgres.address(), bits=64, read_only=True),
    )
    assert PASSWORD not in message and "%3F" not in message


def test_read_only(postgres):
    address = postgres.address()
    with postgres.open(address, bits=64) as index:
        index.add([1, 2, 3], CODES)
    with postgres.open(address, read_only=True) as index:
        assert index.search(CODES, k=1)[1].ids == [2]
        refused("read-only", lambda: index.add([4], CODES[:1]))
        refused("read-only", lambda: index.remove([1]))
        assert index.count == 3


def test_wrong_bits_and_wrong_model(postgres):
    address = postgres.address()
    for step in range(2):  # before the first item and after
        with postgres.open(address, bits=64, model="one") as index:
            message = refused("holds codes of 64 bits, not 12", lambda: postgres.open(address, bits=12))
            message += refused("another model", lambda: postgres.open(address, model="two"))
            message += refused(r"not 64 \+ 8 bits", lambda: postgres.open(address, bits=64, look_bits=8))
            assert PASSWORD not in message and "%3F" not in message
            with postgres.open(address) as other:
                assert (other.bits, other.model) == (64, "one")
            if step == 0:
                index.add([1, 2, 3], CODES)


@pytest.mark.parametrize(
    ("comment", "message"),
    [
        ("NULL", "holds something else; choose another name"),
        ("'my photos'", "holds something else; choose another name"),
        ("'[1]'", "holds something else"),
        ('\'{"pts3h": 1, "bits": 0, "model": null, "ids": null}\'', "holds something else"),
        ("'{\"pts3h\": 1}'", "holds something else"),
        (
            '\'{"pts3h": 2, "bits": 64, "new": 1}\'',
            "another version of pts3h .format 2, this one reads 1",
        ),
    ],
)
def test_table_of_another_program(postgres, comment, message):
    address = postgres.address()
    postgres.sql(f"CREATE TABLE {name_of(address)} (id bigint, meaning bit(64), meta jsonb)")
    postgres.sql(f"COMMENT ON TABLE {name_of(address)} IS {comment}")
    for options in ({"bits": 64}, {}, {"read_only": True}):
        refused(message, lambda options=options: postgres.open(address, **options))


@pytest.mark.parametrize(
    "change", ["DROP COLUMN meta", "ALTER meaning TYPE bit(32) USING meaning::bit(32)", "DROP COLUMN id"]
)
def test_a_table_that_somebody_changed(postgres, change):
    address = postgres.address()
    with postgres.open(address, bits=64) as index:
        index.add([1, 2, 3], CODES)
    postgres.sql(f"ALTER TABLE {name_of(address)} {change}")
    refused(
        r"needs the columns id bigint \(or text\), meaning bit\(64\), meta jsonb",
        lambda: postgres.open(address),
    )


def test_a_view_is_no_table(postgres):
    address = postgres.address()
    with postgres.open(address, bits=64) as index:
        index.add([1, 2, 3], CODES)
    postgres.sql(f"CREATE VIEW {name_of(address)}_view AS SELECT * FROM {name_of(address)}")
    refused("holds something else", lambda: postgres.open(f"{address}_view"))


def test_table_dropped_meanwhile(postgres):
    with postgres.open(postgres.address(), bits=64) as index:
        index.add([1, 2, 3], CODES)
        postgres.clean()
        for action in (lambda: index.search(CODES), lambda: index.add([1], CODES[:1])):
            refused("does not exist; was the table dropped", action)


def test_another_index_in_its_place(postgres):
    address = postgres.address()
    with postgres.open(address, bits=64, model="one") as index:
        for options in ({"bits": 32}, {"bits": 64, "model": "two"}):
            postgres.sql(f"DROP TABLE {name_of(address)}")
            with postgres.open(address, **options):
                refused("holds codes of|another model", lambda: index.add([1], CODES[:1]))
                refused("holds codes of|another model", lambda: index.count)


def test_a_race_for_the_first_items_has_one_winner(postgres):
    for _ in range(5):
        address = postgres.address()
        with postgres.open(address, bits=64) as one, postgres.open(address, bits=64) as other:
            start = threading.Barrier(2)

            def add(index, ids, start=start):
                start.wait()
                try:
                    index.add(ids, CODES)
                except UserError as error:
                    assert "this index has ids that are" in str(error)
                    return []
                return ids

            with ThreadPoolExecutor(2) as threads:
                added = list(threads.map(add, [one, other], [["a", "b", "c"], [1, 2, 3]]))
            (winner,) = [ids for ids in added if ids]
            for index in (one, other):
                assert sorted(index.within(CODES[0], 64)[0].ids) == winner


def test_a_race_for_the_table_itself(postgres, monkeypatch):
    start, held = threading.Barrier(8), Table.held

    def held_by_nobody_yet(self, connection):
        found = held(self, connection)
        if found is None:
            start.wait()  # all of them make it
        return found

    monkeypatch.setattr(Table, "held", held_by_nobody_yet)
    address = postgres.address()
    with ThreadPoolExecutor(8) as threads:
        opened = list(threads.map(lambda bits: _opened(postgres, address, bits), [32, 64] * 4))
    (bits,) = {index.bits for index in opened if not isinstance(index, UserError)}
    for error in (one for one in opened if isinstance(one, UserError)):
        assert f"holds codes of {bits} bits" in str(error)
    for index in opened:
        if not isinstance(index, UserError):
            index.close()


def test_first_items_from_two_sides(postgres):
    address = postgres.address()
    with postgres.open(address, bits=64) as one, postgres.open(address, bits=64) as other:
        assert other.count == 0
        one.add(["a"], CODES[:1])
        assert other.count == 1
        refused("ids that are text", lambda: other.add([1], CODES[:1]))
    with postgres.open(address) as one:
        one.remove(["a"])
        refused("ids that are text", lambda: one.add([1], CODES[:1]))


def _opened(postgres, address, bits):
    try:
        return postgres.open(address, bits=bits)
    except UserError as error:
        return error
