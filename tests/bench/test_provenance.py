"""Figures of two versions of the code never stand beside each other in silence."""

import json
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from pts3h.bench import provenance
from pts3h.bench.matrix import run_matrix
from pts3h.bench.plan import Plan, Setup
from pts3h.bench.proven import PROOFS, Proof, same_figures
from pts3h.bench.provenance import code_digest, counts_as, made_by, meaning, shared_digest
from pts3h.bench.report import code_text
from pts3h.errors import UserError
from pts3h.settings.defaults import DEFAULTS
from pts3h.systems import ranges
from pts3h.systems.table import SYSTEMS
from pts3h.util.sealed import sealed, unsealed
from tests.bench.cells import result

PROGRAM = '"""Says what it does."""\n\ndef double(x):\n    """Twice."""\n    return 2 * x  # why\n'


def test_comments_documentation_and_layout_do_not_count():
    assert meaning(PROGRAM) == meaning("def double(x): return (2*x)")


@pytest.mark.parametrize(("old", "new"), [("2 * x", "3 * x"), ("double", "twice"), ("(x)", "(x, y=1)")])
def test_everything_else_does(old, new):
    assert meaning(PROGRAM) != meaning(PROGRAM.replace(old, new))


def test_a_declaration_does_not_count_and_a_value_does():
    """A field of the settings says nothing before it has a value, and values are compared themselves."""
    field = "class Used:\n    omega: float{}\n\n    def double(self): return 2 * self.omega\n"
    assert meaning(field.format("")) == meaning(field.format("\n    band: float"))
    assert meaning(field.format("")) != meaning(field.format("\n    band: float = 1"))


def test_a_string_that_is_used_counts():
    assert meaning("x = 'a'") != meaning("x = 'b'")


METHODS = ("pts3h-dsh", "dsh", "dpsh", "vat", "sntg", "itq", "fasth")


class TestWhatCounts:
    """A change of the search page, or of one system, should not cost the hours of all others."""

    @pytest.fixture
    def changed(self, tmp_path, monkeypatch):
        """Which systems have other code after a line was added to some files."""
        home = tmp_path / "pts3h"
        shutil.copytree(provenance.HOME, home, ignore=shutil.ignore_patterns("*.so", "__pycache__"))
        monkeypatch.setattr(provenance, "HOME", home)

        def digests():
            provenance.digest_over.cache_clear()
            provenance.shared_digest.cache_clear()
            return {method: code_digest(method) for method in METHODS}

        def change(*names):
            before = digests()
            for path in (home / name for name in names):
                path.write_text(path.read_text(encoding="utf-8") + "\nADDED = 1\n", encoding="utf-8")
            after = digests()
            return {method for method in METHODS if before[method] != after[method]}

        yield change
        monkeypatch.undo()
        digests()

    @pytest.mark.parametrize(
        "name",
        ["cli/search.py", "report/page.py", "index/contract.py", "bench/report.py", "kernel/native.py"],
    )
    def test_not_what_is_around(self, changed, name):
        assert changed(name) == set()

    def test_not_what_writes_and_reads(self, changed):
        assert changed(*provenance.IDLE) == set()

    @pytest.mark.parametrize(
        "name",
        [
            "data/splits.py",
            "data/datasets/cifar10.py",
            "nets/teacher.py",
            "nets/backbones/efficientnet.py",
            "settings/used.py",
            "training/loop.py",
            "evaluation.py",
            "codes.py",
        ],
    )
    def test_all_that_every_figure_goes_through(self, changed, name):
        assert changed(name) == {*METHODS}

    @pytest.mark.parametrize(
        ("name", "systems"),
        [
            ("objectives/vat.py", {"vat"}),
            ("objectives/mean_teacher.py", {"vat", "sntg"}),
            ("objectives/semi_supervised.py", {"pts3h-dsh", "dsh", "dpsh", "vat", "sntg"}),
            ("losses/dpsh.py", {"dpsh"}),
            ("losses/dsh.py", {"pts3h-dsh", "dsh", "vat", "sntg"}),
            ("unsupervised/guide.py", {"pts3h-dsh", "dsh", "dpsh"}),
            ("unsupervised/linear.py", {"pts3h-dsh", "dsh", "dpsh", "itq", "fasth"}),
            ("systems/shallow/fasth.py", {"fasth"}),
            ("systems/deep.py", {"pts3h-dsh", "dsh", "dpsh", "vat", "sntg"}),
        ],
    )
    def test_what_a_system_is_made_of_counts_for_it(self, changed, name, systems):
        assert changed(name) == systems

    def test_a_row_counts_for_its_system(self, monkeypatch):
        usual = code_digest("vat"), code_digest("sntg")
        row = SYSTEMS.find("vat")
        monkeypatch.setitem(SYSTEMS._rows, "vat", replace(row, defaults={"omega": 0.7}))
        provenance.digest_over.cache_clear()
        assert code_digest("vat") != usual[0] and code_digest("sntg") == usual[1]
        monkeypatch.undo()
        provenance.digest_over.cache_clear()

    def test_a_users_own_system_counts_by_its_module(self, tmp_path, monkeypatch):
        module = tmp_path / "own_system.py"
        source = (Path(__file__).parents[1] / "recipes" / "own_system.py").read_text()
        module.write_text(source)
        monkeypatch.syspath_prepend(tmp_path)
        import own_system

        name = SYSTEMS.keep(own_system.MINE).name
        before = code_digest(name)
        module.write_text(source.replace("(vectors - center)", "(vectors + center)"))
        provenance.digest_over.cache_clear()
        assert code_digest(name) != before
        SYSTEMS._rows.pop(name)


