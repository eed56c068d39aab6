"""The local engine, with the compiled kernel and without, against the contract."""

from itertools import count

import pytest

from pts3h import kernel
from pts3h.index import open_index
from pts3h.index.local import index as local_engine
from pts3h.index.local import segment, snapshot

from ..contract_suite import ContractSuite


class Engine:
    """Makes indexes in new folders."""

    def __init__(self, folder):
        self.folder = folder
        self.numbers = count()

    def create(self, bits, **more):
        return open_index(self.folder / f"index {next(self.numbers)}", bits, **more)

    def reopen(self, index, bits=None, **more):
        index.close()
        return open_index(index.folder, bits, **more)


@pytest.fixture
def engine(tmp_path):
    return Engine(tmp_path)


class TestLocal(ContractSuite):
    examples = 30


class TestLocalWithoutCompiler(ContractSuite):
    @pytest.fixture(autouse=True)
    def no_kernel(self, monkeypatch):
        monkeypatch.setattr(kernel, "compiled", lambda: False)


class TestLocalWithFaiss(TestLocalWithoutCompiler):
    @pytest.fixture(autouse=True)
    def faiss_for_everything(self, monkeypatch):
        pytest.importorskip("faiss")
        monkeypatch.setattr(kernel.fallback, "FAISS_FROM", 0)


class TestLocalWithEveryStructureInUse(ContractSuite):
    """Thresholds so low that small tests reach duplicates, lookups, merges and rewritten logs."""

    @pytest.fixture(autouse=True)
    def low_thresholds(self, monkeypatch):
        monkeypatch.setattr(segment, "SMALLEST_WITH_DUPLICATES", 1)
        monkeypatch.setattr(segment, "WORTHWHILE", 1.0)
        monkeypatch.setattr(snapshot, "RECENT", 2)
        monkeypatch.setattr(local_engine, "RECENT", 2)
        monkeypatch.setattr(local_engine, "GARBAGE", 2)


class TestLocalWithLookups(ContractSuite):
    """Multi-index hashing for every radius that allows it."""

    @pytest.fixture(autouse=True)
    def always_look_up(self, monkeypatch):
        pytest.importorskip("pts3h.kernel.native", exc_type=ImportError)
        from pts3h.index.local.multi_index import RadiusSearch

        scan = RadiusSearch.within

        def within(self, queries, radius, allowed):
            cheap = self.columns.shape[1] and self._region and self._probes(radius) < 5000
            return (self.look_up if cheap else lambda *a: scan(self, *a))(queries, radius, allowed)

        monkeypatch.setattr(RadiusSearch, "within", within)
