"""Pairs, labels, items and metadata from files that hold anything: what the cells say, or a refusal."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pts3h.data.items import Items, read_items, read_rows
from pts3h.data.pair_files import read_labels, read_pairs
from pts3h.data.splits import Split
from pts3h.indexing import read_meta
from tests.fuzz.answers import answer, cells, filled, plain_cells, quickly, raw, tables, write_rows

NAMES = ["a", "b", "c", "0", "x y", "ä", "similar"]
VECTORS = Items(np.eye(len(NAMES)), NAMES)
YES, NO = ("1", "true", "yes"), ("0", "false", "no")


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """A folder with some files that are called like pictures."""
    folder = tmp_path_factory.mktemp("tables")
    (folder / "sub").mkdir()
    for name in ("a.png", "sub/b.png"):
        (folder / name).write_bytes(b"")
    return folder


@quickly
@given(raw)
def test_any_bytes(place, content):
    (place / "any.csv").write_bytes(content)
    (place / "any.txt").write_bytes(content)
    (place / "any.json").write_bytes(content)
    answer(read_pairs, place / "any.csv", VECTORS)
    answer(read_pairs, place / "any.csv", Items(read_items([place / "a.png"]).content, ["a"]))
    answer(read_labels, place / "any.csv", VECTORS)
    answer(read_items, place / "any.csv")
    answer(read_items, place / "any.txt")
    answer(read_meta, place / "any.csv")
    answer(Split.load, place / "any.json")


@quickly
@given(
    st.lists(st.lists(plain_cells, min_size=1, max_size=4), max_size=5), st.sampled_from(["\n", "\r\n", "\r"])
)
def test_a_csv_without_quotes_is_what_lies_between_commas(place, rows, end):
    path = place / "plain.csv"
    path.write_bytes(end.join(",".join(row) for row in rows).encode())
    assert answer(read_rows, path) == filled(rows)


@quickly
@given(tables)
def test_a_csv_that_was_written_is_read_back(place, rows):
    expected = filled(rows)
    assert answer(read_rows, write_rows(place / "written.csv", rows)) == expected


def meant_pairs(rows):
    """(smaller, larger) → alike, as a person reads the rows; None where one of them makes no sense."""
    rows = filled(rows)
    if rows and rows[0][-1].strip().lower() in ("similar", "alike", "label", "s"):
        rows = rows[1:]
    meant = {}
    for row in rows:
        if len(row) != 3:
            return None
        a, b, alike = (cell.strip() for cell in row)
        if a not in NAMES or b not in NAMES or a == b or alike.lower() not in YES + NO:
            return None
        pair = tuple(sorted((NAMES.index(a), NAMES.index(b))))
        if meant.setdefault(pair, alike.lower() in YES) != (alike.lower() in YES):
            return None
    return meant or None


likely = st.one_of(st.sampled_from(NAMES), cells)
pair_rows = st.lists(
    st.one_of(
        st.tuples(likely, likely, st.sampled_from([*YES, *NO, "TRUE", " 1 ", "similar"])).map(list),
        st.lists(likely, min_size=1, max_size=4),
    ),
    max_size=5,
)


@quickly
@given(pair_rows)
def test_pairs(place, rows):
    found = answer(read_pairs, write_rows(place / "pairs.csv", rows), VECTORS)
    meant = meant_pairs(rows)
    assert (found is None) == (meant is None)
    if found is not None:
        assert [(*pair, alike) for pair, alike in sorted(meant.items())] == [
            (*pair, alike) for pair, alike in zip(found.pairs.tolist(), found.similar.tolist(), strict=True)
        ]


def meant_labels(rows):
    """Item → class name; None where a row makes no sense."""
    rows = filled(rows)
    if rows and rows[0][-1].strip().lower() in ("label", "class"):
        rows = rows[1:]
    meant = {}
    for row in rows:
        name, label = (cell.strip() for cell in row) if len(row) == 2 else ("", "")
        if len(row) != 2 or name not in NAMES or meant.get(name, "") not in ("", label):
            return None
        meant[name] = label
    return meant


@quickly
@given(st.lists(st.lists(likely, min_size=1, max_size=3), max_size=5))
def test_labels(place, rows):
    got, meant = answer(read_labels, write_rows(place / "labels.csv", rows), VECTORS), meant_labels(rows)
    assert (got is None) == (meant is None)
    if got is None:
        return
    said = [meant.get(name, "") for name in NAMES]
    order = sorted(set(said) - {"", "-1"})
    assert got.tolist() == [order.index(label) if label in order else -1 for label in said]


numbers = st.one_of(
    st.floats(width=32, allow_nan=False, allow_infinity=False).map(repr),
    st.integers(-(10**9), 10**9).map(str),
    st.sampled_from(["1e39", "-1e400", "nan", "inf", "1_0", "0x10", "", "one", " 5 "]),
)


def as_float(text):
    try:
        value = float(text)
    except ValueError:
        return None
    if not abs(value) <= float(np.finfo(np.float32).max):
        return None
    return value if abs(np.float32(value)) <= np.float32(1e15) else None


@quickly
@given(st.lists(st.tuples(numbers, numbers), min_size=1, max_size=4))
def test_vectors_of_a_csv(place, rows):
    path = write_rows(place / "vectors.csv", [("u", "v"), *rows])
    found, kept = answer(read_items, path), [row for row in rows if any(cell.strip() for cell in row)]
    meant = [[as_float(cell.strip()) for cell in row] for row in kept]
    if not meant or any(None in row for row in meant):
        assert found is None
    else:
        np.testing.assert_array_equal(found.content, np.array(meant, np.float32))


lines = st.lists(
    st.lists(
        st.sampled_from(["a.png", "sub/b.png", "none.png", "0", "1", "2", "\0", "n" * 300]),
        min_size=1,
        max_size=3,
    ),
    max_size=4,
)


@quickly
@given(lines)
def test_list_files(place, rows):
    path = place / "list.txt"
    path.write_text("\n".join(" ".join(row) for row in rows))
    found = answer(read_items, path)
    right = all(row[0] in ("a.png", "sub/b.png") and set(row[1:]) <= {"0", "1"} for row in rows)
    if not rows or not right or len({len(row) for row in rows}) > 1:
        assert found is None
    else:
        assert list(found.ids) == [row[0] for row in rows]
        flags = [list(map(int, row[1:])) for row in rows]
        assert (found.labels is None and not flags[0]) or found.labels.tolist() == flags


@quickly
@given(st.lists(st.tuples(cells, cells), max_size=4))
def test_metadata(place, rows):
    """Ids are text whatever they look like; a cell that is a JSON number or true or false is one."""
    found = answer(read_meta, write_rows(place / "meta.csv", [("id", "price"), *rows]))
    rows = [(name.strip(), cell.strip()) for name, cell in rows if name.strip() or cell.strip()]
    names = [name for name, _ in rows]
    if "" in names or len(set(names)) < len(names):
        assert found is None
        return
    assert list(found) == names
    for name, cell in rows:
        assert ("price" in found[name]) == bool(cell)
        if cell in ("true", "TRUE"):
            assert found[name]["price"] is True
        elif cell in ("0", "1", "2", "-1", "1e3"):
            assert found[name]["price"] == float(cell)
        elif cell and not cell[0].isdigit() and cell[0] not in "-fFtTNI":
            assert found[name]["price"] == cell


@quickly
@given(
    st.lists(st.integers(0, 2**40), max_size=5),
    st.lists(st.integers(0, 9), max_size=5),
    st.integers(0, 2**31),
)
def test_a_split_is_read_back(place, queries, labelled, seed):
    split = Split(*(np.array(some, np.int64) for some in (queries, labelled, labelled)), seed)
    split.save(place / "split.json")
    back = Split.load(place / "split.json")
    assert back.digest() == split.digest() and back.seed == seed
    assert back.queries.tolist() == queries and back.labelled.tolist() == labelled
