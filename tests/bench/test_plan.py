"""The cells of a matrix, and the folder that keeps them."""

import pytest

from pts3h.bench.plan import SENSITIVITY, Cell, Plan, Setup, claim
from pts3h.errors import UserError


def plan(**changes):
    asked = {"methods": ["itq", "lsh"], "bits": [12, 24], "label_counts": [50], "runs": 3} | changes
    return Plan(Setup("digits"), **asked)


def test_every_combination_once():
    cells = plan().cells()
    assert len(cells) == len({cell.file for cell in cells}) == 12
    assert cells[0] == Cell("itq", 12, 50, 0) and cells[-1].seed == 2
    assert len(plan(methods=["itq", "itq"]).cells()) == 6


def test_sensitivity_varies_one_setting_at_a_time():
    cells = plan(methods=["dsh", "pts3h-dsh"], sensitivity=True, runs=2).cells()
    varied = [cell for cell in cells if cell.varied]
    assert len(varied) == 2 * sum(map(len, SENSITIVITY.values()))
    assert {cell.method for cell in varied} == {"pts3h-dsh"} and {cell.bits for cell in varied} == {24}
    assert "pts3h-dsh-24bits-50labels-seed0-omega=0.4.json" in {cell.file for cell in varied}
    with pytest.raises(UserError, match="such as pts3h-dsh"):
        plan(sensitivity=True).cells()


def test_settings_of_a_cell_come_from_all_three_places():
    """And which of them may be set aside: what is asked of every system, and what a variation idles."""
    setup = Setup("digits", settings={"steps": 5, "eta": 0.1}, of={"dsh": {"eta": 0.2}})
    assert setup.settings_of(Cell("itq", 12, 50, 0)) == ({"steps": 5, "eta": 0.1}, {"steps", "eta"})
    assert setup.settings_of(Cell("dsh", 12, 50, 0)) == ({"steps": 5, "eta": 0.2}, {"steps"})
    varied = Cell("dsh", 12, 50, 0, ("omega", 0.3))
    assert setup.settings_of(varied) == ({"steps": 5, "eta": 0.2, "omega": 0.3}, {"steps", "eta"})


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"methods": ["pts3h-dhs"]}, "did you mean pts3h-dsh"),
        ({"bits": [0]}, "bits must be"),
        ({"label_counts": [1]}, "at least two"),
        ({"label_counts": []}, "at least one"),
        ({"runs": 0}, "at least one"),
        ({"methods": []}, "at least one"),
    ],
)
def test_mistakes(changes, message):
    with pytest.raises(UserError, match=message):
        plan(**changes)


class TestClaim:
    def test_the_same_setup_is_welcome_and_commands_are_kept(self, tmp_path):
        setup = Setup("digits", settings={"steps": 5})
        for command in ("one", "two", "one"):
            claim(tmp_path, setup, command)
        from pts3h.bench.report import read_note

        assert read_note(tmp_path)["commands"] == ["one", "two"]

    def test_another_setup_is_refused(self, tmp_path):
        claim(tmp_path, Setup("digits", settings={"steps": 5}), "one")
        with pytest.raises(UserError, match="other settings, which do not compare"):
            claim(tmp_path, Setup("digits", settings={"steps": 6}), "two")

    def test_a_torn_note_is_named(self, tmp_path):
        (tmp_path / "bench.json").write_text("{")
        with pytest.raises(UserError, match=r"bench\.json is not a note"):
            claim(tmp_path, Setup("digits"), "one")
