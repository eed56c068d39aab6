"""What is wrong with a file, an index or a wish is said in one line, and nothing is lost by it."""

import json
import sqlite3
import sys

import faiss
import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest

from pts3h import UserError, export_index, import_index, open_index
from pts3h.codes import Layout
from pts3h.exchange import FORMATS, Format
from tests.cli.commands import tree
from tests.exchange.collections import SUFFIXES, contents, make_index

BESIDE = {"faiss": [".faiss.about.json"], "npy": [".ids.txt", ".about.json"]}
CODE = np.arange(8, dtype=np.uint8)


@pytest.fixture
def address(tmp_path):
    return make_index(tmp_path / "a.index", Layout(16), "int", count=20)


@pytest.fixture
def refused(tmp_path):
    """A call is refused with these words, and leaves every file as it was."""

    def check(call, *arguments, match, **options):
        before = files()
        with pytest.raises(UserError, match=match) as caught:
            call(*arguments, **options)
        assert "\n" not in str(caught.value)
        assert files() == before

    def files():
        """All but those that readers of an index share."""
        found = tree(tmp_path).items()
        return {name: content for name, content in found if not name.endswith(("-shm", "-wal"))}

    return check


class TestFormats:
    def test_unknown(self, address, tmp_path, refused):
        refused(export_index, address, tmp_path / "a.bin", match=r"does not say its format: end it in one of")
        refused(export_index, address, tmp_path / "a.bin", format="parqet", match="did you mean parquet")
        refused(import_index, tmp_path / "a", tmp_path / "b.index", match="does not say its format")

    @pytest.mark.parametrize("suffix", [".pq", ".PARQUET", ".sqlite3", ".db"])
    def test_other_suffixes(self, address, tmp_path, suffix):
        export_index(address, tmp_path / f"codes{suffix}")
        import_index(tmp_path / f"codes{suffix}", tmp_path / "b.index")
        assert contents(tmp_path / "b.index") == contents(address)

    def test_one_of_your_own(self, address, tmp_path):
        def write(path, items):
            path.write_text("".join(f"{one}\n" for batch in items.batches for one in batch.ids))

        own = Format("ids alone", "A line each.", (".lines",), write, lambda path: None, holds_meta=False)
        done = export_index(address, tmp_path / "a.txt", format=own)
        assert done.items == 20 == len((tmp_path / "a.txt").read_text().splitlines())
        export_index(address, tmp_path / "b.lines")
        assert FORMATS.own() == [own]

    @pytest.mark.parametrize(
        ("name", "module"),
        [("parquet", "pyarrow"), ("faiss", "faiss"), ("sqlite-vec", "apsw"), ("sqlite-vec", "sqlite_vec")],
    )
    def test_an_extra_that_is_missing(self, address, tmp_path, refused, monkeypatch, name, module):
        export_index(address, tmp_path / "there", format=name)
        monkeypatch.setitem(sys.modules, module, None)
        says = rf"needs {module}: pip install 'pts3h\[{name}\]'"
        refused(export_index, address, tmp_path / "new", format=name, match=says)
        refused(import_index, tmp_path / "there", tmp_path / "b.index", format=name, match=says)


class TestExport:
    @pytest.mark.parametrize("name", SUFFIXES)
    def test_what_is_there_stays(self, address, tmp_path, refused, name):
        file = tmp_path / f"codes{SUFFIXES[name]}"
        export_index(address, file)
        other = make_index(tmp_path / "other.index", Layout(24), "int", count=9, seed=1)
        refused(
            export_index, other, file, match="exists: choose another file, or replace it with --overwrite"
        )
        for suffix in BESIDE.get(name, []):
            beside = tmp_path / f"alone{suffix}"
            beside.write_text("mine")
            refused(export_index, other, tmp_path / f"alone{file.suffix}", match=rf"alone{suffix} exists")
            beside.unlink()
        export_index(other, file, overwrite=True)
        import_index(file, tmp_path / "b.index")
        assert contents(tmp_path / "b.index")[0] == Layout(24)

    def test_ids_of_an_earlier_export_do_not_stay_beside_others(self, address, tmp_path):
        texts = make_index(tmp_path / "text.index", Layout(16), "text", count=20)
        export_index(texts, tmp_path / "a.faiss")
        assert (tmp_path / "a.faiss.ids.txt").exists()
        export_index(address, tmp_path / "a.faiss", overwrite=True)
        assert not (tmp_path / "a.faiss.ids.txt").exists()

    def test_nothing_to_export(self, tmp_path, refused):
        refused(export_index, tmp_path / "no.index", tmp_path / "a.npy", match="there is no index")
        open_index(tmp_path / "empty.index", 16).close()
        refused(export_index, tmp_path / "empty.index", tmp_path / "a.npy", match="holds no items")

    @pytest.mark.parametrize("name", SUFFIXES)
    def test_a_full_disk(self, tmp_path, small_disk, name):
        address = make_index(tmp_path / "a.index", Layout(256), count=3_000)
        small = make_index(tmp_path / "small.index", Layout(16), count=20)
        file = small_disk / f"codes{SUFFIXES[name]}"
        export_index(small, file)
        before = tree(small_disk)
        with pytest.raises(UserError, match="the disk is full; free some space and run again"):
            export_index(address, file, overwrite=True)
        assert tree(small_disk) == before


