"""Tuning: equal tries, on items that no reported figure looks at, and cells that use what was chosen."""

import json
import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from sklearn.metrics import average_precision_score

from pts3h.bench.cells import read_results
from pts3h.bench.matrix import run_matrix
from pts3h.bench.plan import Cell, Plan, Setup
from pts3h.bench.report import write_report
from pts3h.bench.sources import load_data, split_of
from pts3h.bench.tables import tuning_table
from pts3h.bench.tasks import task_of
from pts3h.bench.tuning import Scored, chosen_settings, draws, read_tries, tuning_split
from pts3h.codes import hamming, pack
from pts3h.errors import UserError
from pts3h.systems.table import SYSTEMS
from pts3h.util.sealed import sealed, unsealed

SETUP = Setup("digits", images=500, settings={"steps": 30}, tune=3)
PLAN = Plan(SETUP, ["dsh", "splh", "itq"], [8], [40], runs=2)
ALONE = [
    "pts3h-p",
    "pts3h-q",
    "mean-teacher",
    "temp-ens",
    "vat",
    "ssdh",
    "bgdh",
    "dsh-gans",
]  # omega is their only weight
RATES = {"rate": (0.1, 0.2), "batch": (4, 8, 16)}


class TestDraws:
    def test_the_usual_settings_come_first_and_none_comes_twice(self):
        drawn = draws(RATES, 4)
        assert drawn[0] == {"rate": 0.1, "batch": 4}
        assert len(drawn) == 4 and all(drawn.count(one) == 1 for one in drawn)
        assert all(one[name] in RATES[name] for one in drawn for name in RATES)

    def test_fewer_where_there_are_no_more(self):
        drawn = draws(RATES, 100)
        assert sorted((one["rate"], one["batch"]) for one in drawn) == [
            (rate, batch) for rate in (0.1, 0.2) for batch in (4, 8, 16)
        ]

    def test_two_settings_change_at_most(self):
        many = dict.fromkeys("abcde", (0, 1, 2))
        drawn = draws(many, 1000)
        changed = [sum(value != 0 for value in one.values()) for one in drawn]
        assert [changed.count(size) for size in range(4)] == [1, 5 * 2, 10 * 4, 0]

    def test_more_tries_begin_with_the_same(self):
        assert draws(RATES, 5)[:3] == draws(RATES, 3)


class TestSplit:
    def test_no_reported_query_takes_part(self):
        data = load_data("digits", None, None, 500)
        split = tuning_split(data, 40, runs=3)
        sides = [set(part.tolist()) for part in (split.queries, split.database, split.labelled)]
        held, database, labelled = sides
        assert labelled < database and not held & database
        for seed in range(3):
            assert not (held | database) & set(split_of(data, 40, seed).queries.tolist())
        assert len(labelled) == 40
        assert (np.bincount(data.labels[split.queries], minlength=10) >= 2).all()

    def test_classes_that_are_too_small(self):
        data = load_data("digits", None, None, 60)
        with pytest.raises(UserError, match="too small to tune on: leave out --tune"):
            tuning_split(replace(data, protocol=replace(data.protocol, queries=1)), 20, runs=5)


