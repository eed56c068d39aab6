"""Exports that are disturbed: the old file or the new one, and never codes with the ids of others."""

import shutil

import pytest

from pts3h import UserError
from pts3h.codes import Layout
from pts3h.exchange import import_index
from tests.exchange.collections import contents, make_index
from tests.faults.writer import Writer, need
from tests.spread.sources import held, shard_files


class Export(Writer):
    """Into one format.

    Attributes:
        file: what is written.
        beside: what lies beside it.
    """

    file = ""
    beside = ()
    tries = 60

    def prepare(self):
        self.known = []
        for name, count in (("old", 10), ("new", 40)):
            make_index(self.source / f"{name}.index", Layout(20), count=count, seed=count)
            folder = self.source / ("before" if name == "old" else name)
            folder.mkdir()
            self.order(*self.given(name, folder))
            self.known.append(self.read(folder))

    def given(self, name, folder):
        to = ["--to", str(folder / self.file), "--overwrite"]
        return "command", "export", str(self.source / f"{name}.index"), *to

    def work(self):
        return self.given("new", self.target)

    def read(self, folder):
        """What would be imported from it."""
        place = self.place / "imported.index"
        shutil.rmtree(place, ignore_errors=True)
        import_index(folder / self.file, place)
        return contents(place)

    def check(self, outcome):
        """About to take its place, it may have lost a part, and nothing is imported from it then."""
        old, new = self.known
        done = outcome.finished and outcome.returned[0] == 0
        if all((self.target / name).exists() for name in (self.file, *self.beside)):
            assert self.read(self.target) in ((new,) if done else (old, new))
        else:
            need(self.beside and not done, "what was exported")
            with pytest.raises(UserError):
                self.read(self.target)

    def check_end(self):
        assert self.read(self.target) == self.known[1]
        assert self.names() == {self.file, *self.beside}


class ExportParquet(Export):
    name = "export to Parquet"
    file = "codes.parquet"


class ExportSqliteVec(Export):
    name = "export to sqlite-vec"
    file = "codes.sqlite"


class ExportFaiss(Export):
    name = "export to faiss, text ids"
    file = "codes.faiss"
    beside = ("codes.faiss.ids.txt", "codes.faiss.about.json")


class ExportNpy(Export):
    name = "export to npy"
    file = "codes.npy"
    beside = ("codes.ids.txt", "codes.about.json")


class Shards(Writer):
    """Each shard that is there is whole, and what is missing is encoded by the same command again."""

    name = "shards by pts3h encode --on"
    tries = 60

    def prepare(self):
        self.order("make_model", 0, self.source / "model")
        (self.source / "before").mkdir()
        self.order(*self.given(self.source / "whole"))
        self.whole = dict(zip(*held(self.source / "whole"), strict=True))

    def given(self, folder):
        more = ["--out", str(folder), "--on", "here", "--part-size", "10"]
        return "command", "encode", str(self.source / "model"), str(self.source / "vectors.npy"), *more

    def work(self):
        return self.given(self.target)

    def check(self, outcome):
        ids, codes = held(self.target)
        assert len({*ids}) == len(ids) and {*zip(ids, codes, strict=True)} <= {*self.whole.items()}
        if outcome.finished and outcome.returned[0] == 0:
            assert len(ids) == len(self.whole)

    def check_end(self):
        assert dict(zip(*held(self.target), strict=True)) == self.whole
        assert self.names() == {"manifest.json", *shard_files(self.source / "whole")}


EXPORTS = [ExportParquet, ExportSqliteVec, ExportFaiss, ExportNpy, Shards]