class TestProofs:
    """Shared code may change without a change of any figure; somebody has to prove it."""

    @pytest.fixture
    def change(self, tmp_path, monkeypatch):
        """Change what all systems share, and one system as well if that is asked for."""
        home = tmp_path / "pts3h"
        shutil.copytree(provenance.HOME, home, ignore=shutil.ignore_patterns("*.so", "__pycache__"))
        monkeypatch.setattr(provenance, "HOME", home)

        def change(*names):
            before = shared_digest()
            for path in (home / name for name in ("data/splits.py", *names)):
                path.write_text(path.read_text(encoding="utf-8") + "\nADDED = 1\n", encoding="utf-8")
            provenance.shared_digest.cache_clear()
            return before, shared_digest()

        yield change
        monkeypatch.undo()
        provenance.shared_digest.cache_clear()
        provenance.digest_over.cache_clear()

    @pytest.fixture
    def prove(self, monkeypatch):
        """Write rows that say so."""

        def prove(*changes):
            rows = tuple(Proof(before=a, after=b, commit="1234567", command="true") for a, b in changes)
            monkeypatch.setattr(provenance, "same_figures", lambda shared: same_figures(shared, rows))

        return prove

    def test_without_one_all_runs_are_old(self, change):
        before = {method: code_digest(method) for method in METHODS}
        change()
        for method, code in before.items():
            assert counts_as(code, method) == code != code_digest(method)

    def test_with_one_none_is(self, change, prove):
        before = {method: code_digest(method) for method in METHODS}
        prove(change())
        for method, code in before.items():
            assert code != code_digest(method) == counts_as(code, method)

    def test_it_holds_for_no_later_change(self, change, prove):
        before = code_digest("dsh")
        prove(change())
        change()
        assert counts_as(before, "dsh") == before != code_digest("dsh")

    def test_one_leads_to_the_next(self, change, prove):
        before = code_digest("dsh")
        prove(change(), change())
        assert counts_as(before, "dsh") == code_digest("dsh")

    def test_a_system_that_changed_too_is_old(self, change, prove):
        before = {method: code_digest(method) for method in ("vat", "itq")}
        prove(change("objectives/vat.py"))
        provenance.digest_over.cache_clear()
        assert counts_as(before["vat"], "vat") != code_digest("vat")
        assert counts_as(before["itq"], "itq") == code_digest("itq")

    def test_a_run_that_says_nothing_is_old(self):
        assert counts_as(None, "dsh") is None

    def test_a_run_of_an_unknown_system_is_left_as_it_is(self):
        assert counts_as("code", "of-somebody-else") == "code"

    def test_a_ring_of_rows_ends(self):
        rows = [Proof(before=a, after=b, commit="1234567", command="true") for a, b in ("ab", "bc", "ca")]
        assert same_figures("a", rows) == {"a", "b", "c"}

    def test_a_report_tells_proven_code_as_one(self, change, prove):
        cells = [result("dsh", 0.5, seed=seed) | {"code": code_digest("dsh")} for seed in range(2)]
        changes = change()
        cells += [result("dsh", 0.5, seed=2) | {"code": code_digest("dsh")}]
        assert "several versions" in code_text(cells)
        prove(changes)
        assert code_text(cells) == "one version of each system's code"

    def test_rows_are_whole(self):
        for row in PROOFS:
            assert {len(row.before), len(row.after)} == {64} and row.before != row.after
            assert row.command == f"python tools/same_figures.py {row.commit}"