class TestChoices:
    def choices(self, method, **settings):
        data = load_data("digits", None, None, 500)
        cell = Cell(method, 8, 40, 0)
        setup = Setup("digits", images=500, settings=settings)
        return SYSTEMS.find(method).choices(task_of(setup, cell, data, split_of(data, 40, 0), Path()))

    def test_every_network_has_rate_steps_and_batch_and_its_own_weights(self):
        training = {"learning_rate", "steps", "labelled_per_batch"}
        for method, weights in {
            "dsh": {"eta"},
            "pts3h-dsh": {"omega", "gamma"},
            **{method: {"omega"} for method in ALONE},
            "sntg": {"omega", "gamma"},
            "dsdh": {"eta"},
        }.items():
            assert self.choices(method).keys() == training | weights

    def test_they_are_multiples_of_the_default(self):
        found = self.choices("pts3h-dsh")
        assert found["omega"] == pytest.approx((0.6, 0.018, 0.06, 0.18, 1.8, 6.0))
        assert found["labelled_per_batch"] == (32, 16, 64)
        assert all(type(value) is int for value in found["steps"])

    def test_what_was_asked_for_stands(self):
        assert "omega" not in self.choices("pts3h-dsh", omega=0.2)

    def test_some_systems_have_nothing_to_tune(self):
        assert self.choices("itq") == {}

    @pytest.mark.parametrize("method", ["fasth", "ksh-kernel", "splh"])
    def test_options_of_systems_that_are_no_networks_are_taken(self, method):
        data = load_data("digits", None, None, 500)
        split = split_of(data, 40, 0)
        setup = Setup("digits", images=500)
        system, cell = SYSTEMS.find(method), Cell(method, 4, 40, 0)
        codes = []
        for place in (0, 1):
            tuned = {name: values[place] for name, values in system.options.items()}
            task = task_of(setup, cell, data, split, Path(), tuned)
            assert system.record(task).items() >= tuned.items()
            codes.append(system.fit(task).outputs(data.items)[0])
        plain = system.fit(task_of(setup, cell, data, split, Path())).outputs(data.items)[0]
        np.testing.assert_array_equal(codes[0], plain)  # the first are the defaults
        assert not np.array_equal(codes[1], plain)


@pytest.fixture(scope="module")
def tuned(tmp_path_factory):
    folder = tmp_path_factory.mktemp("tuned")
    assert run_matrix(PLAN, folder, workers=1, progress=False) == 0
    return folder


