"""Out of an index into a file and back: the same codes, ids, layout, model, and metadata where it is held."""

import numpy as np
import pytest

from pts3h import export_index, import_index, open_index
from pts3h.codes import Layout
from pts3h.exchange import FORMATS, items
from pts3h.index import contract
from tests.exchange.collections import HOLD_META, SUFFIXES, contents, ids_of, make_index, without_meta
from tests.recipes.pages import python_blocks, run_blocks

LAYOUTS = [Layout(1), Layout(12), Layout(64), Layout(64, 32, 3), Layout(13, 6, 16), Layout(4096)]


def test_every_format_is_tested():
    ours = [row for row in FORMATS if isinstance(row.write, str)]  # other tests bring rows of their own
    assert {row.name: row.suffixes[0] for row in ours} == SUFFIXES
    assert [row.name for row in ours if row.holds_meta] == list(HOLD_META)


@pytest.mark.parametrize("kind", ["int", "text"])
@pytest.mark.parametrize("layout", LAYOUTS, ids=str)
@pytest.mark.parametrize("name", SUFFIXES)
def test_comes_back_as_it_was(tmp_path, name, layout, kind):
    make_index(tmp_path / "a.index", layout, kind)
    file = tmp_path / f"codes{SUFFIXES[name]}"
    done = export_index(tmp_path / "a.index", file)
    assert (done.format, done.items, done.about.layout, done.about.ids) == (name, 60, layout, kind)
    back = import_index(file, tmp_path / "b.index")
    assert (back.format, back.items, back.count, back.layout) == (name, 60, 60, layout)
    held = contents(tmp_path / "a.index")
    assert contents(tmp_path / "b.index") == (held if name in HOLD_META else without_meta(held))


@pytest.mark.parametrize("name", SUFFIXES)
def test_in_many_batches(tmp_path, name, monkeypatch):
    """Batches and row groups that are smaller than the collection, and do not divide it."""
    from pts3h.exchange import parquet

    monkeypatch.setattr(items, "SCAN_BATCH", 7)
    monkeypatch.setattr(contract.Index.scan, "__defaults__", (7,))
    monkeypatch.setattr(parquet, "ROW_GROUP", 20)
    monkeypatch.setattr(parquet, "SCAN_BATCH", 7)
    make_index(tmp_path / "a.index", Layout(20), count=100)
    export_index(tmp_path / "a.index", tmp_path / f"codes{SUFFIXES[name]}")
    import_index(tmp_path / f"codes{SUFFIXES[name]}", tmp_path / "b.index")
    held = contents(tmp_path / "a.index")
    assert contents(tmp_path / "b.index") == (held if name in HOLD_META else without_meta(held))


@pytest.mark.parametrize("name", SUFFIXES)
def test_any_engine(tmp_path, name):
    """The engine of docs/recipes/engine.md, which this package has never seen."""
    engine = run_blocks("engine.md", python_blocks("engine.md")[:1])["MEMORY"]
    source, target = (f"memory://{name}-{place}" for place in ("a", "b"))
    make_index(source, Layout(24, 8, 2), engine=engine)
    file = tmp_path / f"codes{SUFFIXES[name]}"
    export_index(source, file, engine=engine)
    import_index(file, target, engine=engine)
    held = contents(source, engine=engine)
    assert contents(target, engine=engine) == (held if name in HOLD_META else without_meta(held))


@pytest.mark.parametrize("name", SUFFIXES)
def test_a_model_that_is_not_known_stays_unknown(tmp_path, name):
    make_index(tmp_path / "a.index", Layout(16), model=None)
    export_index(tmp_path / "a.index", tmp_path / "codes", format=name)
    import_index(tmp_path / "codes", tmp_path / "b.index", format=name)
    assert contents(tmp_path / "b.index")[1] is None


def test_what_was_removed_meanwhile_is_left_out(tmp_path, monkeypatch):
    """Another process takes items out between two batches: what is exported is whole."""
    monkeypatch.setattr(contract.Index.scan, "__defaults__", (10,))
    make_index(tmp_path / "a.index", Layout(16), "int", count=40)
    ids = ids_of("int", 40)

    def progress(_, done, __):
        if done == 10:
            with open_index(tmp_path / "a.index") as index:
                index.remove(ids)
                index.add([12345], np.zeros((1, 2), np.uint8))

    done = export_index(tmp_path / "a.index", tmp_path / "codes.parquet", progress=progress)
    import_index(tmp_path / "codes.parquet", tmp_path / "b.index")
    assert done.items == len(contents(tmp_path / "b.index")[2]) == 10


@pytest.mark.parametrize("name", SUFFIXES)
def test_progress_is_told(tmp_path, name):
    make_index(tmp_path / "a.index", Layout(16))
    told = []
    file = tmp_path / f"codes{SUFFIXES[name]}"
    export_index(tmp_path / "a.index", file, progress=lambda *words: told.append(words))
    import_index(file, tmp_path / "b.index", progress=lambda *words: told.append(words))
    steps = [(0, 60), (60, 60)]
    assert told == [(what, *step) for what in ("exporting", "importing") for step in steps]


def test_import_adds_to_what_is_there(tmp_path):
    make_index(tmp_path / "a.index", Layout(16), "int", count=20)
    export_index(tmp_path / "a.index", tmp_path / "codes.parquet")
    with open_index(tmp_path / "a.index") as index:
        (kept,) = index.get([1_005])
        index.add([1_003, 5_000], np.full((2, 2), 255, np.uint8), [{"mine": True}, None])
    done = import_index(tmp_path / "codes.parquet", tmp_path / "a.index", overwrite=True)
    assert (done.items, done.count) == (20, 21)
    with open_index(tmp_path / "a.index") as index:
        replaced, same, added = index.get([1_003, 1_005, 5_000])
    assert "mine" not in replaced.meta and same.code.tolist() == kept.code.tolist()
    assert added.code.tolist() == [255, 255]
