"""Figures of two versions of the code never stand beside each other in silence."""

import json

import pytest

from pts3h.bench.matrix import run_matrix
from pts3h.bench.plan import Plan, Setup
from pts3h.bench.provenance import code_digest, made_by, meaning
from pts3h.errors import UserError

PROGRAM = '"""Says what it does."""\n\ndef double(x):\n    """Twice."""\n    return 2 * x  # why\n'


def test_comments_documentation_and_layout_do_not_count():
    assert meaning(PROGRAM) == meaning("def double(x): return (2*x)")


@pytest.mark.parametrize(("old", "new"), [("2 * x", "3 * x"), ("double", "twice"), ("(x)", "(x, y=1)")])
def test_everything_else_does(old, new):
    assert meaning(PROGRAM) != meaning(PROGRAM.replace(old, new))


def test_a_string_that_is_used_counts():
    assert meaning("x = 'a'") != meaning("x = 'b'")


class TestOldCells:
    PLAN = Plan(Setup("digits", images=300), ["lsh"], [8], [40], runs=2)

    @pytest.fixture
    def folder(self, tmp_path):
        """Two cells, of which one was made by another version of the code."""
        run_matrix(self.PLAN, tmp_path, workers=1, progress=False)
        self.old = tmp_path / "lsh-8bits-40labels-seed1.json"
        stored = json.loads(self.old.read_text())
        assert stored["code"] == code_digest()
        self.old.write_text(json.dumps(stored | {"code": "another", "map": 0.5}))
        return tmp_path

    def test_are_refused(self, folder):
        with pytest.raises(UserError, match=r"1 of 2 runs .* another version of the code: choose another"):
            run_matrix(self.PLAN, folder, workers=1, progress=False)

    def test_are_kept_where_that_is_asked_for(self, folder):
        assert run_matrix(self.PLAN, folder, workers=1, progress=False, old="keep") == 0
        assert made_by(self.old) == "another"

    def test_are_run_again_where_that_is_asked_for(self, folder):
        assert run_matrix(self.PLAN, folder, workers=1, progress=False, old="again") == 0
        assert made_by(self.old) == code_digest() and json.loads(self.old.read_text())["map"] != 0.5

    def test_a_cell_that_does_not_say_is_old(self, folder):
        self.old.write_text("{}")
        with pytest.raises(UserError, match="another version"):
            run_matrix(self.PLAN, folder, workers=1, progress=False)