class TestMatrix:
    def test_every_system_has_the_same_tries_and_its_cells_use_the_best(self, tuned):
        tries = read_tries(tuned)
        assert {key: len(found) for key, found in tries.items()} == {("dsh", 8, 40): 3, ("splh", 8, 40): 3}
        for result in read_results(tuned):
            found = tries.get((result["cell"].method, 8, 40), [])
            best = max(found, key=lambda one: one.score).settings if found else {}
            assert result["tuned"] == best
            assert result["settings"].items() >= best.items()
            assert result["code"] and result["versions"]["numpy"] == np.__version__

    def test_the_score_is_the_map_of_held_out_items_among_themselves(self, tuned):
        data = load_data("digits", None, None, 500)
        split = tuning_split(data, 40, runs=2)
        stored = json.loads((tuned / "tries/splh-8bits-40labels-try1.json").read_text())
        task = task_of(SETUP, Cell("splh", 8, 40, 0), data, split, Path(), stored["try"]["settings"])
        codes = pack(SYSTEMS.find("splh").fit(task).outputs(data.items)[0])[split.queries]
        labels = data.labels[split.queries]
        # scikit-learn counts tied items as one rank: an upper and lower bound come from moving them apart
        low, high = (
            np.mean(
                [
                    average_precision_score(
                        np.delete(labels == label, place),
                        -np.delete(hamming(codes[place], codes) + shift * (labels == label), place),
                    )
                    for place, label in enumerate(labels)
                ]
            )
            for shift in (0.5, -0.5)
        )
        assert low <= stored["score"] <= high
        assert stored["split"] == split.digest()

    def test_what_is_done_stays_done(self, tuned):
        files = sorted(tuned.rglob("*.json"))
        before = {path: path.stat().st_mtime_ns for path in files if path.name != "bench.json"}
        assert run_matrix(PLAN, tuned, workers=1, progress=False) == 0
        assert {path: path.stat().st_mtime_ns for path in before} == before

    def test_tuned_and_plain_cells_do_not_mix(self, tuned):
        with pytest.raises(UserError, match="holds runs with other tune"):
            run_matrix(replace(PLAN, setup=replace(SETUP, tune=0)), tuned, progress=False)

    def test_other_code_lengths_take_what_the_nearest_chose(self, tuned, tmp_path):
        folder = tmp_path / "copy"
        shutil.copytree(tuned, folder)
        asked = replace(PLAN, methods=["splh"], bits=[8, 12], tune_bits=[8])
        assert run_matrix(asked, folder, workers=1, progress=False) == 0
        assert read_tries(folder) == read_tries(tuned)  # nothing was tried at 12 bits
        first, other = (
            json.loads((folder / f"splh-{bits}bits-40labels-seed0.json").read_text()) for bits in (8, 12)
        )
        assert first["tuned"] == other["tuned"] != {}
        assert run_matrix(asked, folder, workers=1, progress=False) == 0  # and none of it is old

    def test_which_length_is_nearest(self):
        tries = {("dsh", bits, 40): [Scored({"eta": bits}, "", 0.5, 1.0, {})] for bits in (16, 48)}
        chosen = {bits: chosen_settings(tries, Cell("dsh", bits, 40, 0)) for bits in (12, 16, 24, 32, 33, 64)}
        assert chosen == {bits: {"eta": 48 if bits > 32 else 16} for bits in chosen}
        for other in (Cell("dsh", 16, 41, 0), Cell("ksh", 16, 40, 0)):
            assert chosen_settings(tries, other) == {}

    def test_lengths_to_tune_at_need_tries(self):
        with pytest.raises(UserError, match="give --tune as well"):
            replace(PLAN, setup=replace(SETUP, tune=0), tune_bits=[8])

    def test_more_runs_would_report_queries_that_were_tuned_on(self, tuned):
        with pytest.raises(UserError, match="tuned for another number of runs"):
            run_matrix(replace(PLAN, runs=3), tuned, progress=False)

    @pytest.mark.parametrize(
        ("file", "place"),
        [
            ("tries/splh-8bits-40labels-try1.json", ("try", "settings")),
            ("splh-8bits-40labels-seed0.json", ("tuned",)),
        ],
    )
    def test_what_would_not_be_tried_or_chosen_today_is_old(self, tuned, tmp_path, file, place):
        folder = tmp_path / "copy"
        shutil.copytree(tuned, folder)
        stored = unsealed(json.loads((folder / file).read_text()))
        settings = stored
        for name in place:
            settings = settings[name]
        settings["eta"] = 7.0
        (folder / file).write_text(json.dumps(sealed(stored)))
        with pytest.raises(UserError, match="holds a run of another version of the code"):
            run_matrix(PLAN, folder, workers=1, progress=False)
        assert run_matrix(PLAN, folder, workers=1, progress=False, old="keep") == 0
        assert run_matrix(PLAN, folder, workers=1, progress=False, old="again") == 0
        again, before = (json.loads((where / file).read_text()) for where in (folder, tuned))
        assert again[place[0]] == before[place[0]] and again["split"] == before["split"]

    def test_the_report_says_what_was_chosen(self, tuned):
        titles = [table.title for table in write_report(tuned)]
        assert "Tuning: MAP of held-out items among themselves, on a split that is not reported" in titles
        assert "one version of each system" in (tuned / "report.html").read_text()

    def test_one_try_is_no_choice(self):
        with pytest.raises(UserError, match="2 or more, got 1"):
            replace(SETUP, tune=1)


def test_the_table_names_what_differs_from_the_default():
    usual, better = (
        Scored({"omega": omega, "steps": 100}, "abc", score, 1.0, {})
        for omega, score in ((0.6, 0.4), (1.2, 0.5))
    )
    table = tuning_table({("pts3h-dsh", 8, 40): [usual, better], ("dsh", 8, 40): [usual]})
    assert [row[3:] for row in table.rows] == [
        ["2", "0.4000", "0.5000", "omega 1.2"],
        ["1", "0.4000", "0.4000", "as by default"],
    ]
    assert tuning_table({}) is None


def test_a_damaged_try_is_named(tmp_path):
    (tmp_path / "tries").mkdir()
    (tmp_path / "tries" / "dsh-8bits-40labels-try0.json").write_text("{}")
    with pytest.raises(UserError, match=r"try0\.json is not a try of pts3h bench"):
        read_tries(tmp_path)
