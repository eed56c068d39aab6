"""Files of other programs' formats, damaged: what is read of them is right, or refused in one line.

faiss, SQLite and numpy keep no checksums of what they hold: another number there is not noticed.
"""

from pts3h import UserError
from pts3h.codes import Layout
from pts3h.exchange import export_index
from pts3h.exchange.formats import format_of
from pts3h.exchange.items import arriving
from pts3h.util.table import load
from tests.exchange.collections import make_index


class Exported:
    name = ""
    files = ()
    silent = ()

    def make(self, folder):
        make_index(folder / "a.index", Layout(20), count=25)
        export_index(folder / "a.index", folder / self.files[0])

    def read(self, folder):
        path = folder / self.files[0]
        found = load(format_of(path).read)(path)
        if found.about is None:
            raise UserError("it is not known what its codes are")  # as in a file of another program
        rows = [(batch.ids, batch.codes.tolist(), batch.meta) for batch in arriving(found, path)]
        return found.count, found.about.facts(), found.bits, rows


class ExportedParquet(Exported):
    name = "exported Parquet"
    files = ("codes.parquet",)


class ExportedSqliteVec(Exported):
    name = "exported sqlite-vec"
    files = ("codes.sqlite",)
    silent = files


class ExportedFaiss(Exported):
    name = "exported faiss"
    files = ("codes.faiss", "codes.faiss.ids.txt", "codes.faiss.about.json")
    silent = files[:2]


class ExportedNpy(Exported):
    name = "exported npy"
    files = ("codes.npy", "codes.ids.txt", "codes.about.json")
    silent = files[:2]


EXPORTED = [ExportedParquet, ExportedSqliteVec, ExportedFaiss, ExportedNpy]