class TestOldCells:
    PLAN = Plan(Setup("digits", images=300), ["lsh"], [8], [40], runs=2)

    @pytest.fixture
    def folder(self, tmp_path):
        """Two cells, of which one was made by another version of the code."""
        run_matrix(self.PLAN, tmp_path, workers=1, progress=False)
        self.old = tmp_path / "lsh-8bits-40labels-seed1.json"
        stored = unsealed(json.loads(self.old.read_text()))
        assert stored["code"] == code_digest("lsh")
        self.old.write_text(json.dumps(sealed(stored | {"code": "another", "map": 0.5})))
        return tmp_path

    def test_are_refused(self, folder):
        with pytest.raises(UserError, match=r"holds a run of another version of the code: choose another"):
            run_matrix(self.PLAN, folder, workers=1, progress=False)

    def test_are_kept_where_that_is_asked_for(self, folder):
        assert run_matrix(self.PLAN, folder, workers=1, progress=False, old="keep") == 0
        assert made_by(self.old) == "another"

    def test_are_run_again_where_that_is_asked_for(self, folder):
        assert run_matrix(self.PLAN, folder, workers=1, progress=False, old="again") == 0
        assert made_by(self.old) == code_digest("lsh") and json.loads(self.old.read_text())["map"] != 0.5

    def test_are_of_today_where_that_is_proven(self, folder, monkeypatch):
        earlier = provenance.digest_over("earlier", "lsh")
        stored = unsealed(json.loads(self.old.read_text()))
        self.old.write_text(json.dumps(sealed(stored | {"code": earlier})))
        with pytest.raises(UserError, match="another version"):
            run_matrix(self.PLAN, folder, workers=1, progress=False)
        row = Proof(before="earlier", after=shared_digest(), commit="1234567", command="true")
        monkeypatch.setattr(provenance, "same_figures", lambda shared: same_figures(shared, [row]))
        assert run_matrix(self.PLAN, folder, workers=1, progress=False) == 0
        assert made_by(self.old) == earlier

    def test_a_cell_that_does_not_say_is_old(self, folder):
        self.old.write_text("{}")
        with pytest.raises(UserError, match="another version"):
            run_matrix(self.PLAN, folder, workers=1, progress=False)


class TestOtherSettings:
    """Code that chooses settings counts by what it chooses."""

    PLAN = Plan(Setup("digits", images=300, settings={"steps": 2}), ["dsh", "pts3h-dsh"], [8], [40], runs=1)

    @pytest.fixture
    def folder(self, tmp_path):
        run_matrix(self.PLAN, tmp_path, workers=1, progress=False)
        return tmp_path

    def test_the_same_ones_are_no_news(self, folder):
        written = {path: path.stat().st_mtime_ns for path in folder.glob("*-seed*.json")}
        assert run_matrix(self.PLAN, folder, workers=1, progress=False) == 0
        assert written == {path: path.stat().st_mtime_ns for path in folder.glob("*-seed*.json")}

    def test_another_default_makes_cells_old(self, folder, monkeypatch):
        monkeypatch.setitem(DEFAULTS, "dropout", 0.25)
        with pytest.raises(UserError, match="holds 2 runs of another version"):
            run_matrix(self.PLAN, folder, workers=1, progress=False)

    def test_only_those_in_which_it_acts(self, folder, monkeypatch):
        """The ramp of unlabelled terms is nothing to DSH."""
        monkeypatch.setitem(DEFAULTS, "ramp", 0.45)
        with pytest.raises(UserError, match="holds a run of another version"):
            run_matrix(self.PLAN, folder, workers=1, progress=False)

    def test_a_setting_that_was_not_known_was_off(self, folder):
        """Cells of a time before look bits are of today as long as there are none."""
        for path in folder.glob("*-seed*.json"):
            stored = unsealed(json.loads(path.read_text()))
            del stored["settings"]["look_bits"]
            path.write_text(json.dumps(sealed(stored)))
        assert run_matrix(self.PLAN, folder, workers=1, progress=False) == 0

    def test_tries_too(self, tmp_path, monkeypatch):
        setup = replace(self.PLAN.setup, tune=2, settings={})
        plan = Plan(setup, ["dsh"], [8], [40], runs=1)
        monkeypatch.setitem(ranges.TRAINING, "steps", (0.02, 0.04))
        run_matrix(plan, tmp_path, workers=1, progress=False)
        monkeypatch.setitem(DEFAULTS, "dropout", 0.25)
        run_matrix(plan, tmp_path, workers=1, progress=False, old="keep")
        with pytest.raises(UserError, match="holds 3 runs of another version"):
            run_matrix(plan, tmp_path, workers=1, progress=False)