class TestImport:
    def test_no_file(self, tmp_path, refused):
        for suffix in SUFFIXES.values():
            refused(import_index, tmp_path / f"a{suffix}", tmp_path / "b.index", match="there is no file")

    @pytest.mark.parametrize("name", SUFFIXES)
    def test_something_else(self, tmp_path, refused, name):
        file = tmp_path / f"codes{SUFFIXES[name]}"
        for content in (b"", b"something else entirely" * 400):
            file.write_bytes(content)
            refused(
                import_index, file, tmp_path / "b.index", match=r"cannot be read as|is not a readable|no vec0"
            )

    @pytest.mark.parametrize("name", SUFFIXES)
    def test_an_index_that_holds_something(self, address, tmp_path, refused, name):
        file = tmp_path / f"codes{SUFFIXES[name]}"
        export_index(address, file)
        refused(import_index, file, address, match="holds 20 items already: choose another, or add to it")
        for other, says in (
            (make_index(tmp_path / "b.index", Layout(8, 8)), r"holds codes of 8 \+ 8 bits, not 16 bits"),
            (make_index(tmp_path / "c.index", Layout(16), model="f" * 16), "made by another model"),
        ):
            refused(import_index, file, other, overwrite=True, match=says)
        texts = make_index(tmp_path / "d.index", Layout(16), "text")
        with pytest.raises(UserError, match=r"ids that are text, got ids that are integers \(0 items before"):
            import_index(file, texts, overwrite=True)

    def test_bits(self, address, tmp_path, refused):
        export_index(address, tmp_path / "a.npy")
        call = import_index, tmp_path / "a.npy", tmp_path / "b.index"
        refused(*call, bits=15, match="says that its codes have 16 bits of weight 1: leave --bits out")
        refused(*call, look_bits=8, match="look_bits= needs bits=")
        (tmp_path / "a.about.json").unlink()
        refused(*call, match="does not say how many bits its codes have: give --bits")
        refused(*call, bits=24, match="codes of 24 bits are 3 bytes wide")
        refused(*call, bits=9, match="bits set beyond bit 9")

    def test_files_that_do_not_belong_together(self, tmp_path, refused):
        address = make_index(tmp_path / "a.index", Layout(16), "text", count=20)
        for name, ids in (("a.npy", "a.ids.txt"), ("a.faiss", "a.faiss.ids.txt")):
            export_index(address, tmp_path / name)
            call = import_index, tmp_path / name, tmp_path / "b.index"
            lines = (tmp_path / ids).read_text()
            (tmp_path / ids).write_text(lines + "one more\n")
            refused(*call, match=r"holds 20 codes and .* 21 ids: they do not belong together")
            (tmp_path / ids).unlink()
            refused(*call, match=rf"there is no .*{ids} beside")
            (tmp_path / ids).write_text(lines)
        index = faiss.IndexBinaryIDMap2(faiss.IndexBinaryFlat(16))
        index.add_with_ids(np.zeros((20, 2), np.uint8), np.arange(1, 21))
        faiss.write_index_binary(index, str(tmp_path / "a.faiss"))
        refused(*call, match="do not belong together: its ids are not the numbers of lines")

    @pytest.mark.parametrize(
        ("text", "says"),
        [
            ("{", "cannot be read"),
            ("[]", "it is no JSON object"),
            ("{}", "'format'"),
            ('"bits": 16|"bits": 15', "its checksum is not that of its content"),
            ('"format": 1|"format": 2', "checksum"),
            ('"ids": "int"|"ids": "other"', "checksum"),
        ],
    )
    def test_what_is_said_of_the_codes_is_damaged(self, address, tmp_path, refused, text, says):
        export_index(address, tmp_path / "a.npy")
        place = tmp_path / "a.about.json"
        old, mark, new = text.partition("|")
        place.write_text(place.read_text().replace(old, new) if mark else text)
        refused(import_index, tmp_path / "a.npy", tmp_path / "b.index", match=says)

    @pytest.mark.parametrize(
        ("change", "says"),
        [
            ({"format": 2}, "format 2 and bit order 'big'; this version of pts3h reads format 1"),
            ({"bit_order": "little"}, "bit order 'little'"),
            ({"bits": 0}, "bits must be a whole number"),
            ({"ids": "uuid"}, "names no kind of ids"),
            ({"model": 7}, "a model that is no text"),
        ],
    )
    def test_what_is_said_of_the_codes_by_someone_else(self, address, tmp_path, refused, change, says):
        export_index(address, tmp_path / "a.npy")
        place = tmp_path / "a.about.json"
        facts = json.loads(place.read_text()) | change
        del facts["checksum"]
        place.write_text(json.dumps(facts))
        refused(import_index, tmp_path / "a.npy", tmp_path / "b.index", match=says)

    @pytest.mark.parametrize(
        ("columns", "says"),
        [
            ({"name": ["a"], "code": [b"12"]}, "has no column 'id' .*it has name, code"),
            ({"id": [1]}, "has no column 'code'"),
            ({"id": [1.5], "code": [b"12"]}, "'id' of .* must hold integers or text, and it holds double"),
            ({"id": [1], "code": ["12"]}, "'code' of .* must hold bytes"),
            ({"id": [1], "code": [b"12"], "meta": [1]}, "'meta' of .* must hold JSON as text"),
            ({"id": [1, None], "code": [b"12", b"34"]}, "rows without id or code"),
            ({"id": [1, 2], "code": [b"12", None]}, "rows without id or code"),
            ({"id": [1, 2], "code": [b"12", b"3"]}, "codes of different widths"),
            ({"id": [1], "code": [b"12"], "meta": ["[1]"]}, "metadata of 1 in .* it is no JSON object"),
            ({"id": [1], "code": [b"12"], "meta": ["{"]}, "metadata of 1 in"),
            ({"id": pa.array([], pa.int64()), "code": pa.array([], pa.binary())}, "holds no codes"),
        ],
    )
    def test_parquet(self, tmp_path, refused, columns, says):
        pa.parquet.write_table(pa.table(columns), tmp_path / "a.parquet")
        refused(import_index, tmp_path / "a.parquet", tmp_path / "b.index", bits=16, match=says)

    def test_npy(self, tmp_path, refused):
        call = import_index, tmp_path / "a.npy", tmp_path / "b.index"
        for array in (np.zeros((2, 2)), np.zeros(4, np.uint8)):
            np.save(tmp_path / "a.npy", array)
            refused(*call, bits=16, match="no packed codes")
        np.save(tmp_path / "a.npy", np.zeros((2, 2), np.uint8))
        (tmp_path / "a.ids.txt").write_bytes(b'"a\n\xff\n')
        refused(*call, bits=16, match="a.ids.txt line 1 is not an id")
        (tmp_path / "a.ids.txt").write_bytes(b"a\n\xff\n")
        refused(*call, bits=16, match="a.ids.txt line 2 is not an id")

    def test_faiss(self, tmp_path, refused):
        index = faiss.IndexBinaryHNSW(16)
        index.add(CODE.reshape(4, 2))
        faiss.write_index_binary(index, str(tmp_path / "a.faiss"))
        says = "is a IndexBinaryHNSW of faiss; what can be read is IndexBinaryFlat"
        refused(import_index, tmp_path / "a.faiss", tmp_path / "b.index", match=says)

    def test_sqlite_vec(self, tmp_path, refused):
        with sqlite3.connect(tmp_path / "a.db") as database:
            database.execute("CREATE TABLE items (id, code)")
        database.close()
        refused(import_index, tmp_path / "a.db", tmp_path / "b.index", match="has no vec0 table called items")

    def test_damage_in_a_later_batch_says_how_far_it_came(self, tmp_path, monkeypatch):
        monkeypatch.setattr("pts3h.exchange.items.SCAN_BATCH", 10)
        np.save(tmp_path / "a.npy", np.zeros((30, 2), np.uint8))
        (tmp_path / "a.ids.txt").write_text("".join(f"{n}\n" for n in range(29)) + "28\n")
        with pytest.raises(
            UserError, match=r"id '28' is given twice .*\(20 items before that are in the index\)"
        ):
            import_index(tmp_path / "a.npy", tmp_path / "b.index", bits=16)
        assert len(contents(tmp_path / "b.index")[2]) == 20
